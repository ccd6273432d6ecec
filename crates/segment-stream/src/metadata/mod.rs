//! Tables about a dataset rather than of its values: its segments, its chunks.
//!
//! Their columns follow from those of the dataset, so that making one costs no request; what is in them is asked
//! for when they are scanned.

mod chunks;
mod rows;
mod segments;

pub use chunks::ChunksTable;
pub use segments::SegmentsTable;
