//! Which cells there are, by the cell rule.

mod source;

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Cell, RowKey, SegmentChunks, StaticCells, clip};
use crate::model::{ChunkId, Fill, RowId, TimeRange};
use source::Said;
pub(super) use source::{last_said, static_cells, visit};

/// The temporal values of each component of the view, by row.
#[derive(Debug, Default)]
pub(super) struct TemporalCells {
    pub(super) fill: Fill,
    /// One map per component.
    pub(super) components: Vec<BTreeMap<RowKey, Cell>>,
}

impl TemporalCells {
    /// What stands in the row `key` for `component`.
    pub(super) fn at(&self, component: usize, key: &RowKey) -> Option<&Cell> {
        let cells = self.components.get(component)?;
        match self.fill {
            Fill::None => cells.get(key),
            Fill::LatestAt => cells.range(..=key).next_back().map(|(_, cell)| cell),
        }
    }

    /// All that stands in the row `key`.
    pub(super) fn of(&self, key: &RowKey) -> impl Iterator<Item = &Cell> {
        (0..self.components.len()).filter_map(|component| self.at(component, key))
    }
}

/// What the last of several values is found by.
pub(super) type Order = (i64, RowId, ChunkId);

/// The first `limit` rows in `windows` that do not come before `from`, and the one after them.
pub(super) fn row_keys(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    from: RowKey,
    limit: usize,
) -> (Vec<RowKey>, Option<RowKey>) {
    let needed = chunks.not_null.iter().copied();
    let needed: Vec<usize> = needed.filter(|&at| statics[at].is_none()).collect();
    let most = limit.saturating_add(1);
    let mut keys: BTreeSet<RowKey> = match (chunks.samples, needed.as_slice()) {
        (Some(samples), []) => {
            let keys = samples.iter().copied().map(RowKey::at);
            let keys = keys.filter(|key| *key >= from && is_within(windows, key.time));
            keys.take(most).collect()
        }
        (None, []) => logged(chunks, statics, windows, from, |_| true, most),
        (_, [first, others @ ..]) => {
            let needed = (*first, others);
            logged_together(chunks, statics, windows, from, needed, most)
        }
    };
    let rest = keys.iter().nth(limit).copied();
    if let Some(rest) = rest {
        keys.split_off(&rest);
    }
    (keys.into_iter().collect(), rest)
}

/// At least the first `most` rows, as far as there are any, at which the component `first` and all `others` have values
/// of their own, and a row is asked for.
fn logged_together(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    from: RowKey,
    (first, others): (usize, &[usize]),
    most: usize,
) -> BTreeSet<RowKey> {
    let is_asked_for = |key: &RowKey| {
        let samples = chunks.samples;
        samples.is_none_or(|samples| samples.binary_search(&key.time).is_ok())
    };
    let (mut keys, mut from) = (BTreeSet::new(), Some(from));
    // Piece by piece, so that no more is looked at than there are rows to find.
    while let Some(start) = from.filter(|_| keys.len() < most) {
        let found = logged(chunks, statics, windows, start, |at| at == first, most);
        let Some(&last) = found.last() else { break };
        let windows = clip(windows, TimeRange::new(start.time, last.time));
        let of = |&one: &usize| {
            let is_wanted = |at| at == one;
            logged(chunks, statics, &windows, start, is_wanted, usize::MAX)
        };
        let sets: Vec<BTreeSet<RowKey>> = others.iter().map(of).collect();
        let is_kept = |key: &RowKey| sets.iter().all(|set| set.contains(key)) && is_asked_for(key);
        from = last.next().filter(|_| found.len() >= most);
        keys.extend(found.into_iter().filter(is_kept));
    }
    keys
}

/// The first `most` rows at which one of the wanted components has a value of its own.
fn logged(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    from: RowKey,
    is_wanted: impl Fn(usize) -> bool,
    most: usize,
) -> BTreeSet<RowKey> {
    let mut keys = BTreeSet::new();
    for_each_cell(chunks, statics, windows, is_wanted, |_, key, _| {
        // Only the smallest are kept.
        let last: Option<&RowKey> = keys.last().filter(|_| keys.len() >= most);
        let is_later = last.is_some_and(|last| last.time < key.time);
        if !is_later && key >= from && keys.insert(key) && keys.len() > most {
            keys.pop_last();
        }
        !is_later
    });
    keys
}

/// The values that stand in the rows from `first` to `last`.
pub(super) fn temporal_cells(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    first: RowKey,
    last: RowKey,
) -> TemporalCells {
    let fill = chunks.view.fill();
    let between = TimeRange::new(first.time, last.time);
    let windows = match fill {
        Fill::None => clip(windows, between),
        // What lies between the windows may be the last before one of them.
        Fill::LatestAt => vec![between],
    };
    let mut components = vec![BTreeMap::new(); chunks.view.components().len()];
    let order = |cell: &Cell| {
        let chunk = &chunks.chunks[cell.chunk];
        (chunk.row_id(cell.row), chunk.id())
    };
    for_each_cell(
        chunks,
        statics,
        &windows,
        |_| true,
        |component, key, cell| {
            let column: &mut BTreeMap<RowKey, Cell> = &mut components[component];
            column
                .entry(key)
                .and_modify(|known| {
                    if order(known) < order(&cell) {
                        *known = cell;
                    }
                })
                .or_insert(cell);
            true
        },
    );
    if fill == Fill::LatestAt {
        for (column, before) in components
            .iter_mut()
            .zip(last_before(chunks, statics, first))
        {
            if let Some(((time, _, _), cell)) = before {
                // Below `first`, wherever: no row of the batch is there.
                column.entry(RowKey::at(time)).or_insert(cell);
            }
        }
    }
    TemporalCells { fill, components }
}

/// The last value of each component of the view before the row `key`.
fn last_before(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    key: RowKey,
) -> Vec<Option<(Order, Cell)>> {
    let mut last: Vec<Option<(Order, Cell)>> = vec![None; chunks.view.components().len()];
    let is_wanted = |component: usize| statics[component].is_none();
    visit(chunks.view, chunks.chunks, is_wanted, |said: &Said<'_>| {
        let found = last_said(chunks.view, said, Some(key));
        let known = &mut last[said.component];
        if known.map(|(order, _)| order) < found.map(|(order, _)| order) {
            *known = found;
        }
    });
    last
}

/// Calls `each` with component, row and cell for every temporal value of the wanted components in `windows` that no
/// static value hides. `each` says whether values at later index values still matter.
fn for_each_cell(
    chunks: &SegmentChunks<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    is_wanted: impl Fn(usize) -> bool,
    mut each: impl FnMut(usize, RowKey, Cell) -> bool,
) {
    let is_wanted = |component: usize| statics[component].is_none() && is_wanted(component);
    visit(chunks.view, chunks.chunks, is_wanted, |said: &Said<'_>| {
        for row in said.rows_within(windows) {
            let key = said.key(chunks.view, row);
            if !is_within(windows, key.time) || !said.has_value(row) {
                continue;
            }
            if !each(said.component, key, said.cell(row)) && said.is_sorted {
                break;
            }
        }
    });
}

/// Whether `time` lies in one of `windows`, which ascend.
fn is_within(windows: &[TimeRange], time: i64) -> bool {
    let at = windows.partition_point(|window| window.end < time);
    windows.get(at).is_some_and(|window| window.contains(time))
}
