//! Chunk keys: all that is needed to find a chunk, in bytes that mean something to this server only.

use bytes::{Buf as _, BufMut as _, Bytes};
use segue_chunk::{ChunkId, ChunkInfo, SegmentId};
use xxhash_rust::xxh3::xxh3_64;

use crate::entry::EntryId;

/// First byte of every key, so that another layout is told from this one.
const VERSION: u8 = 1;
/// Bytes of what every key has: version, static or not, entry, chunk, its length, length of the segment, checksum.
const FIXED_LEN: usize = 1 + 1 + 16 + 16 + 8 + 4 + 8;

/// A chunk of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChunkKey {
    pub(crate) entry: EntryId,
    pub(crate) segment: SegmentId,
    pub(crate) chunk: ChunkId,
    pub(crate) is_static: bool,
    /// Bytes of the chunk as it is stored, so that it is known how many chunks to read in one go.
    pub(crate) len: u64,
    /// What finds it in its source. Names a file by number, not by its path.
    pub(crate) source: Bytes,
}

impl ChunkKey {
    /// The key of the chunk that `info` tells of.
    pub(crate) fn new(entry: EntryId, info: &ChunkInfo) -> Self {
        Self {
            entry,
            segment: info.segment.clone(),
            chunk: info.id,
            is_static: info.is_static,
            len: info.byte_len,
            source: info.key.clone(),
        }
    }

    /// The bytes of the key.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let segment = self.segment.as_str();
        let mut key = Vec::with_capacity(FIXED_LEN + segment.len() + self.source.len());
        key.put_u8(VERSION);
        key.put_u8(u8::from(self.is_static));
        key.put_slice(&self.entry.to_be_bytes());
        key.put_slice(&self.chunk.to_be_bytes());
        key.put_u64_le(self.len);
        // A name that is longer than this cannot be sent either.
        key.put_u32_le(u32::try_from(segment.len()).unwrap_or(u32::MAX));
        key.put_slice(segment.as_bytes());
        key.put_slice(&self.source);
        // Tells what was damaged or made up; what is read is checked in any case.
        key.put_u64_le(xxh3_64(&key));
        key
    }

    /// Reads a key; `None` when it is not one of ours.
    pub(crate) fn decode(key: &[u8]) -> Option<Self> {
        let (body, checksum) = key.split_last_chunk::<8>()?;
        if key.len() < FIXED_LEN || xxh3_64(body) != u64::from_le_bytes(*checksum) {
            return None;
        }
        let mut rest = body;
        if rest.get_u8() != VERSION {
            return None;
        }
        let is_static = match rest.get_u8() {
            0 => false,
            1 => true,
            _ => return None,
        };
        let entry = EntryId::from_be_bytes(rest.get_u128().to_be_bytes());
        let chunk = ChunkId::from(rest.get_u128());
        let len = rest.get_u64_le();
        let segment_len = usize::try_from(rest.get_u32_le()).ok()?;
        let (segment, source) = rest.split_at_checked(segment_len)?;
        Some(Self {
            entry,
            segment: std::str::from_utf8(segment).ok()?.into(),
            chunk,
            is_static,
            len,
            source: Bytes::copy_from_slice(source),
        })
    }

    /// What the source is told to fetch. Only what a source needs to find and check the chunk is in it.
    pub(crate) fn into_info(self) -> ChunkInfo {
        ChunkInfo {
            id: self.chunk,
            segment: self.segment,
            layer: "".into(),
            entity: "/".into(),
            is_static: self.is_static,
            byte_len: self.len,
            byte_len_uncompressed: None,
            start: None,
            end: None,
            num_rows: None,
            key: self.source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(segment: &str, source: &'static [u8]) -> ChunkKey {
        ChunkKey {
            entry: EntryId::of("d"),
            segment: segment.into(),
            chunk: ChunkId::from(7),
            is_static: true,
            len: u64::MAX,
            source: Bytes::from_static(source),
        }
    }

    #[test]
    fn a_key_says_what_went_into_it() {
        for key in [key("größe", b"where"), key("", b""), key("s", b"")] {
            assert_eq!(ChunkKey::decode(&key.encode()), Some(key));
        }
    }

    #[test]
    fn what_was_cut_or_changed_is_no_key() {
        let good = key("segment", b"where").encode();
        for cut in 0..good.len() {
            assert_eq!(ChunkKey::decode(&good[..cut]), None, "{cut}");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert_eq!(ChunkKey::decode(&bad), None, "{at}");
        }
        assert_eq!(ChunkKey::decode(&[good, vec![0]].concat()), None);
    }

    #[test]
    fn what_was_made_up_with_a_checksum_is_no_key_unless_it_makes_sense() {
        let sealed = |mut body: Vec<u8>| {
            body.put_u64_le(xxh3_64(&body));
            ChunkKey::decode(&body)
        };
        let good = key("s", b"").encode();
        let body = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut body = good[..good.len() - 8].to_vec();
            change(&mut body);
            body
        };
        assert!(sealed(body(&|_| {})).is_some());
        assert_eq!(sealed(body(&|b| b[0] = 2)), None);
        assert_eq!(sealed(body(&|b| b[1] = 2)), None);
        assert_eq!(sealed(body(&|b| b[42..46].fill(0xff))), None);
        assert_eq!(sealed(body(&|b| *b.last_mut().unwrap() = 0xff)), None);
        assert_eq!(sealed(vec![VERSION]), None);
    }
}
