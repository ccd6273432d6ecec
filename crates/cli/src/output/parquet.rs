//! A Parquet file.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, IntervalUnit, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::encoder::Encoder;
use crate::exit::Failure;

/// Bytes of a row group, which is held back until it is whole.
const ROW_GROUP_BYTES: usize = 64 * 1024 * 1024;

/// A Parquet file of row groups that are written as they fill.
pub(super) struct ParquetEncoder(ArrowWriter<Vec<u8>>);

impl ParquetEncoder {
    pub(super) fn try_new(schema: &SchemaRef) -> Result<Self, Failure> {
        let refused = schema.fields().iter().find(|field| !is_storable(field));
        if let Some(field) = refused {
            return Err(Failure::Message(format!(
                "column '{}' has the type {}, which cannot be written as parquet; cast it to another",
                field.name(),
                field.data_type()
            )));
        }
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
            .build();
        let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(schema), Some(properties));
        writer.map(Self).map_err(failure)
    }
}

impl Encoder for ParquetEncoder {
    fn rows_at_a_time(&self) -> usize {
        8192
    }

    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.0.write(batch).map_err(failure)?;
        // The writer counts what it has written, and never looks back at it.
        out.append(self.0.inner_mut());
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.append(&mut self.0.into_inner().map_err(failure)?);
        Ok(())
    }
}

/// Whether the writer knows all types in `field`; it fails late, or panics, over those that it does not.
fn is_storable(field: &Field) -> bool {
    let schema = Schema::new(vec![field.clone()]);
    let parts = schema.flattened_fields();
    parts.iter().all(|part| {
        !matches!(
            part.data_type(),
            DataType::Union(..) | DataType::Interval(IntervalUnit::MonthDayNano)
        )
    })
}

fn failure(error: ParquetError) -> Failure {
    Failure::Message(format!("the result cannot be written as parquet: {error}"))
}
