//! Rows as text, written as they come.

mod cell;
mod csv;
mod explanation;
mod table;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::args::Format;
use csv::CsvOutput;
use explanation::Explanation;
use table::TableOutput;

/// Writes batches of one schema in the format that was asked for. A result without columns, such as that
/// of `CREATE VIEW`, prints nothing; what EXPLAIN answers is text rather than a table.
#[derive(Debug)]
pub(crate) enum Output<W: Write> {
    Table(TableOutput<W>),
    Explanation(Explanation<W>),
    Csv(Box<CsvOutput<W>>),
}

impl<W: Write> Output<W> {
    pub(crate) fn new(format: Format, schema: SchemaRef, out: W) -> Self {
        match format {
            Format::Table if explanation::is_one(&schema) => {
                Self::Explanation(Explanation::new(out))
            }
            Format::Table => Self::Table(TableOutput::new(schema, out)),
            Format::Csv => Self::Csv(Box::new(CsvOutput::new(schema, out))),
        }
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match self {
            Self::Table(table) => table.write(batch),
            Self::Explanation(explanation) => explanation.write(batch),
            Self::Csv(csv) => csv.write(batch),
        }
    }

    /// Writes what is still held back, and gives the writer back, to be flushed.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self {
            Self::Table(table) => table.finish(),
            Self::Explanation(explanation) => Ok(explanation.finish()),
            Self::Csv(csv) => csv.finish(),
        }
    }
}
