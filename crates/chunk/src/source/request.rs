//! What a reader asks a source to plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{ComponentName, EntityPath, Fill, SegmentId, TimeRange};

/// Asks for the chunks of a dataset that a read needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRequest {
    /// Name of the dataset.
    pub dataset: Arc<str>,
    /// Entities, and of each the components that count. None select nothing.
    pub entities: Vec<EntitySelection>,
    /// Segments; `None` for all.
    pub segments: Option<BTreeSet<SegmentId>>,
    /// Which chunks by time.
    pub time: TimeSelection,
}

/// An entity, and which of its components count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntitySelection {
    /// The entity.
    pub entity: EntityPath,
    /// The components; chunks with none of them are of no use.
    pub components: BTreeSet<ComponentName>,
}

/// Which chunks a read needs by time. Static chunks are always among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeSelection {
    /// Static chunks only.
    Static,
    /// Chunks with the timeline `index` that may have a value in `range`; to fill, also those that may have the last
    /// value of a component before it. An empty range has nothing before it.
    Index {
        /// Name of the timeline.
        index: Arc<str>,
        /// Values of interest.
        range: TimeRange,
        /// Whether what is before the range counts.
        fill: Fill,
    },
    /// Chunks with the timeline `index` that may have a value at one of the index values that are given for their
    /// segment; to fill, also those that may have the last value of a component before one.
    ///
    /// Segments without index values are not read, whatever [`PlanRequest::segments`] says.
    Samples {
        /// Name of the timeline.
        index: Arc<str>,
        /// Of each segment the values of interest, ascending; segments with none are not read either.
        values: Arc<BTreeMap<SegmentId, Vec<i64>>>,
        /// Whether what is before them counts.
        fill: Fill,
    },
}

impl TimeSelection {
    /// The timeline by which chunks are chosen.
    pub fn index(&self) -> Option<&Arc<str>> {
        match self {
            Self::Static => None,
            Self::Index { index, .. } | Self::Samples { index, .. } => Some(index),
        }
    }
}

impl PlanRequest {
    /// Whether chunks of `segment` may be among those that are asked for.
    pub fn wants(&self, segment: &SegmentId) -> bool {
        let has_values = match &self.time {
            TimeSelection::Samples { values, .. } => {
                values.get(segment).is_some_and(|values| !values.is_empty())
            }
            TimeSelection::Static | TimeSelection::Index { .. } => true,
        };
        let named = self.segments.as_ref();
        has_values && named.is_none_or(|named| named.contains(segment))
    }
}
