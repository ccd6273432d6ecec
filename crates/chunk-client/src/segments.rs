//! The table of segments.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::{concat_batches, sort_to_indices, take_record_batch};
use arrow::datatypes::{Field, FieldRef, Schema};
use segue_chunk::wire::decode_table;
use segue_error::{Error, ErrorCode, Result};
use segue_proto::cloud::ScanSegmentTableRequest;

use crate::catalog::Entry;
use crate::connection::Connection;
use crate::error::Failure;

/// Column with the id of the segment.
const SEGMENT_ID: &str = "rerun_segment_id";

/// Asks for the whole table: one row per segment, ascending by id.
pub(crate) async fn scan(
    connection: &Connection,
    entry: Arc<Entry>,
) -> Result<RecordBatch, Failure> {
    let call = entry.scope(connection.call("read the table of segments"));
    let request = ScanSegmentTableRequest::default();
    let mut answers = call
        .stream(request, async |mut client, request| {
            client.scan_segment_table(request).await
        })
        .await?;
    let mut parts = Vec::new();
    while let Some(answer) = answers.next().await? {
        entry.saw(answer.meta);
        if let Some(part) = &answer.data {
            parts.push(decode_table(part)?);
        }
    }
    Ok(joined(&parts)?)
}

/// The rows of all `parts`, whose columns are found by name: a part may lack some.
fn joined(parts: &[RecordBatch]) -> Result<RecordBatch> {
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
        let columns = schema.fields().iter().map(|field| -> ArrayRef {
            match part.column_by_name(field.name()) {
                Some(column) => Arc::clone(column),
                None => new_null_array(field.data_type(), part.num_rows()),
            }
        });
        let options = RecordBatchOptions::new().with_row_count(Some(part.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&schema), columns.collect(), &options)
    });
    let parts = parts
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| wrong(&e.to_string()))?;
    let table = concat_batches(&schema, &parts).map_err(|e| wrong(&e.to_string()))?;
    let Some(ids) = table.column_by_name(SEGMENT_ID) else {
        if parts.is_empty() {
            return Ok(table);
        }
        return Err(wrong(&format!("no column '{SEGMENT_ID}'")));
    };
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
    fn no_parts_make_an_empty_table_and_parts_that_disagree_make_none() {
        assert_eq!(joined(&[]).unwrap().num_rows(), 0);
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(["a"]));
        let other = RecordBatch::try_from_iter([("x", texts)]).unwrap();
        for parts in [[part(&["a"], "x", 1), other.clone()].as_slice(), &[other]] {
            let error = joined(parts).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
        }
    }
}
