//! The table of segments: from what a source knows of each segment to one batch.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, ListArray, RecordBatch, StringArray,
    UInt64Array, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, concat, filter_record_batch};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;
use segue_error::{Error, ErrorCode, Result};

use crate::assemble::{SegmentChunks, assemble_static};
use crate::contents::Contents;
use crate::model::{Chunk, SegmentId, TimeRange, Timeline};
use crate::schema::{DatasetSchema, keys};
use crate::text_set::TextSet;
use crate::view::View;

/// What a source knows of a segment.
#[derive(Clone, Debug)]
pub(crate) struct SegmentRow {
    pub(crate) segment: SegmentId,
    /// Name and address of each layer.
    pub(crate) layers: Vec<(Arc<str>, String)>,
    /// When a layer was last written, in nanoseconds since 1970; `None` is taken for 0.
    pub(crate) last_updated_ns: Option<i64>,
    /// Chunks of all layers.
    pub(crate) num_chunks: u64,
    /// Bytes of these chunks as they are stored.
    pub(crate) size_bytes: u64,
    /// First and last value per timeline, where there is one.
    pub(crate) ranges: BTreeMap<Arc<str>, TimeRange>,
    /// The static chunks of the entities of [`properties`].
    pub(crate) properties: Vec<Arc<Chunk>>,
}

/// The static recording properties of a dataset with the columns `schema`.
pub(crate) fn properties(schema: &DatasetSchema) -> Result<View> {
    let statics = DatasetSchema {
        timelines: Vec::new(),
        components: schema.components.clone(),
    };
    View::resolve(
        &statics,
        None,
        &Contents::parse(["/__properties/**"])?.into(),
    )
}

/// The rows of a table of segments whose segment is in `segments`. `invalid_response` when the table does not say
/// which segments its rows are.
pub fn rows_of_segments(table: &RecordBatch, segments: &TextSet) -> Result<RecordBatch> {
    if segments.is_all() {
        return Ok(table.clone());
    }
    let ids = table.column_by_name(keys::SEGMENT_ID_COLUMN);
    let ids = ids.and_then(|ids| ids.as_string_opt::<i32>());
    let wrong = |message: String| Error::new(ErrorCode::InvalidResponse, "segments.rows", message);
    let ids = ids.ok_or_else(|| wrong("a table of segments without their ids".to_owned()))?;
    let is_wanted = ids.iter().map(|id| id.map(|id| segments.contains(id)));
    let is_wanted: BooleanArray = is_wanted.collect();
    filter_record_batch(table, &is_wanted).map_err(|error| wrong(error.to_string()))
}

/// The table of `rows`, which are the segments of a dataset with the columns `schema`.
pub(crate) fn segment_table(
    schema: &DatasetSchema,
    mut rows: Vec<SegmentRow>,
) -> Result<RecordBatch> {
    rows.sort_by(|a, b| a.segment.cmp(&b.segment));
    let mut columns = own_columns(&rows)?;
    for timeline in &schema.timelines {
        columns.push(bound(timeline, "start", &rows, |range| range.start)?);
        columns.push(bound(timeline, "end", &rows, |range| range.end)?);
    }
    columns.extend(property_columns(schema, &rows)?);
    // A timeline may be called so that its column has the name of another one.
    let mut names = BTreeSet::new();
    columns.retain(|(field, _)| names.insert(field.name().clone()));
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(internal)
}

/// The columns of the table of segments of a dataset with the columns `schema`.
///
/// What a property column may hold is that of the property; `schema_conflict` when two of them disagree.
pub fn segment_table_schema(schema: &DatasetSchema) -> Result<Schema> {
    Ok(Schema::clone(&segment_table(schema, Vec::new())?.schema()))
}

type Column = (Field, ArrayRef);

/// The columns that every table of segments has.
fn own_columns(rows: &[SegmentRow]) -> Result<Vec<Column>> {
    let ids = StringArray::from_iter_values(rows.iter().map(|row| row.segment.as_str()));
    let names = texts(rows, |(name, _)| name)?;
    let urls = texts(rows, |(_, url)| url)?;
    let updated: Int64Array = rows
        .iter()
        .map(|row| Some(row.last_updated_ns.unwrap_or(0)))
        .collect();
    let updated = cast(&updated, &DataType::Timestamp(TimeUnit::Nanosecond, None));
    let chunks = UInt64Array::from_iter_values(rows.iter().map(|row| row.num_chunks));
    let bytes = UInt64Array::from_iter_values(rows.iter().map(|row| row.size_bytes));
    let columns: [(&str, ArrayRef); 6] = [
        (keys::SEGMENT_ID_COLUMN, Arc::new(ids)),
        ("rerun_layer_names", Arc::new(names)),
        ("rerun_storage_urls", Arc::new(urls)),
        ("rerun_last_updated_at", updated.map_err(internal)?),
        ("rerun_num_chunks", Arc::new(chunks)),
        ("rerun_size_bytes", Arc::new(bytes)),
    ];
    let columns = columns.into_iter();
    Ok(columns
        .map(|(name, array)| (Field::new(name, array.data_type().clone(), false), array))
        .collect())
}

/// One list of texts per row, made of its layers.
fn texts<T: AsRef<str>>(
    rows: &[SegmentRow],
    of: impl Fn(&(Arc<str>, String)) -> &T,
) -> Result<ListArray> {
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|row| row.layers.len()));
    let texts = rows.iter().flat_map(|row| &row.layers).map(of);
    let texts: StringArray = texts.map(|text| Some(text.as_ref())).collect();
    let item = Field::new_list_field(DataType::Utf8, false);
    ListArray::try_new(Arc::new(item), offsets, Arc::new(texts), None).map_err(internal)
}

fn property_columns(schema: &DatasetSchema, rows: &[SegmentRow]) -> Result<Vec<Column>> {
    let view = properties(schema)?;
    let projection: Vec<usize> = (1..=view.components().len()).collect();
    if projection.is_empty() {
        return Ok(Vec::new());
    }
    let values = rows.iter().map(|row| {
        let chunks = &row.properties;
        assemble_static(&SegmentChunks::new(
            &view,
            &projection,
            &row.segment,
            chunks,
        ))
    });
    let values = values.collect::<Result<Vec<RecordBatch>>>()?;
    let columns = view.components().iter().enumerate();
    columns
        .map(|(at, column)| {
            let field = column.field();
            let missing = new_null_array(field.data_type(), 1);
            let values = values.iter().map(|batch| match batch.num_rows() {
                0 => &*missing,
                _ => &**batch.column(at),
            });
            let mut values: Vec<&dyn Array> = values.collect();
            let empty = missing.slice(0, 0);
            values.push(&empty);
            let mut metadata = field.metadata().clone();
            // Of no interest: here all values are static.
            metadata.remove(keys::IS_STATIC);
            let array = concat(&values).map_err(internal)?;
            Ok((field.with_metadata(metadata), array))
        })
        .collect()
}

/// The column of the first or last values on `timeline`.
fn bound(
    timeline: &Timeline,
    marker: &str,
    rows: &[SegmentRow],
    of: impl Fn(&TimeRange) -> i64,
) -> Result<Column> {
    let values: Int64Array = rows
        .iter()
        .map(|row| row.ranges.get(&timeline.name).map(&of))
        .collect();
    let array = cast(&values, &timeline.kind.data_type()).map_err(internal)?;
    Ok((timeline.bound_field(marker), array))
}

fn internal(error: ArrowError) -> Error {
    let message = format!("arrow could not build the table of segments: {error}");
    Error::new(ErrorCode::Internal, "segments.table", message).with_source(error)
}
