//! What a response must hold.

use std::collections::HashMap;

use segue_chunk::{ChunkId, ChunkInfo, EncodedChunk, SegmentId};
use segue_error::{Error, ErrorCode, Result};

/// What a message may have beside the payloads of its chunks, per chunk: ids, names, framing.
const OVERHEAD: u64 = 16 * 1024;
/// What every message may have beside.
const SLACK: u64 = 1024 * 1024;

/// The chunks of one request, and which of them have come.
pub(super) struct Expected {
    chunks: HashMap<(SegmentId, ChunkId), Awaited>,
    missing: usize,
}

struct Awaited {
    /// Most bytes of the payload.
    most: u64,
    has_come: bool,
}

impl Expected {
    /// All of `chunks`, none of which has come.
    pub(super) fn new(chunks: Vec<ChunkInfo>) -> Self {
        let chunks = chunks.into_iter().map(|info| {
            // Compressed or not, as the server likes.
            let most = info.byte_len.max(info.byte_len_uncompressed.unwrap_or(0));
            let awaited = Awaited {
                most,
                has_come: false,
            };
            ((info.segment, info.id), awaited)
        });
        let chunks: HashMap<_, _> = chunks.collect();
        Self {
            missing: chunks.len(),
            chunks,
        }
    }

    /// Bytes of a message that holds all chunks.
    pub(super) fn largest_message(&self) -> usize {
        let each = self.chunks.values();
        let bytes = each.fold(SLACK, |bytes, chunk| {
            bytes.saturating_add(chunk.most).saturating_add(OVERHEAD)
        });
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Takes note of `chunk`, and gives it back. `source_over_delivered` when it came before or was not
    /// asked for, `invalid_response` when it is longer than announced.
    pub(super) fn take(&mut self, chunk: EncodedChunk) -> Result<EncodedChunk> {
        let (id, segment) = (chunk.id, &chunk.segment);
        let over = |how: &str| {
            let message = format!("chunk {id} of segment '{segment}' came {how}");
            Err(of_chunk(
                ErrorCode::SourceOverDelivered,
                message,
                segment,
                id,
            ))
        };
        let awaited = self.chunks.get_mut(&(segment.clone(), id));
        match awaited {
            None => over("without being asked for"),
            Some(awaited) if awaited.has_come => over("twice"),
            Some(awaited) => {
                let len = chunk.payload.len() as u64;
                if len > awaited.most {
                    let most = awaited.most;
                    let message = format!(
                        "chunk {id} of segment '{segment}' has {len} bytes where {most} are announced"
                    );
                    return Err(of_chunk(ErrorCode::InvalidResponse, message, segment, id));
                }
                awaited.has_come = true;
                self.missing -= 1;
                Ok(chunk)
            }
        }
    }

    /// `source_under_delivered` unless all have come.
    pub(super) fn finish(&self) -> Result<()> {
        // One of them, and always the same.
        let absent = self.chunks.iter().filter(|(_, chunk)| !chunk.has_come);
        let Some(((segment, id), _)) = absent.min_by_key(|(key, _)| *key) else {
            return Ok(());
        };
        let missing = self.missing;
        let message = format!(
            "chunk {id} of segment '{segment}' did not come ({missing} of those asked for are missing)"
        );
        let error = of_chunk(ErrorCode::SourceUnderDelivered, message, segment, *id);
        Err(error.with_fact("missing", missing))
    }
}

fn of_chunk(code: ErrorCode, message: String, segment: &SegmentId, id: ChunkId) -> Error {
    Error::new(code, "client.fetch", message)
        .with_fact("segment", segment.as_str())
        .with_fact("chunk_id", id.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use bytes::Bytes;
    use segue_chunk::Compression;

    use super::*;

    /// A chunk of `size` bytes of the segment `s`.
    pub(in crate::fetch) fn info(id: u64, size: u64) -> ChunkInfo {
        ChunkInfo {
            id: ChunkId::from_parts(0, id),
            segment: "s".into(),
            layer: "base".into(),
            entity: "/a".into(),
            is_static: false,
            byte_len: size,
            byte_len_uncompressed: None,
            start: Some(0),
            end: None,
            num_rows: None,
            key: Bytes::from(id.to_le_bytes().to_vec()),
        }
    }

    fn chunk(id: u64, len: usize) -> EncodedChunk {
        EncodedChunk {
            segment: "s".into(),
            id: ChunkId::from_parts(0, id),
            compression: Compression::None,
            uncompressed_len: len as u64,
            payload: vec![0; len].into(),
        }
    }

    #[test]
    fn each_chunk_comes_once() {
        let mut expected = Expected::new(vec![info(1, 10), info(2, 20)]);
        expected.take(chunk(2, 20)).unwrap();
        assert_eq!(
            expected.take(chunk(2, 20)).unwrap_err().code(),
            ErrorCode::SourceOverDelivered
        );
        assert_eq!(
            expected.take(chunk(3, 1)).unwrap_err().code(),
            ErrorCode::SourceOverDelivered
        );
        let error = expected.finish().unwrap_err();
        assert_eq!(error.code(), ErrorCode::SourceUnderDelivered);
        let missing = ChunkId::from_parts(0, 1).to_string();
        assert!(
            error.message().contains(&missing) && error.message().contains("(1 of"),
            "{error}"
        );
        expected.take(chunk(1, 9)).unwrap();
        expected.finish().unwrap();
    }

    #[test]
    fn a_chunk_is_not_longer_than_announced() {
        let mut expected = Expected::new(vec![info(1, 10)]);
        let error = expected.take(chunk(1, 11)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidResponse);
        let compressed = ChunkInfo {
            byte_len_uncompressed: Some(30),
            ..info(1, 10)
        };
        Expected::new(vec![compressed]).take(chunk(1, 30)).unwrap();
    }

    #[test]
    fn a_message_may_be_as_large_as_all_its_chunks_and_a_little_more() {
        let all = 10 + 20 + 2 * OVERHEAD + SLACK;
        let expected = Expected::new(vec![info(1, 10), info(2, 20)]);
        assert_eq!(expected.largest_message() as u64, all);
        let huge = Expected::new(vec![info(1, u64::MAX), info(2, 1)]);
        assert_eq!(huge.largest_message(), usize::MAX);
    }
}
