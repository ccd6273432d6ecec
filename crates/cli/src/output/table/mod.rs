//! Aligned columns.

mod layout;

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::Schema;
use arrow::error::ArrowError;

use self::layout::Layout;
use super::cell::{column_failure, failure, formatter, short};
use super::encoder::Encoder;
use crate::exit::Failure;
use crate::terminal;

/// Rows that are looked at to find how wide columns must be, and held back until then.
const ROWS_TO_MEASURE: usize = 1000;

/// Cells of the terminal that a value takes at most.
const WIDEST_CELL: usize = 80;

/// A table whose columns are as wide as the header and the first rows need, and which from then on prints
/// as rows come.
///
/// A later value that is wider moves the rest of its line, and nothing is lost. On a terminal lines never get
/// wider than that: values are shortened, columns are left out, and the last line says so.
#[derive(Debug)]
pub(super) struct TableEncoder {
    header: Vec<String>,
    /// Columns of the terminal.
    width: Option<usize>,
    rows: u64,
    /// Whether a value was longer than the widest cell.
    has_long_cells: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Rows held back to measure.
    Measuring(Vec<Vec<String>>),
    /// The header is written.
    Printing(Layout),
}

impl TableEncoder {
    pub(super) fn new(schema: &Schema, width: Option<usize>) -> Self {
        let names = schema.fields().iter();
        Self {
            header: names.map(|field| terminal::line(field.name())).collect(),
            width,
            rows: 0,
            has_long_cells: false,
            state: State::Measuring(Vec::new()),
        }
    }

    fn write_row(&mut self, line: Vec<String>, out: &mut Vec<u8>) {
        self.rows += 1;
        match &mut self.state {
            State::Printing(layout) => layout.write(&line, out),
            State::Measuring(held) => {
                held.push(line);
                if held.len() == ROWS_TO_MEASURE {
                    self.start_printing(out);
                }
            }
        }
    }

    /// Writes the header and the rows held back, if that is still to be done.
    fn start_printing(&mut self, out: &mut Vec<u8>) {
        let State::Measuring(held) = &mut self.state else {
            return;
        };
        let held = std::mem::take(held);
        let mut layout = Layout::of(std::iter::once(&self.header).chain(&held), self.width);
        layout.write(&self.header, out);
        layout.write_rule(out);
        for line in &held {
            layout.write(line, out);
        }
        self.state = State::Printing(layout);
    }

    /// What is missing from a table on a terminal, for the end of the line that counts rows.
    fn left_out(&self) -> String {
        match &self.state {
            State::Printing(layout) if self.width.is_some() => layout.left_out(self.has_long_cells),
            _ => String::new(),
        }
    }
}

impl Encoder for TableEncoder {
    fn rows_at_a_time(&self) -> usize {
        256
    }

    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), Failure> {
        let formatters: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| formatter(column))
            .collect::<Result<_, ArrowError>>()
            .map_err(|error| failure(batch, &error))?;
        for row in 0..batch.num_rows() {
            let mut line = Vec::with_capacity(batch.num_columns());
            for (at, (column, formatter)) in batch.columns().iter().zip(&formatters).enumerate() {
                if column.is_null(row) {
                    line.push(String::new());
                    continue;
                }
                let cell = short(formatter, row, WIDEST_CELL);
                let (cell, is_cut) = cell.map_err(|error| {
                    let schema = batch.schema_ref();
                    column_failure(schema.field(at).name(), &error)
                })?;
                self.has_long_cells |= is_cut;
                line.push(cell);
            }
            self.write_row(line, out);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.start_printing(out);
        let left_out = self.left_out();
        let (rows, noun) = (self.rows, if self.rows == 1 { "row" } else { "rows" });
        out.extend_from_slice(format!("({rows} {noun}{left_out})\n").as_bytes());
        Ok(())
    }
}
