//! The table of segments.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::{concat_batches, sort_to_indices, take_record_batch};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use segue_chunk::{TextSet, rows_of_segments};
use segue_error::{Error, ErrorCode, Result};
use segue_proto::cloud::segment_id_filter::Strategy;
use segue_proto::cloud::{ScanSegmentTableRequest, SegmentIdFilter, SegmentIdList};

use crate::catalog::Entry;
use crate::connection::Connection;
use crate::error::Failure;
use crate::table;

/// Column with the id of the segment.
const SEGMENT_ID: &str = "rerun_segment_id";

/// Asks for those of `segments` that there are: one row per segment, ascending by id.
pub(crate) async fn scan(
    connection: &Connection,
    entry: Arc<Entry>,
    segments: &TextSet,
) -> Result<RecordBatch, Failure> {
    let call = entry.scope(connection.call("read the table of segments"));
    let request = ScanSegmentTableRequest {
        segment_id_filter: filter(segments),
        ..ScanSegmentTableRequest::default()
    };
    let mut answers = call
        .stream(request, async |mut client, request| {
            client.scan_segment_table(request).await
        })
        .await?;
    let mut parts = Vec::new();
    while let Some(answer) = answers.next().await? {
        entry.saw(answer.meta);
        if let Some(part) = &answer.data {
            let part = table::read(part);
            parts.push(part.map_err(|error| answers.rejected(error))?);
        }
    }
    // A server may not know the filter, and send all.
    let rows = joined(&parts).and_then(|table| rows_of_segments(&table, segments));
    rows.map_err(|error| answers.rejected(error))
}

/// The segments as the protocol can name them: these, or all but these; `None` for all, and for what it cannot name.
fn filter(segments: &TextSet) -> Option<SegmentIdFilter> {
    let list = |ids: Vec<&str>| SegmentIdList {
        segment_ids: ids.into_iter().map(str::to_owned).collect(),
    };
    let strategy = match segments.listed() {
        Some(ids) => Strategy::ScanOnly(list(ids)),
        None => match segments.complement().listed() {
            Some(ids) if !ids.is_empty() => Strategy::Skip(list(ids)),
            _ => return None,
        },
    };
    Some(SegmentIdFilter {
        strategy: Some(strategy),
    })
}

/// Most bytes that the nulls of a column may take where a part lacks it.
const MOST_NULL_BYTES: usize = 64 * 1024 * 1024;

/// Bytes that a null of `data_type` takes by its width alone.
fn null_width(data_type: &DataType) -> usize {
    match data_type {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(0),
        DataType::FixedSizeList(item, length) => {
            let length = usize::try_from(*length).unwrap_or(0);
            null_width(item.data_type()).max(1).saturating_mul(length)
        }
        DataType::Struct(fields) => fields.iter().fold(0, |width, field| {
            width.saturating_add(null_width(field.data_type()))
        }),
        other => other.primitive_width().unwrap_or(size_of::<i64>()),
    }
}

