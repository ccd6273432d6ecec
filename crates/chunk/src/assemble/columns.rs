//! Batches: one array per wanted column.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray, new_null_array};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, SchemaRef};
use segue_error::{Error, ErrorCode, Result};

use super::gather::{self, internal};
use super::order::Key;
use super::runs::Runs;
use super::size::{Column, MOST_COLUMN_BYTES};
use super::sources::Sources;
use super::standing::Standing;
use super::{SegmentChunks, StaticCells, times};
use crate::model::RowIds;
use crate::view::ViewColumn;

/// What stands in some rows.
pub(super) struct Cells<'a> {
    chunks: &'a SegmentChunks<'a>,
    /// By component of the view; empty where nobody asks.
    temporal: Vec<Runs>,
    /// The same for static values, which stand in every row.
    fixed: Vec<Option<Runs>>,
}

impl<'a> Cells<'a> {
    /// What stands in the rows `keys`.
    pub(super) fn temporal<K: Key>(
        chunks: &'a SegmentChunks<'a>,
        sources: &Sources<'_>,
        statics: &StaticCells,
        keys: &[K],
    ) -> Self {
        let standing = Standing::new(sources, chunks.view.fill(), keys);
        let mut cells = Self::fixed(chunks, statics, keys.len());
        let is_index = |column| chunks.view.index().map(ViewColumn::Timeline) == Some(column);
        // Other timelines take part in what all components say.
        let of_all = wanted(chunks)
            .any(|column| matches!(column, ViewColumn::Timeline(_)) && !is_index(column));
        let mut is_wanted = vec![of_all; statics.len()];
        for column in wanted(chunks) {
            if let ViewColumn::Component(at) = column {
                is_wanted[at] = true;
            }
        }
        for (at, runs) in cells.temporal.iter_mut().enumerate() {
            if is_wanted[at] && sources.has(at) {
                *runs = standing.of(at);
            }
        }
        cells
    }

    /// What static values stand in each of `rows` rows.
    pub(super) fn fixed(chunks: &'a SegmentChunks<'a>, statics: &StaticCells, rows: usize) -> Self {
        let mut nothing = Runs::default();
        nothing.push_nothing(rows);
        let fixed = statics.iter().map(|cell| {
            cell.map(|cell| {
                let mut runs = Runs::default();
                runs.push_again(Some(cell), rows);
                runs
            })
        });
        Self {
            chunks,
            fixed: fixed.collect(),
            temporal: vec![nothing; statics.len()],
        }
    }

    /// What stands in the column of a component.
    fn of(&self, component: usize) -> &Runs {
        let fixed = self.fixed[component].as_ref();
        fixed.unwrap_or(&self.temporal[component])
    }

    /// The wanted components.
    pub(super) fn columns(&self) -> Vec<Column<'_>> {
        let components = wanted(self.chunks).filter_map(|column| match column {
            ViewColumn::Component(component) => Some(component),
            _ => None,
        });
        components
            .map(|component| Column {
                component,
                runs: self.of(component),
            })
            .collect()
    }

    /// Keeps the first `rows` rows.
    pub(super) fn truncate(&mut self, rows: usize) {
        let fixed = self.fixed.iter_mut().flatten();
        let all = fixed.chain(&mut self.temporal);
        all.for_each(|runs| runs.truncate(rows));
    }

    /// The rows `keys`, which these are the cells of.
    pub(super) fn rows<K: Key>(&self, keys: &[K]) -> Result<RecordBatch> {
        let (view, rows) = (self.chunks.view, keys.len());
        build(self.chunks, rows, |column| match column {
            ViewColumn::Segment => segment(self.chunks, rows),
            ViewColumn::Timeline(timeline) if view.index() == Some(timeline) => {
                let own = keys.iter().map(|key| key.time()).collect();
                times::column(timeline, own, None)
            }
            ViewColumn::Timeline(timeline) => {
                times::largest(self.chunks, timeline, &self.temporal, rows)
            }
            ViewColumn::RowId => {
                let ids: RowIds = keys.iter().map(|key| key.row_key().row_id).collect();
                Ok(Arc::new(ids.0))
            }
            ViewColumn::Component(at) => gather::component(self.chunks, at, self.of(at)),
        })
    }

    /// The row of static values, if these are its cells; no row if there is none.
    pub(super) fn static_row(&self, rows: usize) -> Result<RecordBatch> {
        build(self.chunks, rows, |column| match column {
            ViewColumn::Segment => segment(self.chunks, rows),
            ViewColumn::Timeline(timeline) => Ok(new_null_array(&timeline.kind.data_type(), rows)),
            // Rows have ids only by an index.
            ViewColumn::RowId => Ok(new_null_array(&DataType::FixedSizeBinary(16), rows)),
            ViewColumn::Component(at) => gather::component(self.chunks, at, self.of(at)),
        })
    }
}

/// The wanted columns.
fn wanted<'a>(chunks: &SegmentChunks<'a>) -> impl Iterator<Item = ViewColumn<'a>> {
    let (view, projection) = (chunks.view, chunks.projection.iter());
    projection.filter_map(|&position| view.column(position))
}

fn build(
    chunks: &SegmentChunks<'_>,
    rows: usize,
    make: impl FnMut(ViewColumn<'_>) -> Result<ArrayRef>,
) -> Result<RecordBatch> {
    let arrays = wanted(chunks).map(make).collect::<Result<Vec<_>>>()?;
    let schema = chunks.view.schema().project(chunks.projection);
    let schema: SchemaRef = Arc::new(schema.map_err(internal)?);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, arrays, &options).map_err(internal)
}

/// The id of the segment in each of `rows` rows.
fn segment(chunks: &SegmentChunks<'_>, rows: usize) -> Result<ArrayRef> {
    let id = chunks.segment.as_str();
    let most = id.len().checked_mul(rows);
    let (Some(_), Ok(rows), Ok(len)) = (
        most.filter(|most| *most <= MOST_COLUMN_BYTES),
        i32::try_from(rows),
        i32::try_from(id.len()),
    ) else {
        return Err(Error::new(
            ErrorCode::BatchTooLarge,
            "assemble.rows",
            format!("the id of segment '{id}' in {rows} rows is more than a column can hold"),
        )
        .with_fact("segment", id));
    };
    let ends: Vec<i32> = (0..=rows).map(|row| row * len).collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    let bytes = Buffer::from(id.repeat(rows as usize).into_bytes());
    let ids = StringArray::try_new(offsets, bytes, None);
    Ok(Arc::new(ids.map_err(internal)?))
}
