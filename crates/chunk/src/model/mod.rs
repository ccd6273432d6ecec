//! What a chunk is: identifiers, entity paths, timelines, and the chunk itself.

mod chunk;
mod entity;
mod fill;
mod ids;
mod timeline;

pub(crate) use chunk::corrupt;
pub use chunk::{Chunk, ChunkParts, ComponentName, ComponentValues, RowIds, TimeColumn};
pub use entity::EntityPath;
pub use fill::Fill;
pub use ids::{ChunkId, RowId, SegmentId};
pub use timeline::{TimeKind, TimeRange, Timeline};
