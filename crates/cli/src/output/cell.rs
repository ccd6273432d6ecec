//! One value as text.

use std::fmt::{self, Write};
use std::io;

use arrow::array::Array;
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::terminal::printable;

/// How values look: ISO 8601 times, lists in brackets. A null inside a list is `null`, and text inside a
/// list has quotes, so that a comma in it is no border; a whole value has neither.
pub(super) fn formatter(array: &dyn Array) -> Result<ArrayFormatter<'_>, ArrowError> {
    let options = FormatOptions::new()
        .with_display_error(false)
        .with_null("null")
        .with_quoted_strings(array.data_type().is_nested());
    ArrayFormatter::try_new(array, &options)
}

/// A value that is no longer than `limit` characters on one line; what is cut off is shown as `…`.
///
/// Formatting stops at the limit, so that a cell of megabytes costs no more than what is shown of it.
pub(super) fn short(
    formatter: &ArrayFormatter<'_>,
    row: usize,
    limit: usize,
) -> Result<String, ArrowError> {
    let mut line = ShortLine {
        text: String::new(),
        room: limit,
        is_cut: false,
    };
    match formatter.value(row).write(&mut line) {
        Ok(()) => {}
        // The error that the line itself stopped with.
        Err(_) if line.is_cut => {}
        Err(error) => return Err(error),
    }
    Ok(line.text)
}

/// Text with a limited number of characters, and no control characters.
struct ShortLine {
    text: String,
    room: usize,
    is_cut: bool,
}

impl Write for ShortLine {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for c in part.chars() {
            if self.room == 0 {
                self.text.pop();
                self.text.push('…');
                self.is_cut = true;
                return Err(fmt::Error);
            }
            self.room -= 1;
            self.text.push(printable(c));
        }
        Ok(())
    }
}

/// Arrow's error as one of writing.
pub(super) fn to_io(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}
