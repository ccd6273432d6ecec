//! Which cells there are, by the cell rule.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{Array, AsArray, ListArray};

use super::{Cell, SegmentChunks, StaticCells, TemporalCells};
use crate::model::{Chunk, ChunkId, RowId, TimeRange};
use crate::schema::{ComponentColumn, keys};

/// The last static value of each component of the view, by row id, then chunk id.
pub(super) fn static_cells(chunks: &SegmentChunks<'_>) -> StaticCells {
    let last = |column: &ComponentColumn| {
        let mut last: Option<((RowId, ChunkId), Cell)> = None;
        for (at, chunk) in chunks.chunks.iter().enumerate() {
            if !chunk.is_static() || *chunk.entity() != column.entity {
                continue;
            }
            let Some(values) = chunk.component(&column.component) else {
                continue;
            };
            for row in (0..values.len()).filter(|&row| values.is_valid(row)) {
                let order = (chunk.row_id(row), chunk.id());
                let cell = Cell {
                    chunk: at,
                    row,
                    is_cleared: false,
                };
                if last.as_ref().is_none_or(|(known, _)| *known < order) {
                    last = Some((order, cell));
                }
            }
        }
        last.map(|(_, cell)| cell)
    };
    chunks.view.components().iter().map(last).collect()
}

/// The first `limit` index values in `windows` at which there is a row, and the one after them.
pub(super) fn row_times(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    limit: usize,
) -> (Vec<i64>, Option<i64>) {
    let mut times = BTreeSet::new();
    for_each_cell(chunks, statics, windows, |_, time, _| {
        // Only the smallest are kept: one more than is wanted.
        let is_kept = times.len() <= limit || times.last().is_some_and(|&last| time < last);
        if is_kept && times.insert(time) && times.len() > limit.saturating_add(1) {
            times.pop_last();
        }
    });
    let next = (times.len() > limit).then(|| times.pop_last()).flatten();
    (times.into_iter().collect(), next)
}

/// The last value of each component of the view at each index value in `windows`.
pub(super) fn temporal_cells(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
) -> TemporalCells {
    let mut cells: TemporalCells = vec![BTreeMap::new(); chunks.view.components().len()];
    let order = |cell: &Cell| {
        let chunk = &chunks.chunks[cell.chunk];
        (chunk.row_id(cell.row), chunk.id())
    };
    for_each_cell(chunks, statics, windows, |component, time, cell| {
        let column: &mut BTreeMap<i64, Cell> = &mut cells[component];
        column
            .entry(time)
            .and_modify(|known| {
                if order(known) < order(&cell) {
                    *known = cell;
                }
            })
            .or_insert(cell);
    });
    cells
}

/// Calls `each` with component, index value and cell for every temporal value in `windows` that no static
/// value hides.
fn for_each_cell(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    mut each: impl FnMut(usize, i64, Cell),
) {
    let Some(index) = chunks.view.index() else {
        return;
    };
    for (at, chunk) in chunks.chunks.iter().enumerate() {
        let Some(column) = chunk.timeline(&index.name) else {
            continue;
        };
        for (component, wanted) in chunks.view.components().iter().enumerate() {
            if statics[component].is_some() {
                continue;
            }
            for source in sources(chunk, wanted) {
                for (row, &time) in column.times.iter().enumerate() {
                    if is_within(windows, time) && source.has_value(row) {
                        let is_cleared = matches!(source, Source::Clear { .. });
                        let cell = Cell {
                            chunk: at,
                            row,
                            is_cleared,
                        };
                        each(component, time, cell);
                    }
                }
            }
        }
    }
}

/// Whether `time` lies in one of `windows`, which ascend.
fn is_within(windows: &[TimeRange], time: i64) -> bool {
    let at = windows.partition_point(|window| window.end < time);
    windows.get(at).is_some_and(|window| window.contains(time))
}

/// What a chunk has to say about a component.
enum Source<'a> {
    /// Values.
    Values(&'a ListArray),
    /// Clears of the entity, or of one above it: those count only where they are recursive.
    Clear {
        flags: &'a ListArray,
        is_above: bool,
    },
}

impl Source<'_> {
    fn has_value(&self, row: usize) -> bool {
        match self {
            Self::Values(values) => values.is_valid(row),
            Self::Clear { flags, is_above } => {
                flags.is_valid(row) && (!is_above || is_recursive(flags, row))
            }
        }
    }
}

fn sources<'a>(chunk: &'a Chunk, wanted: &ComponentColumn) -> impl Iterator<Item = Source<'a>> {
    let is_own = *chunk.entity() == wanted.entity;
    let values = is_own.then(|| chunk.component(&wanted.component)).flatten();
    let reaches = wanted.entity.is_within(chunk.entity());
    let flags = reaches
        .then(|| chunk.component(keys::CLEAR_COMPONENT))
        .flatten();
    let clear = flags.map(|flags| Source::Clear {
        flags,
        is_above: !is_own,
    });
    values.map(Source::Values).into_iter().chain(clear)
}

fn is_recursive(flags: &ListArray, row: usize) -> bool {
    let value = flags.value(row);
    value
        .as_boolean_opt()
        .is_some_and(|flags| flags.iter().any(|flag| flag == Some(true)))
}
