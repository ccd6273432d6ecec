//! What a read asks for.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use segue_chunk::rrd::ChunkEntry;
use segue_chunk::schema::keys::CLEAR_COMPONENT;
use segue_chunk::{ComponentName, EntityPath, SegmentId, TimeRange};

/// Asks for the chunks that a read needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChunkQuery {
    /// What is read.
    pub(crate) entities: Entities,
    /// Segments; `None` for all.
    pub(crate) segments: Option<BTreeSet<SegmentId>>,
    /// Which temporal chunks.
    pub(crate) times: Times,
    /// Whether static chunks are among them.
    pub(crate) with_static: bool,
    /// Whether temporal chunks are among them at all.
    pub(crate) with_temporal: bool,
}

/// Entities, and what is read of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entities {
    All(Components),
    These(HashMap<EntityPath, Components>),
}

/// Components of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Components {
    All,
    These(HashSet<ComponentName>),
}

/// Which temporal chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// All.
    All,
    /// Those that some term wants; without a term, none.
    Terms(Vec<Term>),
}

/// Wants chunks by their times on one timeline. Those without it are of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) timeline: Arc<str>,
    pub(crate) wanted: Wanted,
}

/// Which values are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those in a range.
    Range(TimeRange),
    /// Those at some times.
    At(Samples),
    /// Those at some times, or else the latest before.
    LatestAt(Samples),
}

/// Some times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Samples {
    /// One for all segments.
    Everywhere([i64; 1]),
    /// Of each segment its own, ascending.
    BySegment(HashMap<SegmentId, Vec<i64>>),
}

impl Entities {
    /// What is read of `entity`; `None` for nothing.
    pub(crate) fn components(&self, entity: &EntityPath) -> Option<&Components> {
        match self {
            Self::All(components) => Some(components),
            Self::These(entities) => entities.get(entity),
        }
    }

    /// Whether `chunk` has something of what is read, or may have.
    pub(crate) fn select(&self, chunk: &ChunkEntry) -> bool {
        match (self.components(&chunk.entity), &chunk.components) {
            (None, _) => false,
            // A chunk without a value is still one of its entity.
            (Some(Components::All), _) => true,
            (Some(Components::These(_)), None) => true,
            (Some(wanted), Some(names)) => names.iter().any(|name| wanted.has(name)),
        }
    }
}

impl Components {
    /// Whether `name` is read. A Clear always is: it changes what the other components are.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => name == CLEAR_COMPONENT || names.contains(name),
        }
    }

    /// Adds what `other` has.
    pub(crate) fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::All, _) => {}
            (all, Self::All) => *all = Self::All,
            (Self::These(names), Self::These(more)) => names.extend(more),
        }
    }
}

impl Samples {
    /// The times of each segment, in any order and any number of times.
    pub(crate) fn by_segment(times: impl IntoIterator<Item = (SegmentId, Vec<i64>)>) -> Self {
        let times = times.into_iter().map(|(segment, mut times)| {
            times.sort_unstable();
            times.dedup();
            (segment, times)
        });
        Self::BySegment(times.collect())
    }

    /// Those of `segment`, ascending.
    pub(crate) fn of(&self, segment: &SegmentId) -> &[i64] {
        match self {
            Self::Everywhere(time) => time,
            Self::BySegment(times) => times.get(segment).map(Vec::as_slice).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_is_read_whatever_is_asked_for() {
        let some = Components::These(["x".into()].into());
        assert!(some.has("x") && some.has(CLEAR_COMPONENT) && !some.has("y"));
    }
}
