//! Which rows there are.

use std::borrow::Cow;

use arrow::buffer::BooleanBuffer;

use super::merge::{intersection, union};
use super::order::{Key, Sequence, gallop};
use super::sources::{Said, Sources};
use super::{RowKey, SegmentChunks, StaticCells};
use crate::model::TimeRange;

/// The first `limit` rows in `windows` that do not come before `from`, and the one after them.
pub(super) fn row_keys<K: Key>(
    chunks: &SegmentChunks<'_>,
    sources: &Sources<'_>,
    statics: &StaticCells,
    windows: &[TimeRange],
    from: RowKey,
    limit: usize,
) -> (Vec<K>, Option<K>) {
    let needed = chunks.not_null.iter().copied();
    let needed: Vec<usize> = needed.filter(|&at| statics[at].is_none()).collect();
    let most = limit.saturating_add(1);
    let mut keys = Vec::new();
    if let Some(from) = K::not_before(from) {
        let candidates = Candidates {
            sources,
            needed: &needed,
            samples: chunks.samples,
            logged: logged(sources),
        };
        for window in windows {
            let first = from.max(K::at(window.start));
            if first.time() <= window.end && keys.len() < most {
                candidates.between(first, window.end, most, &mut keys);
            }
        }
    }
    let rest = keys.get(limit).copied();
    keys.truncate(limit);
    (keys, rest)
}

/// What rows are found in.
struct Candidates<'a> {
    sources: &'a Sources<'a>,
    /// Components that must have a value of the row's own.
    needed: &'a [usize],
    /// The index values at which there is a row.
    samples: Option<&'a [i64]>,
    /// Of each chunk, the rows with some value; `None` for all.
    logged: Vec<Option<BooleanBuffer>>,
}

impl Candidates<'_> {
    /// Appends the rows from `first` to the index value `last`, as far as there are less than `most`.
    fn between<K: Key>(&self, first: K, last: i64, most: usize, keys: &mut Vec<K>) {
        if let (Some(samples), []) = (self.samples, self.needed) {
            let start = samples.partition_point(|&time| K::at(time) < first);
            let wanted = samples[start..].iter().copied();
            let wanted = wanted.take_while(|&time| time <= last).map(K::at);
            keys.extend(wanted.take(most - keys.len()));
            keys.dedup();
            return;
        }
        let mut first = first;
        // Piece by piece, so that no more is looked at than there are rows to find.
        loop {
            let end = self.piece(first.time(), last, most);
            let left = most - keys.len();
            let found = match self.needed {
                [] => self.anything(first, end, left),
                needed => self.together(needed, first, end),
            };
            keys.extend(found.into_iter().take(left));
            match end.checked_add(1) {
                Some(next) if end < last && keys.len() < most => first = K::at(next),
                _ => return,
            }
        }
    }

    /// An index value between `first` and `last` up to which no chunk has many more than `most` rows.
    fn piece(&self, first: i64, last: i64, most: usize) -> i64 {
        let ends = self.sources.chunks.iter().filter_map(|chunk| {
            let start = chunk.times.partition_point(|time| *time < first);
            let end = start.checked_add(most)?;
            chunk.times.get(end).filter(|_| chunk.is_sorted).copied()
        });
        ends.fold(last, i64::min)
    }

    /// The first `most` rows at which some component has a value of its own.
    fn anything<K: Key>(&self, first: K, last: i64, most: usize) -> Vec<K> {
        let chunks = self.sources.chunks.iter().zip(&self.logged);
        let lists = chunks.map(|(chunk, logged)| {
            let sequence = K::sequence(chunk, first, last);
            present(sequence, logged.as_ref())
        });
        let lists: Vec<Cow<'_, [K]>> = lists.collect();
        union(lists.iter().map(AsRef::as_ref).collect(), most)
    }

    /// The rows at which all of the `needed` components have a value of their own, and which are asked for.
    fn together<K: Key>(&self, needed: &[usize], first: K, last: i64) -> Vec<K> {
        let of = |&component: &usize| {
            let sources = self.sources.by_component[component].iter();
            let lists = sources.map(|source| {
                let sequence = K::sequence(&self.sources.chunks[source.chunk], first, last);
                present(sequence, source.said.present())
            });
            let lists: Vec<Cow<'_, [K]>> = lists.collect();
            union(lists.iter().map(AsRef::as_ref).collect(), usize::MAX)
        };
        let all = needed.iter().map(of);
        let mut keys = all.reduce(|a, b| intersection(&a, &b)).unwrap_or_default();
        if let Some(mut samples) = self.samples {
            keys.retain(|key| {
                samples = &samples[gallop(samples, |time| *time < key.time())..];
                samples.first() == Some(&key.time())
            });
        }
        keys
    }
}

/// Of each chunk, the rows with some value; `None` for all.
fn logged(sources: &Sources<'_>) -> Vec<Option<BooleanBuffer>> {
    let mut of_chunk: Vec<Vec<&Said<'_>>> = vec![Vec::new(); sources.chunks.len()];
    for source in sources.by_component.iter().flatten() {
        of_chunk[source.chunk].push(&source.said);
    }
    let logged = of_chunk.iter().map(|said| {
        let present: Option<Vec<_>> = said.iter().map(|said| said.present()).collect();
        // If one says something in each row, there is no more to find out.
        let mut present = present?.into_iter();
        let first = present.next()?.clone();
        Some(present.fold(first, |all, present| &all | present))
    });
    logged.collect()
}

/// The keys of the rows that are `present`; of all, if that is `None`.
fn present<'a, K: Key>(sequence: Sequence<'a, K>, present: Option<&BooleanBuffer>) -> Cow<'a, [K]> {
    let Some(present) = present else {
        return sequence.keys;
    };
    let keys = sequence.keys.iter().enumerate();
    let keys = keys.filter(|(at, _)| present.value(sequence.row(*at)));
    keys.map(|(_, key)| *key).collect()
}
