//! What stands in each row of a component.

use std::borrow::Cow;

use super::Cell;
use super::order::{Key, Rank, Sequence, gallop};
use super::runs::Runs;
use super::sources::{Source, Sources};
use crate::model::Fill;

/// The rows of some chunks that matter to the rows of a batch.
pub(super) struct Standing<'a, K: Key> {
    sources: &'a Sources<'a>,
    fill: Fill,
    /// The rows of the batch, ascending, each once.
    keys: &'a [K],
    /// Of each chunk, its rows between the first row of the batch and the last.
    sequences: Vec<Sequence<'a, K>>,
    /// Of each chunk, whether these have different keys.
    is_strict: Vec<bool>,
}

impl<'a, K: Key> Standing<'a, K> {
    pub(super) fn new(sources: &'a Sources<'a>, fill: Fill, keys: &'a [K]) -> Self {
        let sequences: Vec<Sequence<'a, K>> = match (keys.first(), keys.last()) {
            (Some(first), Some(last)) => {
                let chunks = sources.chunks.iter();
                chunks
                    .map(|chunk| K::sequence(chunk, *first, last.time()))
                    .collect()
            }
            _ => Vec::new(),
        };
        let is_strict = sequences.iter().map(|sequence| {
            let keys = &*sequence.keys;
            keys.iter().zip(keys.iter().skip(1)).all(|(a, b)| a < b)
        });
        Self {
            sources,
            fill,
            keys,
            is_strict: is_strict.collect(),
            sequences,
        }
    }

    /// What stands in each row for `component`.
    pub(super) fn of(&self, component: usize) -> Runs {
        let mut runs = Runs::default();
        let Some(&first) = self.keys.first() else {
            return runs;
        };
        let mut before = match self.fill {
            Fill::None => None,
            Fill::LatestAt => {
                let last = self.sources.last_before(component, Some(first));
                last.map(|(_, cell)| cell)
            }
        };
        for events in self.events(component) {
            let rest = &self.keys[runs.len()..];
            let (Some(first), Some(last)) = (events.keys.first(), events.keys.last()) else {
                continue;
            };
            let start = gallop(rest, |key| key < first);
            runs.push_again(before, start);
            let rest = &rest[start..];
            let within = &rest[..gallop(rest, |key| key <= last)];
            match self.fill {
                Fill::None => events.match_with(within, &mut runs),
                Fill::LatestAt => {
                    events.fill(within, &mut runs);
                    before = Some(events.cell(events.keys.len() - 1));
                }
            }
        }
        runs.push_again(before, self.keys.len() - runs.len());
        runs
    }

    /// What is said of `component` between the first row and the last: ascending, apart.
    fn events(&self, component: usize) -> Vec<Events<'_, K>> {
        let sources = self.sources.by_component[component].iter();
        let parts = sources.filter_map(|source| {
            let (first, last) = {
                let keys = &self.sequences[source.chunk].keys;
                (*keys.first()?, *keys.last()?)
            };
            Some(Part {
                source,
                first,
                last,
            })
        });
        let mut parts: Vec<Part<'_, K>> = parts.collect();
        // Stable: of equals, the first counts.
        parts.sort_by_key(|part| part.first);
        let mut events = Vec::with_capacity(parts.len());
        let mut rest = parts.as_slice();
        while let Some(part) = rest.first() {
            let (mut len, mut last) = (1, part.last);
            while let Some(next) = rest.get(len).filter(|next| next.first <= last) {
                last = last.max(next.last);
                len += 1;
            }
            let (together, others) = rest.split_at(len);
            events.push(match together {
                [one] => self.one(one.source),
                several => self.several(several),
            });
            rest = others;
        }
        events
    }

    /// What one chunk says that no other has a say in.
    fn one(&self, source: &'a Source<'a>) -> Events<'_, K> {
        let sequence = &self.sequences[source.chunk];
        let chunk = &self.sources.chunks[source.chunk];
        let first = sequence.first_of_neighbours();
        match first {
            _ if !self.is_strict[source.chunk] => self.several(&[Part {
                source,
                first: sequence.keys[0],
                last: sequence.keys[0],
            }]),
            Some(first) if source.said.is_full() => Events {
                keys: Cow::Borrowed(&sequence.keys),
                cells: Cells::Neighbours(source.cell(chunk, first)),
            },
            _ => {
                let rows = sequence.keys.iter().enumerate();
                let rows = rows.map(|(at, key)| (*key, sequence.row(at)));
                let rows = rows.filter(|(_, row)| source.said.is_present(*row));
                let (keys, cells) = rows
                    .map(|(key, row)| (key, source.cell(chunk, row)))
                    .unzip();
                Events {
                    keys: Cow::Owned(keys),
                    cells: Cells::Picked(cells),
                }
            }
        }
    }

    /// What several chunks say together: of values with one key, the last.
    fn several(&self, parts: &[Part<'_, K>]) -> Events<'_, K> {
        let mut said: Vec<(K, Rank, Cell)> = Vec::new();
        for Part { source, .. } in parts {
            let sequence = &self.sequences[source.chunk];
            let chunk = &self.sources.chunks[source.chunk];
            let rows = sequence.keys.iter().enumerate();
            let rows = rows.map(|(at, key)| (*key, sequence.row(at)));
            let rows = rows.filter(|(_, row)| source.said.is_present(*row));
            said.extend(rows.map(|(key, row)| (key, chunk.rank(row), source.cell(chunk, row))));
        }
        // They come as ascending parts, which a stable sort makes use of.
        said.sort_by_key(|(key, rank, _)| (*key, *rank));
        // The last of one key, and the first of those that are equal in rank.
        said.dedup_by(|next, last| {
            let is_same = next.0 == last.0;
            if is_same && last.1 < next.1 {
                *last = *next;
            }
            is_same
        });
        let (keys, cells) = said.into_iter().map(|(key, _, cell)| (key, cell)).unzip();
        Events {
            keys: Cow::Owned(keys),
            cells: Cells::Picked(cells),
        }
    }
}

/// The keys that a chunk reaches over.
struct Part<'a, K> {
    source: &'a Source<'a>,
    first: K,
    last: K,
}

