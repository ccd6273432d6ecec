//! What makes bytes of rows.

use std::collections::BTreeSet;

use ::arrow::array::RecordBatch;
use ::arrow::datatypes::SchemaRef;

use super::arrow::ArrowEncoder;
use super::csv::CsvEncoder;
use super::explanation::{self, Explanation};
use super::json::JsonEncoder;
use super::parquet::ParquetEncoder;
use super::table::TableEncoder;
use crate::args::Format;
use crate::exit::Failure;

/// Makes bytes of the batches of one result, as they come.
pub(super) trait Encoder: Send {
    /// Rows that are encoded at a time, which bounds what their bytes take.
    fn rows_at_a_time(&self) -> usize;

    /// Adds the bytes of `batch` to `out`, or holds it back.
    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), Failure>;

    /// Adds what is held back, and the end of the result, to `out`.
    fn finish(self: Box<Self>, out: &mut Vec<u8>) -> Result<(), Failure>;
}

/// Encodes a result with the columns `schema`. A table is cut to `width` cells of the terminal, if there is one;
/// what EXPLAIN answers is text rather than a table.
pub(super) fn encoder(
    format: Format,
    schema: &SchemaRef,
    width: Option<usize>,
) -> Result<Box<dyn Encoder>, Failure> {
    if matches!(format, Format::Json | Format::Parquet) {
        check_names(format, schema)?;
    }
    Ok(match format {
        Format::Table if explanation::is_one(schema) => Box::new(Explanation::default()),
        Format::Table => Box::new(TableEncoder::new(schema, width)),
        Format::Csv => Box::new(CsvEncoder::new(schema)),
        Format::Json => Box::new(JsonEncoder::new()),
        Format::Parquet => Box::new(ParquetEncoder::try_new(schema)?),
        Format::Arrow => Box::new(ArrowEncoder::try_new(schema)?),
    })
}

/// Refuses two columns of one name, which readers of `format` could not tell from each other.
fn check_names(format: Format, schema: &SchemaRef) -> Result<(), Failure> {
    let mut names = BTreeSet::new();
    let mut fields = schema.fields().iter();
    match fields.find(|field| !names.insert(field.name())) {
        None => Ok(()),
        Some(twice) => Err(Failure::Message(format!(
            "two columns are called '{}', which {} has no place for; give one another name with AS",
            twice.name(),
            format.name()
        ))),
    }
}
