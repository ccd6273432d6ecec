//! Comma-separated values.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, LargeStringBuilder, RecordBatch, RecordBatchOptions};
use arrow::csv::WriterBuilder;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::cell::{failure, formatter};
use super::encoder::Encoder;
use crate::exit::Failure;

/// CSV with a header line. Lists become text, since CSV has none.
#[derive(Debug)]
pub(super) struct CsvEncoder {
    schema: SchemaRef,
    has_header: bool,
}

impl CsvEncoder {
    pub(super) fn new(schema: &Schema) -> Self {
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
            has_header: false,
        }
    }

    fn write_flat(&mut self, flat: &RecordBatch, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        let mut writer = WriterBuilder::new()
            .with_header(!self.has_header)
            .build(out);
        writer.write(flat)?;
        self.has_header = true;
        Ok(())
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

impl Encoder for CsvEncoder {
    fn rows_at_a_time(&self) -> usize {
        256
    }

    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), Failure> {
        let flat = self.flatten(batch);
        let written = flat.and_then(|flat| self.write_flat(&flat, out));
        written.map_err(|error| failure(batch, &error))
    }

    /// Writes the header where there were no rows.
    fn finish(mut self: Box<Self>, out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.has_header {
            return Ok(());
        }
        let empty = RecordBatch::new_empty(Arc::clone(&self.schema));
        let written = self.write_flat(&empty, out);
        written.map_err(|error| failure(&empty, &error))
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
