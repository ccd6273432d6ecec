//! From cells to arrays: one gather per column.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Int64Builder, ListArray, RecordBatch, RecordBatchOptions, StringArray,
    new_empty_array, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, interleave};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use segue_error::{Error, ErrorCode, Result};

use super::super::gather::{internal, joint, not_joinable, plain};
use super::super::{Cell, RowKey, SegmentChunks, StaticCells};
use super::cells::TemporalCells;
use super::size;
use crate::model::{Chunk, RowIds, Timeline};
use crate::schema::ComponentColumn;
use crate::view::ViewColumn;

/// The rows `keys`.
pub(super) fn temporal(
    chunks: &SegmentChunks<'_>,
    keys: &[RowKey],
    statics: &StaticCells,
    cells: &TemporalCells,
) -> Result<RecordBatch> {
    let rows = keys.len();
    build(chunks, rows, |column| match column {
        ViewColumn::Segment => Ok(segment(chunks, rows)),
        ViewColumn::Timeline(timeline) if chunks.view.index() == Some(timeline) => {
            time_array(timeline, keys.iter().map(|key| Some(key.time)))
        }
        ViewColumn::Timeline(timeline) => {
            let largest = |key| largest(chunks, cells, timeline, key);
            time_array(timeline, keys.iter().map(largest))
        }
        ViewColumn::RowId => {
            let ids: RowIds = keys.iter().map(|key| key.row_id).collect();
            Ok(Arc::new(ids.0))
        }
        ViewColumn::Component(at) => {
            let picked = keys
                .iter()
                .map(|key| statics[at].as_ref().or_else(|| cells.at(at, key)).copied());
            component(chunks, at, picked)
        }
    })
}

/// The row of static values, if there is any.
pub(super) fn static_row(chunks: &SegmentChunks<'_>, statics: &StaticCells) -> Result<RecordBatch> {
    size::check_static_row(chunks, statics)?;
    let has_all = chunks.not_null.iter().all(|&at| statics[at].is_some());
    let rows = usize::from(has_all && statics.iter().any(Option::is_some));
    build(chunks, rows, |column| match column {
        ViewColumn::Segment => Ok(segment(chunks, rows)),
        ViewColumn::Timeline(timeline) => Ok(new_null_array(&timeline.kind.data_type(), rows)),
        // Rows have ids only by an index.
        ViewColumn::RowId => Ok(new_null_array(&DataType::FixedSizeBinary(16), rows)),
        ViewColumn::Component(at) => {
            component(chunks, at, statics[at..=at].iter().copied().take(rows))
        }
    })
}

fn build(
    chunks: &SegmentChunks<'_>,
    rows: usize,
    mut make: impl FnMut(ViewColumn<'_>) -> Result<ArrayRef>,
) -> Result<RecordBatch> {
    let view = chunks.view;
    let columns = chunks.projection.iter();
    let columns = columns.filter_map(|&position| view.column(position));
    let arrays = columns.map(&mut make).collect::<Result<Vec<_>>>()?;
    let schema: SchemaRef = Arc::new(view.schema().project(chunks.projection).map_err(internal)?);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, arrays, &options).map_err(internal)
}

fn segment(chunks: &SegmentChunks<'_>, rows: usize) -> ArrayRef {
    let id = chunks.segment.as_str();
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(id, rows)))
}

/// The column of the component at position `at`, from the given cells.
fn component(
    chunks: &SegmentChunks<'_>,
    at: usize,
    cells: impl Iterator<Item = Option<Cell>>,
) -> Result<ArrayRef> {
    let column = &chunks.view.components()[at];
    let lists = gather(chunks, column, cells)?;
    match chunks.view.is_unnested(at) {
        true => plain::values(chunks, column, &lists),
        false => Ok(lists),
    }
}

/// The largest value of `timeline` among the cells of the row `key`.
fn largest(
    chunks: &SegmentChunks<'_>,
    cells: &TemporalCells,
    timeline: &Timeline,
    key: &RowKey,
) -> Option<i64> {
    let of_cell = |cell: &Cell| {
        let column = chunks.chunks[cell.chunk].timeline(&timeline.name)?;
        column.times.get(cell.row).copied()
    };
    cells.of(key).filter_map(of_cell).max()
}

fn time_array(timeline: &Timeline, times: impl Iterator<Item = Option<i64>>) -> Result<ArrayRef> {
    let mut builder = Int64Builder::new();
    builder.extend(times);
    // All kinds of time are 64 bit numbers: the cast changes the type, not the bits.
    cast(&builder.finish(), &timeline.kind.data_type()).map_err(internal)
}

/// The values of `component` in the given cells; null where there is none.
fn gather(
    chunks: &SegmentChunks<'_>,
    component: &ComponentColumn,
    cells: impl Iterator<Item = Option<Cell>>,
) -> Result<ArrayRef> {
    const NULL: (usize, usize) = (0, 0);
    const CLEARED: (usize, usize) = (1, 0);
    let missing = new_null_array(&component.data_type, 1);
    let cleared = empty_list(&component.data_type)?;
    let mut sources: Vec<&dyn Array> = vec![&missing, &cleared];
    let mut known = std::collections::HashMap::new();
    let mut picks = Vec::new();
    for cell in cells {
        picks.push(match cell {
            None => NULL,
            Some(cell) if cell.is_cleared => CLEARED,
            Some(cell) => {
                let chunk: &Chunk = &chunks.chunks[cell.chunk];
                let source = *known.entry(cell.chunk).or_insert(sources.len());
                if source == sources.len() {
                    let values = chunk.component(&component.component);
                    sources.push(values.ok_or_else(|| no_values(component))?);
                }
                (source, cell.row)
            }
        });
    }
    if picks.is_empty() {
        return Ok(new_empty_array(&component.data_type));
    }
    joint::check(&sources).map_err(|reason| not_joinable(component, reason))?;
    interleave(&sources, &picks).map_err(|error| match error {
        ArrowError::DictionaryKeyOverflowError | ArrowError::ComputeError(_) => {
            not_joinable(component, error.to_string()).with_source(error)
        }
        error => internal(error),
    })
}

/// One empty list of the list type `data_type`.
fn empty_list(data_type: &DataType) -> Result<ArrayRef> {
    let DataType::List(item) = data_type else {
        return Err(Error::new(
            ErrorCode::Invariant,
            "assemble.gather",
            format!("a component of type {data_type} is not a list"),
        ));
    };
    let values = new_empty_array(item.data_type());
    let offsets = OffsetBuffer::from_lengths([0]);
    let list = ListArray::try_new(Arc::clone(item), offsets, values, None).map_err(internal)?;
    Ok(Arc::new(list))
}

fn no_values(component: &ComponentColumn) -> Error {
    let name = component.column_name();
    Error::new(
        ErrorCode::Invariant,
        "assemble.gather",
        format!("a cell of '{name}' points to a chunk without it"),
    )
}
