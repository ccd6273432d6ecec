//! Which cells there are, by the cell rule.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use arrow::array::{Array, AsArray, ListArray};

use super::{Cell, SegmentChunks, StaticCells, TemporalCells};
use crate::model::{Chunk, ChunkId, EntityPath, RowId, TimeRange};
use crate::schema::{ComponentColumn, keys};

/// The components of a view, by their entity.
type ByEntity<'a> = HashMap<&'a EntityPath, Vec<usize>>;

fn by_entity<'a>(chunks: &SegmentChunks<'a>) -> ByEntity<'a> {
    let mut entities: ByEntity<'a> = HashMap::new();
    for (at, column) in chunks.view.components().iter().enumerate() {
        entities.entry(&column.entity).or_default().push(at);
    }
    entities
}

/// The last static value of each component of the view, by row id, then chunk id.
pub(super) fn static_cells(chunks: &SegmentChunks<'_>) -> StaticCells {
    let components = chunks.view.components();
    let entities = by_entity(chunks);
    let mut last: Vec<Option<((RowId, ChunkId), Cell)>> = vec![None; components.len()];
    let statics = chunks
        .chunks
        .iter()
        .enumerate()
        .filter(|(_, c)| c.is_static());
    for (at, chunk) in statics {
        for &component in entities.get(chunk.entity()).into_iter().flatten() {
            let Some(values) = chunk.component(&components[component].component) else {
                continue;
            };
            for row in (0..values.len()).filter(|&row| values.is_valid(row)) {
                let order = (chunk.row_id(row), chunk.id());
                let cell = Cell {
                    chunk: at,
                    row,
                    is_cleared: false,
                };
                let known = &mut last[component];
                if known.as_ref().is_none_or(|(known, _)| *known < order) {
                    *known = Some((order, cell));
                }
            }
        }
    }
    let cells = last.into_iter().map(|last| last.map(|(_, cell)| cell));
    cells.collect()
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
        is_kept
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
        true
    });
    cells
}

/// Calls `each` with component, index value and cell for every temporal value in `windows` that no static
/// value hides. `each` says whether values at later index values still matter.
fn for_each_cell(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    mut each: impl FnMut(usize, i64, Cell) -> bool,
) {
    let Some(index) = chunks.view.index() else {
        return;
    };
    let components = chunks.view.components();
    let entities = by_entity(chunks);
    for (at, chunk) in chunks.chunks.iter().enumerate() {
        let Some(column) = chunk.timeline(&index.name) else {
            continue;
        };
        let is_sorted = column.times.is_sorted();
        let rows = rows_within(&column.times, windows, is_sorted);
        let own = entities.get(chunk.entity()).into_iter().flatten().copied();
        let cleared = match chunk.component(keys::CLEAR_COMPONENT) {
            Some(_) => 0..components.len(),
            None => 0..0,
        };
        let cleared = cleared.filter(|&at| components[at].entity != *chunk.entity());
        for component in own.chain(cleared).filter(|&at| statics[at].is_none()) {
            for source in sources(chunk, &components[component]) {
                let is_cleared = matches!(source, Source::Clear { .. });
                for row in rows.clone() {
                    let time = column.times[row];
                    if !is_within(windows, time) || !source.has_value(row) {
                        continue;
                    }
                    let cell = Cell {
                        chunk: at,
                        row,
                        is_cleared,
                    };
                    if !each(component, time, cell) && is_sorted {
                        break;
                    }
                }
            }
        }
    }
}

/// The rows of a chunk that may lie in `windows`.
fn rows_within(times: &[i64], windows: &[TimeRange], is_sorted: bool) -> Range<usize> {
    match (windows.first(), windows.last()) {
        (Some(first), Some(last)) if is_sorted => {
            let start = times.partition_point(|time| *time < first.start);
            let end = times.partition_point(|time| *time <= last.end);
            start..end.max(start)
        }
        (Some(_), Some(_)) => 0..times.len(),
        _ => 0..0,
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
