//! One value as text.

use std::fmt::{self, Write};

use arrow::array::{Array, RecordBatch};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::exit::Failure;
use crate::terminal::{char_width, printable};

/// How values look: ISO 8601 times, lists in brackets. A null inside a list is `null`, and text inside a
/// list has quotes, so that a comma in it is no border; a whole value has neither.
pub(super) fn formatter(array: &dyn Array) -> Result<ArrayFormatter<'_>, ArrowError> {
    let options = FormatOptions::new()
        .with_display_error(false)
        .with_null("null")
        .with_quoted_strings(array.data_type().is_nested());
    ArrayFormatter::try_new(array, &options)
}

/// The failure to encode `batch`, with the column that it is about, as far as that can be found.
pub(super) fn failure(batch: &RecordBatch, error: &ArrowError) -> Failure {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns());
    for (field, column) in columns {
        if let Err(error) = has_text(column) {
            return column_failure(field.name(), &error);
        }
    }
    Failure::Message(error.to_string())
}

/// The failure to make text of a value in the column `name`.
pub(super) fn column_failure(name: &str, error: &ArrowError) -> Failure {
    Failure::Message(format!(
        "column '{name}' has a value that cannot be written: {error}"
    ))
}

fn has_text(column: &dyn Array) -> Result<(), ArrowError> {
    let formatter = formatter(column)?;
    let mut values = (0..column.len()).map(|row| formatter.value(row));
    values.try_for_each(|value| value.write(&mut Nowhere))
}

struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

/// A value that takes no more than `limit` cells of a terminal, and whether it was cut: what is cut off is shown as
/// `…`.
///
/// Formatting stops at the limit, so that a cell of megabytes costs no more than what is shown of it.
pub(super) fn short(
    formatter: &ArrayFormatter<'_>,
    row: usize,
    limit: usize,
) -> Result<(String, bool), ArrowError> {
    let mut line = ShortLine::new(limit);
    match formatter.value(row).write(&mut line) {
        Ok(()) => {}
        // The error that the line itself stopped with.
        Err(_) if line.is_cut => {}
        Err(error) => return Err(error),
    }
    Ok((line.text, line.is_cut))
}

/// `text` that takes no more than `limit` cells of a terminal, and whether it was cut.
pub(super) fn shortened(text: &str, limit: usize) -> (String, bool) {
    let mut line = ShortLine::new(limit);
    // The error is that it was cut.
    let _ = line.write_str(text);
    (line.text, line.is_cut)
}

/// Text with a limited width, and no control characters.
struct ShortLine {
    text: String,
    room: usize,
    is_cut: bool,
}

impl ShortLine {
    fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            room: limit,
            is_cut: false,
        }
    }

    /// Makes room for the `…` that it ends with.
    fn cut(&mut self) {
        while self.room == 0 {
            let Some(last) = self.text.pop() else { return };
            self.room += char_width(last);
        }
        self.text.push('…');
    }
}

impl Write for ShortLine {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for c in part.chars().map(printable) {
            let width = char_width(c);
            if width > self.room {
                self.cut();
                self.is_cut = true;
                return Err(fmt::Error);
            }
            self.room -= width;
            self.text.push(c);
        }
        Ok(())
    }
}
