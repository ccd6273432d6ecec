//! Clauses about the table of segments.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, TimeUnit, UInt64Type};

use super::{DATASET, Expected, Recording, Verdict, ensure, ensure_unknown_dataset};
use crate::model::{Chunk, Timeline};
use crate::segments::rows_of_segments;
use crate::source::ChunkSource;
use crate::text_set::TextSet;

const COLUMNS: &str = "segment_table has its columns";
const VALUES: &str = "segment_table is true";

pub(super) async fn check(source: &dyn ChunkSource, expected: &Expected) -> Verdict {
    for unknown in ["nowhere", "", "CONFORMANCE"] {
        ensure_unknown_dataset(
            "segment_table",
            source.segment_table(unknown, &TextSet::all()).await,
        )?;
    }
    let table = source.segment_table(DATASET, &TextSet::all()).await;
    let table = table.map_err(|e| format!("{COLUMNS}: {e}"))?;
    check_columns(&table, expected)?;

    let mut segments: BTreeMap<&str, Vec<&Recording>> = BTreeMap::new();
    for recording in expected.recordings.iter().filter(|r| r.dataset == DATASET) {
        segments
            .entry(recording.segment)
            .or_default()
            .push(recording);
    }
    let ids = texts(&table, "rerun_segment_id")?;
    let wanted: Vec<&str> = segments.keys().copied().collect();
    ensure(
        ids == wanted,
        "segment_table has one row per segment, ascending",
        || format!("{ids:?} where {wanted:?} are wanted"),
    )?;
    for (row, (segment, recordings)) in segments.iter().enumerate() {
        let verdict = check_row(&table, row, recordings, expected);
        verdict.map_err(|reason| format!("{VALUES}: {reason} of segment '{segment}'"))?;
    }
    check_selection(source, &table, &wanted).await
}

/// Asks for some segments: the rows must be those of the whole table.
async fn check_selection(source: &dyn ChunkSource, all: &RecordBatch, ids: &[&str]) -> Verdict {
    let one = TextSet::one(ids.last().copied().unwrap_or_default());
    let sets = [
        TextSet::empty(),
        one.clone(),
        one.complement(),
        one.union(&TextSet::one("no such segment")),
        TextSet::prefix("la"),
        TextSet::prefix("la").complement(),
        TextSet::after("layered"),
    ];
    for set in sets {
        let found = source.segment_table(DATASET, &set).await;
        let found = found.map_err(|e| format!("{COLUMNS}: {e}"))?;
        let wanted: Vec<&str> = ids.iter().copied().filter(|id| set.contains(id)).collect();
        let rows = texts(&found, "rerun_segment_id")?;
        ensure(
            rows == wanted,
            "segment_table has the rows of the wanted segments",
            || format!("{rows:?} for {set}"),
        )?;
        let rows = rows_of_segments(all, &set).map_err(|e| e.to_string())?;
        let names = rows.schema();
        let same = names.fields().iter().all(|field| {
            wanted.is_empty()
                || found.column_by_name(field.name()) == rows.column_by_name(field.name())
        });
        ensure(same, "segment_table is the same for some segments", || {
            set.to_string()
        })?;
    }
    Ok(())
}

/// Names, types and what may be null, in any order.
fn check_columns(table: &RecordBatch, expected: &Expected) -> Verdict {
    let texts = DataType::List(Field::new_list_field(DataType::Utf8, false).into());
    let time = DataType::Timestamp(TimeUnit::Nanosecond, None);
    let own = [
        ("rerun_segment_id", DataType::Utf8),
        ("rerun_layer_names", texts.clone()),
        ("rerun_storage_urls", texts),
        ("rerun_last_updated_at", time),
        ("rerun_num_chunks", DataType::UInt64),
        ("rerun_size_bytes", DataType::UInt64),
    ];
    let own = own.map(|(name, data_type)| (name.to_owned(), data_type, false));
    let bounds = expected.schema.timelines.iter().flat_map(|timeline| {
        let data_type = timeline.kind.data_type();
        ["start", "end"].map(|bound| (bound_name(timeline, bound), data_type.clone(), true))
    });
    let components = expected.schema.components.iter();
    let properties = components
        .filter(|c| c.is_static && c.entity.property_path().is_some())
        .map(|c| (c.column_name(), c.data_type.clone(), true));
    let wanted: BTreeSet<_> = own.into_iter().chain(bounds).chain(properties).collect();
    let schema = table.schema();
    let found: BTreeSet<_> = schema
        .fields()
        .iter()
        .map(|f| (f.name().clone(), f.data_type().clone(), f.is_nullable()))
        .collect();
    ensure(
        found == wanted && found.len() == table.num_columns(),
        COLUMNS,
        || format!("{found:?} where {wanted:?} are wanted"),
    )
}

