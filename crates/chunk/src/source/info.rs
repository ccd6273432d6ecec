//! What is known of a chunk before it is fetched.

use std::sync::Arc;

use bytes::Bytes;

use crate::model::{ChunkId, EntityPath, SegmentId, TimeRange};

/// What a source announces of a chunk. Everything announced is checked against the chunk that comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Identity, unique within its segment.
    pub id: ChunkId,
    /// Segment that the chunk belongs to.
    pub segment: SegmentId,
    /// Layer of the segment that holds it.
    pub layer: Arc<str>,
    /// Entity that its values belong to.
    pub entity: EntityPath,
    /// Whether it has no timeline.
    pub is_static: bool,
    /// Bytes as stored or sent.
    pub byte_len: u64,
    /// Bytes once decompressed, where known.
    pub byte_len_uncompressed: Option<u64>,
    /// Smallest value on the requested index; `None` for static chunks and where not known.
    pub start: Option<i64>,
    /// Largest value on the requested index, where known.
    pub end: Option<i64>,
    /// Number of rows, where known.
    pub num_rows: Option<u64>,
    /// What the source needs to find the chunk again. Opaque to everybody else.
    pub key: Bytes,
}

impl ChunkInfo {
    /// First and last value on the requested index, where both are known.
    pub fn range(&self) -> Option<TimeRange> {
        Some(TimeRange::new(self.start?, self.end?))
    }

    /// Bytes that the decoded chunk is expected to take: those announced, else twice the bytes that are stored or sent.
    pub fn estimated_size(&self) -> u64 {
        let doubled = self.byte_len.saturating_mul(2);
        self.byte_len_uncompressed.unwrap_or(doubled)
    }
}
