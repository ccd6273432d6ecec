//! The footer: found by the tail of the file, checked, and turned into an index.

use bytes::Bytes;
use prost::Message as _;
use segue_error::Result;
use segue_proto::log_msg::{RrdFooter, RrdManifest};
use xxhash_rust::xxh32::xxh32;

use super::error::{damaged, unsupported};
use super::frame::{FOURCC, Input, MAX_MESSAGE_LEN, MESSAGE_HEADER_LEN, STREAM_HEADER_LEN};
use super::index::{RecordingIndex, StoreIndex};
use super::manifest;
use super::read_at::ReadAt;
use crate::model::SegmentId;
use crate::wire::StoreKey;

/// Mark at the end of a file with a footer.
const MARK: [u8; 8] = *b"RRF2FOOT";
/// Bytes of the tail: offset, length, checksum, mark, number of footers.
const TAIL_LEN: u64 = 32;
/// Seed of the checksum.
const SEED: u32 = 7_850_921;

/// Where a footer lies, as the tail states it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FooterSpan {
    offset: u64,
    len: u64,
    checksum: u32,
}

/// The footer that the tail of the file names; `None` without such a tail.
pub(super) fn find(input: Input<'_>) -> Result<Option<FooterSpan>> {
    let Some(tail_at) = input.size().checked_sub(TAIL_LEN) else {
        return Ok(None);
    };
    if tail_at < STREAM_HEADER_LEN {
        return Ok(None);
    }
    let tail: [u8; TAIL_LEN as usize] = input.array(tail_at)?;
    let mut fields = &tail[..];
    let offset = take(&mut fields).map(u64::from_le_bytes);
    let len = take(&mut fields).map(u64::from_le_bytes);
    let checksum = take(&mut fields).map(u32::from_le_bytes);
    let mark = take::<8>(&mut fields);
    let count = take(&mut fields).map(u32::from_le_bytes);
    let (Some(offset), Some(len), Some(checksum), Some(count)) = (offset, len, checksum, count)
    else {
        return Ok(None);
    };
    if mark != Some(MARK) {
        return Ok(None);
    }
    if count != 1 {
        return Err(unsupported(input.name, format_args!("{count} footers")));
    }
    // The end message stands right before the tail. If it does not, the tail was not written for this file
    // as it is: recordings were put one behind the other, say.
    let is_right_before = offset.checked_add(len) == Some(tail_at);
    if offset < STREAM_HEADER_LEN + MESSAGE_HEADER_LEN || !is_right_before {
        return Ok(None);
    }
    if len > MAX_MESSAGE_LEN {
        let reason = format!("the footer is said to be {len} bytes");
        return Err(damaged(input.name, tail_at, reason));
    }
    Ok(Some(FooterSpan {
        offset,
        len,
        checksum,
    }))
}

/// Where the recording that stands behind the end message of another starts, if one does: `offset` is the
/// end of that message, and its tail may stand between.
pub(super) fn next_recording(input: Input<'_>, offset: u64) -> Result<Option<u64>> {
    for start in [offset, offset.saturating_add(TAIL_LEN)] {
        let header = start.checked_add(STREAM_HEADER_LEN);
        if header.is_some_and(|end| end <= input.size()) && input.array(start)? == FOURCC {
            return Ok(Some(start));
        }
    }
    Ok(None)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// Reads the footer at `span` and makes the index of it.
pub(super) fn read(input: Input<'_>, span: FooterSpan) -> Result<RecordingIndex> {
    let footer = checked(input, span)?;
    let mut stores: Vec<StoreIndex> = Vec::new();
    for manifest in &footer.manifests {
        if manifest::is_recording(manifest) {
            stores.push(manifest::read(input, manifest, span.offset)?);
        }
    }
    stores.retain(|store| !store.chunks.is_empty());
    Ok(RecordingIndex { stores })
}

/// The footer at `span`.
fn checked(input: Input<'_>, span: FooterSpan) -> Result<RrdFooter> {
    let body = Bytes::from(input.read(span.offset, span.len)?);
    if xxh32(&body, SEED) != span.checksum {
        return Err(damaged(input.name, span.offset, "footer checksum mismatch"));
    }
    decode(input, span.offset, body)
}

/// The manifest of the store that holds `segment` of `application`, as the footer of the recording `bytes` has
/// it; `None` without a footer. Errors call the recording `name`, and are those of
/// [`RecordingIndex::read`].
pub fn read_manifest(
    bytes: &dyn ReadAt,
    name: &str,
    segment: &SegmentId,
    application: Option<&str>,
) -> Result<Option<RrdManifest>> {
    let input = Input { bytes, name };
    let Some(span) = find(input)? else {
        return Ok(None);
    };
    let footer = checked(input, span)?;
    for manifest in footer.manifests {
        if manifest::is_recording(&manifest) {
            let store = StoreKey::from_wire(manifest.store_id.clone())
                .map_err(|reason| damaged(name, span.offset, reason))?;
            if *store.recording == *segment.as_str() && store.application.as_deref() == application
            {
                return Ok(Some(manifest));
            }
        }
    }
    Ok(None)
}

/// The footer in an end message whose body stands at `offset`.
pub(super) fn decode(input: Input<'_>, offset: u64, body: Bytes) -> Result<RrdFooter> {
    RrdFooter::decode(body).map_err(|e| damaged(input.name, offset, format_args!("footer: {e}")))
}
