//! A chunk as it is stored and sent.

use bytes::Bytes;

use crate::model::{ChunkId, SegmentId};

/// How the bytes of an encoded chunk are compressed as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// As they are.
    #[default]
    None,
    /// One LZ4 block (not a frame).
    Lz4,
}

/// An encoded chunk: an Arrow IPC stream of one schema and one record batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedChunk {
    /// Segment that the chunk belongs to.
    pub segment: SegmentId,
    /// Identity.
    pub id: ChunkId,
    /// How `payload` is compressed.
    pub compression: Compression,
    /// Length of the payload once decompressed, in bytes, as its source states it. Unchecked.
    pub uncompressed_len: u64,
    /// The bytes.
    pub payload: Bytes,
}
