//! Single chunks of a recording.

use segue_error::Result;

use super::error::damaged;
use super::frame::{
    Input, MAX_MESSAGE_LEN, MESSAGE_HEADER_LEN, STREAM_HEADER_LEN, announces_chunk,
};
use super::read_at::ReadAt;
use crate::model::{ChunkId, SegmentId};
use crate::source::{Compression, EncodedChunk};
use crate::wire::ArrowMessage;

/// Where a chunk lies in a file, and what must be found there.
#[derive(Clone, Copy, Debug)]
pub struct ChunkPlace<'a> {
    /// Recording id of its store.
    pub segment: &'a SegmentId,
    /// Application of its store.
    pub application: Option<&'a str>,
    /// Identity.
    pub id: ChunkId,
    /// Whether it has no timeline.
    pub is_static: bool,
    /// Where the body of its message starts.
    pub offset: u64,
    /// Bytes of that body.
    pub len: u64,
    /// Bytes of the chunk once decompressed, where known.
    pub uncompressed_len: Option<u64>,
}

/// Reads the chunk at `place` of the recording `bytes`, which errors call `name`.
///
/// The payload is a part of the buffer that was read. `chunk_corrupt` when something else stands there.
pub fn read_chunk(bytes: &dyn ReadAt, name: &str, place: ChunkPlace<'_>) -> Result<EncodedChunk> {
    let wrong = |reason: String| damaged(name, place.offset, reason);
    let end = place.offset.checked_add(place.len);
    let Some(header_at) = place.offset.checked_sub(MESSAGE_HEADER_LEN) else {
        return Err(wrong("no chunk can start here".to_owned()));
    };
    let fits = end.is_some_and(|end| end <= bytes.size()) && place.len <= MAX_MESSAGE_LEN;
    if header_at < STREAM_HEADER_LEN || !fits {
        let len = place.len;
        return Err(wrong(format!("no chunk of {len} bytes can stand here")));
    }
    let input = Input { bytes, name };
    // The header first: only what the file itself says is read at its full length.
    if !announces_chunk(input.array(header_at)?, place.len) {
        let (id, len) = (place.id, place.len);
        return Err(wrong(format!(
            "chunk {id} of {len} bytes is said to be here and is not"
        )));
    }
    let body = input.read(place.offset, place.len)?;
    let message = ArrowMessage::decode(body.into()).map_err(wrong)?;
    let store = &message.store;
    if store.is_blueprint
        || *store.recording != *place.segment.as_str()
        || store.application.as_deref() != place.application
    {
        let (found, segment) = (&store.recording, place.segment);
        return Err(wrong(format!(
            "a chunk of store '{found}' where '{segment}' was written"
        )));
    }
    let encoded = message.encoded;
    if encoded.id != place.id {
        let (found, id) = (encoded.id, place.id);
        return Err(wrong(format!("chunk {found} where {id} is said to be")));
    }
    if message
        .is_static
        .is_some_and(|is_static| is_static != place.is_static)
    {
        return Err(wrong(format!(
            "chunk {} is static in one place only",
            place.id
        )));
    }
    let lengths_agree = match (encoded.compression, place.uncompressed_len) {
        (Compression::Lz4, Some(len)) => encoded.uncompressed_len == len,
        _ => true,
    };
    if !lengths_agree {
        let (id, found) = (place.id, encoded.uncompressed_len);
        return Err(wrong(format!(
            "chunk {id} has two uncompressed lengths, one of them {found}"
        )));
    }
    Ok(encoded)
}
