//! What a reader asks a source to plan.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{ComponentName, EntityPath, SegmentId, TimeRange};

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
    /// Chunks with the timeline `index` that may have a value in `range`.
    Index {
        /// Name of the timeline.
        index: Arc<str>,
        /// Values of interest.
        range: TimeRange,
    },
}
