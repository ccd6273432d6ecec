//! Comma-separated values.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, LargeStringBuilder, RecordBatch, RecordBatchOptions};
use arrow::csv::WriterBuilder;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::cell::{formatter, to_io};

/// Rows that are turned into text at a time: bounds what the text of long lists takes.
const ROWS_AT_A_TIME: usize = 256;

/// CSV with a header line. Lists become text, since CSV has none.
#[derive(Debug)]
pub(crate) struct CsvOutput<W: Write> {
    schema: SchemaRef,
    out: W,
    has_header: bool,
}

impl<W: Write> CsvOutput<W> {
    pub(super) fn new(schema: SchemaRef, out: W) -> Self {
        let fields: Vec<Field> = schema
            .fields()
            .iter()
            .map(|field| match field.data_type().is_nested() {
                true => Field::new(field.name(), DataType::LargeUtf8, true),
                false => field.as_ref().clone(),
            })
            .collect();
        Self {
            schema: Arc::new(Schema::new(fields)),
            out,
            has_header: false,
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        for start in (0..batch.num_rows()).step_by(ROWS_AT_A_TIME) {
            let length = ROWS_AT_A_TIME.min(batch.num_rows() - start);
            let flat = self.flatten(&batch.slice(start, length)).map_err(to_io)?;
            self.write_flat(&flat)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if !self.has_header && !self.schema.fields().is_empty() {
            self.write_flat(&RecordBatch::new_empty(Arc::clone(&self.schema)))?;
        }
        Ok(self.out)
    }

    /// Formats in memory first: Arrow's writer reports a closed pipe as some error of CSV.
    fn write_flat(&mut self, flat: &RecordBatch) -> io::Result<()> {
        let mut text = Vec::new();
        let mut writer = WriterBuilder::new()
            .with_header(!self.has_header)
            .build(&mut text);
        writer.write(flat).map_err(to_io)?;
        drop(writer);
        self.has_header = true;
        self.out.write_all(&text)
    }

    fn flatten(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = batch
            .columns()
            .iter()
            .map(|column| match column.data_type().is_nested() {
                true => as_text(column),
                false => Ok(Arc::clone(column)),
            });
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns.collect::<Result<_, _>>()?,
            &options,
        )
    }
}

fn as_text(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let formatter = formatter(column)?;
    let mut text = LargeStringBuilder::new();
    for row in 0..column.len() {
        if column.is_null(row) {
            text.append_null();
        } else {
            formatter.value(row).write(&mut text)?;
            text.append_value("");
        }
    }
    Ok(Arc::new(text.finish()))
}
