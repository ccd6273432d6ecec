//! What each chunk has to say about each component.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, AsArray, ListArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};

use super::order::{Key, Rank};
use super::{Cell, SegmentChunks, StaticCells};
use crate::model::{Chunk, ChunkId, RowId};
use crate::schema::{ComponentColumn, keys};
use crate::view::View;

/// A chunk with values of the index.
#[derive(Clone, Debug)]
pub(super) struct Indexed<'a> {
    /// Position of the chunk among the chunks at hand.
    pub(super) at: usize,
    pub(super) chunk: &'a Chunk,
    /// The index value of each row.
    pub(super) times: &'a [i64],
    /// Whether they ascend.
    pub(super) is_sorted: bool,
}

impl Indexed<'_> {
    /// The rows from the index value `first` to `last`, where they ascend.
    pub(super) fn rows_between(&self, first: i64, last: i64) -> Range<usize> {
        let start = self.times.partition_point(|time| *time < first);
        let end = self.times.partition_point(|time| *time <= last);
        start..end.max(start)
    }

    /// By what a value of row `row` is compared with others of its key.
    pub(super) fn rank(&self, row: usize) -> Rank {
        (self.chunk.row_id(row), self.chunk.id())
    }
}

/// What one chunk has to say about one component.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    /// Position of the chunk among those of [`Sources`].
    pub(super) chunk: usize,
    pub(super) said: Said<'a>,
}

impl Source<'_> {
    /// The cell of row `row` of the chunk, which is that of the source.
    pub(super) fn cell(&self, chunk: &Indexed<'_>, row: usize) -> Cell {
        Cell {
            chunk: chunk.at,
            row,
            is_cleared: matches!(self.said, Said::Clears(_)),
        }
    }
}

/// Values of a component, or clears of it.
#[derive(Clone, Debug)]
pub(super) enum Said<'a> {
    /// The values; rows without one are null.
    Values(&'a ListArray),
    /// The rows that clear it.
    Clears(BooleanBuffer),
}

impl Said<'_> {
    /// The rows with a value; `None` for all.
    pub(super) fn present(&self) -> Option<&BooleanBuffer> {
        match self {
            Self::Values(values) if values.null_count() == 0 => None,
            Self::Values(values) => values.nulls().map(NullBuffer::inner),
            Self::Clears(rows) => Some(rows),
        }
    }

    /// Whether there is a value in row `row`.
    pub(super) fn is_present(&self, row: usize) -> bool {
        self.present().is_none_or(|present| present.value(row))
    }

    /// Whether all rows have a value.
    pub(super) fn is_full(&self) -> bool {
        self.present().is_none()
    }
}

/// All that the temporal ones of some chunks say about the components of a view that have no static value.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    /// The chunks that say anything.
    pub(super) chunks: Vec<Indexed<'a>>,
    /// By component of the view.
    pub(super) by_component: Vec<Vec<Source<'a>>>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(view: &View, chunks: &'a [Arc<Chunk>], statics: &[Option<Cell>]) -> Self {
        let components = view.components();
        let mut sources = Self {
            chunks: Vec::with_capacity(chunks.len()),
            by_component: vec![Vec::new(); components.len()],
        };
        let Some(index) = view.index() else {
            return sources;
        };
        let is_wanted = |component: usize| statics.get(component).is_none_or(|cell| cell.is_none());
        for (at, chunk) in chunks.iter().enumerate() {
            let Some(column) = chunk.timeline(&index.name) else {
                continue;
            };
            let place = sources.chunks.len();
            let mut is_used = false;
            let mut add = |component: usize, said: Said<'a>| {
                let source = Source { chunk: place, said };
                sources.by_component[component].push(source);
                is_used = true;
            };
            let own = view.components_of(chunk.entity()).iter().copied();
            for component in own.filter(|&component| is_wanted(component)) {
                let values = chunk.component(&components[component].component);
                if let Some(values) = values.filter(|values| values.null_count() < values.len()) {
                    add(component, Said::Values(values));
                }
            }
            if let Some(flags) = chunk.component(keys::CLEAR_COMPONENT) {
                let clears = Clears::new(flags);
                let reached = (0..components.len()).filter(|&component| is_wanted(component));
                for component in reached {
                    if let Some(rows) = clears.of(chunk, &components[component]) {
                        add(component, Said::Clears(rows));
                    }
                }
            }
            if is_used {
                sources.chunks.push(Indexed {
                    at,
                    chunk,
                    times: &column.times,
                    is_sorted: chunk.is_sorted_by(&index.name),
                });
            }
        }
        sources
    }

    /// Whether any of the chunks says anything about `component`.
    pub(super) fn has(&self, component: usize) -> bool {
        !self.by_component[component].is_empty()
    }

    /// The last value of `component` that stands before the row `key`; of all, if that is `None`. With its place
    /// among all values.
    pub(super) fn last_before<K: Key>(
        &self,
        component: usize,
        key: Option<K>,
    ) -> Option<((i64, Rank), Cell)> {
        let sources = self.by_component[component].iter();
        let lasts = sources.filter_map(|source| {
            let chunk = &self.chunks[source.chunk];
            let (place, row) = last_of(chunk, &source.said, key)?;
            Some((place, source.cell(chunk, row)))
        });
        // Of equals the first: what a row says itself stands before its Clear.
        lasts.reduce(|last, next| if last.0 < next.0 { next } else { last })
    }
}

