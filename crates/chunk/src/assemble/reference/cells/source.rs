//! What each chunk has to say about each component.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, AsArray, ListArray};

use super::super::super::{Cell, RowKey, SegmentChunks, StaticCells};
use super::Order;
use crate::model::{Chunk, ChunkId, RowId, TimeColumn, TimeRange};
use crate::schema::{ComponentColumn, keys};
use crate::view::{Duplicates, View};

/// The last static value of each component of the view, by row id, then chunk id.
pub(in super::super) fn static_cells(chunks: &SegmentChunks<'_>) -> StaticCells {
    let components = chunks.view.components();
    let mut last: Vec<Option<((RowId, ChunkId), Cell)>> = vec![None; components.len()];
    let statics = chunks
        .chunks
        .iter()
        .enumerate()
        .filter(|(_, c)| c.is_static());
    for (at, chunk) in statics {
        for &component in chunks.view.components_of(chunk.entity()) {
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

/// What one chunk has to say about one component.
pub(in super::super) struct Said<'a> {
    /// Position of the component in the view.
    pub(in super::super) component: usize,
    /// Whether the chunk's index values ascend.
    pub(super) is_sorted: bool,
    /// Position of the chunk among the chunks at hand.
    at: usize,
    chunk: &'a Chunk,
    index: &'a TimeColumn,
    source: Source<'a>,
}

/// Values of a component, or clears of it.
enum Source<'a> {
    Values(&'a ListArray),
    /// Clears of the entity, or of one above it: those count only where they are recursive.
    Clear {
        flags: &'a ListArray,
        is_above: bool,
    },
}

impl Said<'_> {
    /// Where row `row` of the chunk stands.
    pub(super) fn key(&self, view: &View, row: usize) -> RowKey {
        let first = RowKey::at(self.index.times[row]);
        match view.duplicates() {
            Duplicates::Last => first,
            Duplicates::All => RowKey {
                row_id: self.chunk.row_id(row),
                ..first
            },
        }
    }

    /// Whether there is a value in row `row`.
    pub(super) fn has_value(&self, row: usize) -> bool {
        match self.source {
            Source::Values(values) => values.is_valid(row),
            Source::Clear { flags, is_above } => {
                flags.is_valid(row) && (!is_above || is_recursive(flags, row))
            }
        }
    }

    /// The cell of row `row`.
    pub(super) fn cell(&self, row: usize) -> Cell {
        Cell {
            chunk: self.at,
            row,
            is_cleared: matches!(self.source, Source::Clear { .. }),
        }
    }

    /// The rows that may lie in `windows`.
    pub(super) fn rows_within(&self, windows: &[TimeRange]) -> Range<usize> {
        let times = &self.index.times;
        match (windows.first(), windows.last()) {
            (Some(first), Some(last)) if self.is_sorted => {
                let start = times.partition_point(|time| *time < first.start);
                let end = times.partition_point(|time| *time <= last.end);
                start..end.max(start)
            }
            (Some(_), Some(_)) => 0..times.len(),
            _ => 0..0,
        }
    }

    fn order(&self, row: usize) -> Order {
        (
            self.index.times[row],
            self.chunk.row_id(row),
            self.chunk.id(),
        )
    }
}

/// The last value of `said` that stands before the row `before`; of all, if that is `None`.
pub(in super::super) fn last_said(
    view: &View,
    said: &Said<'_>,
    before: Option<RowKey>,
) -> Option<(Order, Cell)> {
    let times = &said.index.times;
    let end = match before {
        Some(key) if said.is_sorted => times.partition_point(|time| *time <= key.time),
        _ => times.len(),
    };
    let mut last: Option<(Order, Cell)> = None;
    for row in (0..end).rev() {
        let known = last.map(|(order, _)| order);
        if said.is_sorted && known.is_some_and(|(time, _, _)| times[row] < time) {
            break;
        }
        let counts = before.is_none_or(|before| said.key(view, row) < before);
        if counts && said.has_value(row) && known < Some(said.order(row)) {
            last = Some((said.order(row), said.cell(row)));
        }
    }
    last
}

/// Calls `each` with all that the temporal ones of `chunks` say about the wanted components of `view`.
pub(in super::super) fn visit<'a>(
    view: &View,
    chunks: &'a [Arc<Chunk>],
    is_wanted: impl Fn(usize) -> bool,
    mut each: impl FnMut(&Said<'a>),
) {
    let Some(index) = view.index() else {
        return;
    };
    let components = view.components();
    for (at, chunk) in chunks.iter().enumerate() {
        let Some(column) = chunk.timeline(&index.name) else {
            continue;
        };
        let is_sorted = column.times.is_sorted();
        let own = view.components_of(chunk.entity()).iter().copied();
        let cleared = match chunk.component(keys::CLEAR_COMPONENT) {
            Some(_) => 0..components.len(),
            None => 0..0,
        };
        let cleared = cleared.filter(|&at| components[at].entity != *chunk.entity());
        for component in own.chain(cleared).filter(|&at| is_wanted(at)) {
            for source in sources(chunk, &components[component]) {
                each(&Said {
                    component,
                    is_sorted,
                    at,
                    chunk,
                    index: column,
                    source,
                });
            }
        }
    }
}

fn sources<'a>(chunk: &'a Chunk, wanted: &ComponentColumn) -> impl Iterator<Item = Source<'a>> {
    let is_own = *chunk.entity() == wanted.entity;
    let values = is_own.then(|| chunk.component(&wanted.component)).flatten();
    // Nothing clears a Clear.
    let reaches = wanted.entity.is_within(chunk.entity()) && !wanted.is_tombstone;
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
