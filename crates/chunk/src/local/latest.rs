//! Which chunks may hold the latest values at some times.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::model::TimeRange;
use crate::schema::keys::CLEAR_COMPONENT;

/// What is known of a chunk that has the timeline. All are of one entity.
#[derive(Clone, Debug)]
pub struct Timed<'a> {
    /// Its first and last time; `None` where that is not known.
    pub range: Option<TimeRange>,
    /// The components that are asked for and have a value in it; `None` where that is not known.
    pub components: Option<Vec<&'a str>>,
}

/// Whether each of `chunks` may hold the latest value of some component at one of `samples`, which ascend.
///
/// Of the chunks with a component that end at or before a time, the one that starts last has a value no
/// earlier than its start. What ends before that start is superseded at that time; whatever else has
/// started may matter. A chunk of which less is known supersedes nothing. Nor does a Clear: an earlier one
/// may reach further down the tree of entities.
pub fn needed(chunks: &[Timed<'_>], samples: &[i64]) -> Vec<bool> {
    let Some(&last) = samples.last() else {
        return vec![false; chunks.len()];
    };
    let mut needed = vec![false; chunks.len()];
    let mut components: HashMap<&str, Vec<(usize, TimeRange)>> = HashMap::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let Some(range) = chunk.range else {
            needed[at] = true;
            continue;
        };
        let Some(names) = &chunk.components else {
            needed[at] = range.start <= last;
            continue;
        };
        for name in names {
            match *name {
                CLEAR_COMPONENT => needed[at] |= range.start <= last,
                name => components.entry(name).or_default().push((at, range)),
            }
        }
    }
    for chunks in components.into_values() {
        let latest = LatestStarts::new(&chunks);
        for (at, range) in chunks {
            needed[at] |= latest.leave(range, samples);
        }
    }
    needed
}

/// By time, the latest start among the chunks that have ended.
struct LatestStarts {
    /// Ends, ascending, each with the latest start among those that end there or before.
    by_end: Vec<(i64, i64)>,
}

impl LatestStarts {
    fn new(chunks: &[(usize, TimeRange)]) -> Self {
        let ranges = chunks.iter().map(|(_, range)| (range.end, range.start));
        let mut by_end: Vec<(i64, i64)> = ranges.collect();
        by_end.sort_unstable();
        let mut latest = i64::MIN;
        for (_, start) in &mut by_end {
            latest = latest.max(*start);
            *start = latest;
        }
        Self { by_end }
    }

    /// The latest start among the chunks that end at `time` or before.
    fn at(&self, time: i64) -> Option<i64> {
        let ended = self.by_end.partition_point(|(end, _)| *end <= time);
        let (_, start) = self.by_end.get(ended.checked_sub(1)?)?;
        Some(*start)
    }

    /// Whether a chunk of `range` may hold the latest value at one of `samples`.
    ///
    /// The first sample at or after its start decides: it lies in the chunk, or, as starts only grow, the
    /// chunk is superseded later if it is superseded then.
    fn leave(&self, range: TimeRange, samples: &[i64]) -> bool {
        let next = samples.partition_point(|time| *time < range.start);
        let Some(&time) = samples.get(next) else {
            return false;
        };
        time <= range.end || self.at(time).is_none_or(|start| start <= range.end)
    }
}