/// The last row of a chunk with something said that stands before the row `key`.
fn last_of<K: Key>(
    chunk: &Indexed<'_>,
    said: &Said<'_>,
    key: Option<K>,
) -> Option<((i64, Rank), usize)> {
    let mut end = match key {
        Some(key) if chunk.is_sorted => chunk.times.partition_point(|time| *time <= key.time()),
        _ => chunk.times.len(),
    };
    let mut last: Option<((i64, Rank), usize)> = None;
    while let Some(row) = last_present(said, end) {
        end = row;
        let time = chunk.times[row];
        let is_over = chunk.is_sorted && last.is_some_and(|((last, _), _)| time < last);
        if is_over {
            break;
        }
        let place = (time, chunk.rank(row));
        let counts = key.is_none_or(|key| K::of(chunk, row) < key);
        if counts && last.is_none_or(|(last, _)| last < place) {
            last = Some((place, row));
        }
    }
    last
}

/// The last row before `end` with something said.
fn last_present(said: &Said<'_>, end: usize) -> Option<usize> {
    /// Rows that are looked at together.
    const BLOCK: usize = 4096;
    let Some(present) = said.present() else {
        return end.checked_sub(1);
    };
    let mut end = end;
    if end > 0 && present.value(end - 1) {
        return Some(end - 1);
    }
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        let block = present.slice(start, end - start);
        if block.count_set_bits() > 0 {
            return (start..end).rev().find(|&row| present.value(row));
        }
        end = start;
    }
    None
}

/// The rows of a chunk that clear.
struct Clears {
    /// Those that clear the entity of the chunk.
    own: BooleanBuffer,
    /// Those that clear all below it as well.
    below: BooleanBuffer,
}

impl Clears {
    fn new(flags: &ListArray) -> Self {
        let is_recursive = |row: usize| {
            let value = flags.value(row);
            let flags = value.as_boolean_opt();
            flags.is_some_and(|flags| flags.true_count() > 0)
        };
        let rows = flags.len();
        Self {
            own: BooleanBuffer::collect_bool(rows, |row| flags.is_valid(row)),
            below: BooleanBuffer::collect_bool(rows, |row| {
                flags.is_valid(row) && is_recursive(row)
            }),
        }
    }

    /// Those that clear `component`, if there are any.
    fn of(&self, chunk: &Chunk, component: &ComponentColumn) -> Option<BooleanBuffer> {
        // Nothing clears a Clear.
        if component.is_tombstone || !component.entity.is_within(chunk.entity()) {
            return None;
        }
        let rows = match component.entity == *chunk.entity() {
            true => &self.own,
            false => &self.below,
        };
        (rows.count_set_bits() > 0).then(|| rows.clone())
    }
}

/// The last static value of each component of the view, by row id, then chunk id.
pub(super) fn static_cells(chunks: &SegmentChunks<'_>) -> StaticCells {
    let components = chunks.view.components();
    let mut last: Vec<Option<((RowId, ChunkId), Cell)>> = vec![None; components.len()];
    let statics = chunks.chunks.iter().enumerate();
    for (at, chunk) in statics.filter(|(_, chunk)| chunk.is_static()) {
        for &component in chunks.view.components_of(chunk.entity()) {
            let Some(values) = chunk.component(&components[component].component) else {
                continue;
            };
            for row in (0..values.len()).filter(|&row| values.is_valid(row)) {
                let rank = (chunk.row_id(row), chunk.id());
                let known = &mut last[component];
                if known.as_ref().is_none_or(|(known, _)| *known < rank) {
                    let cell = Cell {
                        chunk: at,
                        row,
                        is_cleared: false,
                    };
                    *known = Some((rank, cell));
                }
            }
        }
    }
    let cells = last.into_iter().map(|last| last.map(|(_, cell)| cell));
    cells.collect()
}
