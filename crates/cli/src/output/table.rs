//! Aligned columns.

use std::io::{self, Write};

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use super::cell::{formatter, short, to_io};
use crate::terminal;

/// Rows that are looked at to find how wide columns must be, and held back until then.
const ROWS_TO_MEASURE: usize = 1000;

/// Characters of a cell at most.
const WIDEST_CELL: usize = 80;

/// A table whose columns are as wide as the header and the first rows need, and which from then on prints
/// as rows come. A later cell that is wider moves the rest of its line, and nothing is lost.
#[derive(Debug)]
pub(crate) struct TableOutput<W: Write> {
    schema: SchemaRef,
    out: W,
    rows: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Rows held back to measure.
    Measuring(Vec<Vec<String>>),
    /// The header is written; columns have these widths.
    Printing(Vec<usize>),
}

impl<W: Write> TableOutput<W> {
    pub(super) fn new(schema: SchemaRef, out: W) -> Self {
        Self {
            schema,
            out,
            rows: 0,
            state: State::Measuring(Vec::new()),
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let formatters: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| formatter(column))
            .collect::<Result<_, _>>()
            .map_err(to_io)?;
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter().zip(&formatters);
            let line: Vec<String> = cells
                .map(|(column, formatter)| match column.is_null(row) {
                    true => Ok(String::new()),
                    false => short(formatter, row, WIDEST_CELL),
                })
                .collect::<Result<_, ArrowError>>()
                .map_err(to_io)?;
            self.write_row(line)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.schema.fields().is_empty() {
            return Ok(self.out);
        }
        self.start_printing()?;
        let rows = self.rows;
        writeln!(
            self.out,
            "({rows} {})",
            if rows == 1 { "row" } else { "rows" }
        )?;
        Ok(self.out)
    }

    fn write_row(&mut self, line: Vec<String>) -> io::Result<()> {
        self.rows += 1;
        match &mut self.state {
            State::Printing(widths) => write_line(&mut self.out, &line, widths),
            State::Measuring(held) => {
                held.push(line);
                if held.len() == ROWS_TO_MEASURE {
                    self.start_printing()?;
                }
                Ok(())
            }
        }
    }

    /// Writes the header and the rows held back, if that is still to be done.
    fn start_printing(&mut self) -> io::Result<()> {
        let State::Measuring(held) = &mut self.state else {
            return Ok(());
        };
        let held = std::mem::take(held);
        let header: Vec<String> = self
            .schema
            .fields()
            .iter()
            .map(|field| terminal::line(field.name()))
            .collect();
        let mut widths = vec![0; header.len()];
        for line in std::iter::once(&header).chain(&held) {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        write_line(&mut self.out, &header, &widths)?;
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        write_line(&mut self.out, &rule, &widths)?;
        for line in &held {
            write_line(&mut self.out, line, &widths)?;
        }
        self.state = State::Printing(widths);
        Ok(())
    }
}

/// Writes cells with two spaces between them, and none at the end of the line.
fn write_line(out: &mut impl Write, cells: &[String], widths: &[usize]) -> io::Result<()> {
    let mut pending = 0;
    for (cell, width) in cells.iter().zip(widths) {
        if !cell.is_empty() {
            write!(out, "{:pending$}{cell}", "")?;
            pending = 0;
        }
        pending += width.saturating_sub(cell.chars().count()) + 2;
    }
    writeln!(out)
}