/// The rows of all `parts`, whose columns are found by name: a part may lack some.
fn joined(parts: &[RecordBatch]) -> Result<RecordBatch> {
    if parts.is_empty() {
        let id = Field::new(SEGMENT_ID, DataType::Utf8, false);
        return Ok(RecordBatch::new_empty(Arc::new(Schema::new(vec![id]))));
    }
    let (mut names, mut fields) = (HashSet::new(), Vec::<FieldRef>::new());
    for field in parts.iter().flat_map(|part| part.schema_ref().fields()) {
        if names.insert(field.name().as_str()) {
            fields.push(Arc::clone(field));
        }
    }
    // Where a part lacks a column, its rows have nulls there.
    let fields = fields.into_iter().map(|field| {
        let lacks = |part: &RecordBatch| part.column_by_name(field.name()).is_none();
        match parts.iter().any(lacks) {
            true => Arc::new(Field::clone(&field).with_nullable(true)),
            false => field,
        }
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let parts = parts.iter().map(|part| {
        let columns = schema.fields().iter().map(|field| -> Result<ArrayRef> {
            if let Some(column) = part.column_by_name(field.name()) {
                return Ok(Arc::clone(column));
            }
            let bytes = null_width(field.data_type()).saturating_mul(part.num_rows());
            if bytes > MOST_NULL_BYTES {
                let (name, data_type) = (field.name(), field.data_type());
                return Err(wrong(&format!(
                    "column '{name}' of type {data_type} is too wide"
                )));
            }
            Ok(new_null_array(field.data_type(), part.num_rows()))
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(part.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
            .map_err(|error| wrong(&error.to_string()))
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let table = concat_batches(&schema, &parts).map_err(|e| wrong(&e.to_string()))?;
    let Some(ids) = table.column_by_name(SEGMENT_ID) else {
        return Err(wrong(&format!("no column '{SEGMENT_ID}'")));
    };
    if *ids.data_type() != DataType::Utf8 || ids.null_count() > 0 {
        let data_type = ids.data_type();
        let why =
            format!("column '{SEGMENT_ID}' has type {data_type} or nulls where ids are wanted");
        return Err(wrong(&why));
    }
    let order = sort_to_indices(ids, None, None).map_err(|e| wrong(&e.to_string()))?;
    take_record_batch(&table, &order).map_err(|e| wrong(&e.to_string()))
}

fn wrong(why: &str) -> Error {
    let message = format!("the server's table of segments makes no sense: {why}");
    Error::new(ErrorCode::InvalidResponse, "client.segments", message)
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int64Array, StringArray};
    use arrow::datatypes::Int64Type;

    use super::*;

    fn part(ids: &[&str], column: &str, value: i64) -> RecordBatch {
        let segments: ArrayRef = Arc::new(StringArray::from_iter_values(ids));
        let values: ArrayRef = Arc::new(Int64Array::from_iter_values(ids.iter().map(|_| value)));
        RecordBatch::try_from_iter([(SEGMENT_ID, segments), (column, values)]).unwrap()
    }

    #[test]
    fn parts_are_joined_by_name_and_sorted_by_segment() {
        let table = joined(&[part(&["b", "d"], "x", 1), part(&["a"], "y", 2)]).unwrap();
        let ids = table.column(0).as_string::<i32>();
        assert_eq!(ids.iter().flatten().collect::<Vec<_>>(), ["a", "b", "d"]);
        let values = |name: &str| -> Vec<Option<i64>> {
            let column = table.column_by_name(name).unwrap();
            column.as_primitive::<Int64Type>().iter().collect()
        };
        assert_eq!(values("x"), [None, Some(1), Some(1)]);
        assert_eq!(values("y"), [Some(2), None, None]);
    }

    #[test]
    fn segments_are_named_where_the_protocol_can() {
        let strategy = |set: TextSet| filter(&set).and_then(|filter| filter.strategy);
        let list = |ids: &[&str]| SegmentIdList {
            segment_ids: ids.iter().map(|&id| id.to_owned()).collect(),
        };
        let two: TextSet = ["b", "a"].into_iter().collect();
        let skipped = Some(Strategy::Skip(list(&["a", "b"])));
        assert_eq!(strategy(two.complement()), skipped);
        assert_eq!(strategy(two), Some(Strategy::ScanOnly(list(&["a", "b"]))));
        assert_eq!(
            strategy(TextSet::empty()),
            Some(Strategy::ScanOnly(list(&[])))
        );
        assert_eq!(strategy(TextSet::all()), None);
        assert_eq!(strategy(TextSet::prefix("a")), None);
    }

    #[test]
    fn no_parts_make_an_empty_table_and_parts_that_disagree_make_none() {
        assert_eq!(joined(&[]).unwrap().num_rows(), 0);
        assert_eq!(joined(&[]).unwrap().num_columns(), 1);
        let nulls: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>]));
        let nulls = RecordBatch::try_from_iter([(SEGMENT_ID, nulls)]).unwrap();
        let wide = new_null_array(&DataType::FixedSizeBinary(i32::MAX), 0);
        let wide = RecordBatch::try_from_iter([("wide", wide)]).unwrap();
        let bomb = [wide, part(&["a"], "x", 1)];
        assert_eq!(
            joined(&[nulls]).unwrap_err().code(),
            ErrorCode::InvalidResponse
        );
        assert_eq!(
            joined(&bomb).unwrap_err().code(),
            ErrorCode::InvalidResponse
        );
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(["a"]));
        let other = RecordBatch::try_from_iter([("x", texts)]).unwrap();
        for parts in [[part(&["a"], "x", 1), other.clone()].as_slice(), &[other]] {
            let error = joined(parts).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
        }
    }
}