fn check_row(
    table: &RecordBatch,
    row: usize,
    recordings: &[&Recording],
    expected: &Expected,
) -> Verdict {
    let layers = list_of_texts(table, "rerun_layer_names", row)?;
    let found: BTreeSet<&str> = layers.iter().map(String::as_str).collect();
    let wanted: BTreeSet<&str> = recordings.iter().map(|r| r.layer).collect();
    ensure(
        found == wanted && layers.len() == found.len(),
        "layer names",
        || format!("{found:?} for {wanted:?}"),
    )?;
    let urls = list_of_texts(table, "rerun_storage_urls", row)?;
    ensure(urls.len() == layers.len(), "storage urls", || {
        format!("{urls:?}")
    })?;
    let chunks: Vec<&Chunk> = recordings.iter().flat_map(|r| &r.chunks).collect();
    let number = |name| column(table, name).map(|c| c.as_primitive::<UInt64Type>().value(row));
    let count = number("rerun_num_chunks")?;
    ensure(count == chunks.len() as u64, "number of chunks", || {
        count.to_string()
    })?;
    let size = number("rerun_size_bytes")?;
    ensure(size > 0, "size", || size.to_string())?;
    for timeline in &expected.schema.timelines {
        let times = chunks
            .iter()
            .filter_map(|chunk| chunk.timeline(&timeline.name));
        let bounds: Vec<(i64, i64)> = times.filter_map(|column| column.bounds()).collect();
        let start = bounds.iter().map(|(start, _)| *start).min();
        let end = bounds.iter().map(|(_, end)| *end).max();
        for (marker, wanted) in [("start", start), ("end", end)] {
            let name = bound_name(timeline, marker);
            let found = number_at(column(table, &name)?, row)?;
            ensure(found == wanted, &name, || {
                format!("{found:?} for {wanted:?}")
            })?;
        }
    }
    check_properties(table, row, &chunks, expected)
}

/// The properties of the suite have one static value per segment at most.
fn check_properties(
    table: &RecordBatch,
    row: usize,
    chunks: &[&Chunk],
    expected: &Expected,
) -> Verdict {
    let components = expected.schema.components.iter();
    for property in components.filter(|c| c.entity.property_path().is_some()) {
        let name = property.column_name();
        let found = column(table, &name)?.slice(row, 1);
        let mut values = chunks.iter().filter(|c| *c.entity() == property.entity);
        let values = values.find_map(|chunk| chunk.component(&property.component));
        let same = match values {
            None => found.null_count() == 1,
            Some(values) => found.as_list_opt::<i32>() == Some(&values.slice(0, 1)),
        };
        ensure(same, &name, || format!("{found:?}"))?;
    }
    Ok(())
}

fn bound_name(timeline: &Timeline, bound: &str) -> String {
    format!("{}:{bound}", timeline.name)
}

fn column<'a>(table: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, String> {
    let column = table.column_by_name(name);
    column.ok_or_else(|| format!("column '{name}' is missing"))
}

fn texts(table: &RecordBatch, name: &str) -> Result<Vec<String>, String> {
    let texts = column(table, name)?.as_string::<i32>();
    Ok(texts.iter().flatten().map(str::to_owned).collect())
}

fn list_of_texts(table: &RecordBatch, name: &str, row: usize) -> Result<Vec<String>, String> {
    let list = column(table, name)?.as_list::<i32>().value(row);
    let texts = list.as_string::<i32>().iter().flatten();
    Ok(texts.map(str::to_owned).collect())
}

/// The time in row `row`, as a number.
fn number_at(times: &ArrayRef, row: usize) -> Result<Option<i64>, String> {
    let numbers = cast(times, &DataType::Int64).map_err(|e| e.to_string())?;
    let numbers = numbers.as_primitive::<Int64Type>();
    Ok(numbers.is_valid(row).then(|| numbers.value(row)))
}