/// Cells of a component, by ascending key, each key once.
struct Events<'a, K: Key> {
    keys: Cow<'a, [K]>,
    cells: Cells,
}

enum Cells {
    /// Neighbours, from this one on.
    Neighbours(Cell),
    Picked(Vec<Cell>),
}

impl<K: Key> Events<'_, K> {
    fn cell(&self, at: usize) -> Cell {
        match &self.cells {
            Cells::Neighbours(first) => first.after(at),
            Cells::Picked(cells) => cells[at],
        }
    }

    /// Appends to `runs` all cells, if their keys are `keys`; says whether it did.
    fn take_all(&self, keys: &[K], runs: &mut Runs) -> bool {
        let is_all = *self.keys == *keys;
        match &self.cells {
            _ if !is_all => {}
            Cells::Neighbours(first) => runs.push_from(*first, keys.len()),
            Cells::Picked(cells) => cells.iter().for_each(|&cell| runs.push(Some(cell))),
        }
        is_all
    }

    /// Appends to `runs` what stands at `keys`.
    fn match_with(&self, keys: &[K], runs: &mut Runs) {
        if self.take_all(keys, runs) {
            return;
        }
        let mut at = 0;
        for key in keys {
            at += gallop(&self.keys[at..], |known| known < key);
            let is_there = self.keys.get(at) == Some(key);
            runs.push(is_there.then(|| self.cell(at)));
        }
    }

    /// Appends to `runs` what stands last at or before `keys`, none of which is before the first event.
    fn fill(&self, keys: &[K], runs: &mut Runs) {
        if self.take_all(keys, runs) {
            return;
        }
        let mut at = 0;
        for key in keys {
            at += gallop(&self.keys[at..], |known| known <= key);
            runs.push(at.checked_sub(1).map(|at| self.cell(at)));
        }
    }
}
