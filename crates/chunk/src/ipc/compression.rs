//! Compression of whole streams, and of single buffers within one.

use std::io::Read;

use arrow::buffer::{Buffer, MutableBuffer};
use bytes::Bytes;
use lz4_flex::frame::FrameDecoder;

use super::error::{IpcError, Result};
use crate::source::Compression;

/// LZ4 cannot make more than this many bytes of one.
pub(super) const MAX_RATIO: u64 = 255;

/// Alignment, in bytes, below which a payload is copied. Wider values are aligned buffer by buffer.
const ALIGNMENT: usize = 8;

/// Undoes the compression of a whole payload.
///
/// The answer has `uncompressed_len` bytes. Without compression, 0 stands for an unknown length, and the
/// payload's own memory is used if it is aligned. A length that the payload cannot hold is refused before
/// memory is taken for it.
pub(crate) fn decompress(
    compression: Compression,
    uncompressed_len: u64,
    payload: &Bytes,
) -> Result<Buffer> {
    match compression {
        Compression::None => {
            let len = payload.len();
            if uncompressed_len != 0 && uncompressed_len != len as u64 {
                return Err(IpcError::malformed(format_args!(
                    "the payload has {len} bytes where {uncompressed_len} are announced"
                )));
            }
            if payload.as_ptr().align_offset(ALIGNMENT) == 0 {
                Ok(Buffer::from(payload.clone()))
            } else {
                Ok(Buffer::from_slice_ref(payload.as_ref()))
            }
        }
        Compression::Lz4 => {
            let mut out = room(uncompressed_len, payload.len())?;
            let len = lz4_flex::block::decompress_into(payload, &mut out)
                .map_err(|error| IpcError::malformed(format_args!("lz4 block: {error}")))?;
            full(len, &out)?;
            Ok(out.into())
        }
    }
}

/// Undoes the compression of one buffer of a record batch: eight bytes of length, then an LZ4 frame or,
/// where the length is -1, the plain bytes.
pub(super) fn decompress_buffer(buffer: &Buffer) -> Result<Buffer> {
    let Some((prefix, body)) = buffer.as_slice().split_first_chunk::<8>() else {
        if buffer.is_empty() {
            return Ok(buffer.clone());
        }
        let len = buffer.len();
        return Err(IpcError::malformed(format_args!(
            "a compressed buffer of {len} bytes is shorter than its length prefix"
        )));
    };
    match i64::from_le_bytes(*prefix) {
        -1 => Ok(buffer.slice(prefix.len())),
        0 if body.is_empty() => Ok(Buffer::default()),
        stated => {
            let len = u64::try_from(stated).map_err(|_| {
                IpcError::malformed(format_args!("a compressed buffer states {stated} bytes"))
            })?;
            let mut out = room(len, body.len())?;
            decode_frame(body, &mut out)?;
            Ok(out.into())
        }
    }
}

/// Length of what `buffer` holds, as it states it; what is wrong is found when it is decompressed.
pub(super) fn stated_len(buffer: &Buffer) -> u64 {
    match buffer.as_slice().first_chunk::<8>() {
        Some(prefix) => i64::from_le_bytes(*prefix).try_into().unwrap_or(0),
        None => 0,
    }
}

/// Zeroed memory for `len` bytes, if `compressed` bytes can hold them.
fn room(len: u64, compressed: usize) -> Result<MutableBuffer> {
    /// What a few bytes of header may be off by.
    const SLACK: u64 = 64;
    let most = (compressed as u64)
        .saturating_mul(MAX_RATIO)
        .saturating_add(SLACK);
    match usize::try_from(len) {
        Ok(bytes) if len <= most => Ok(MutableBuffer::from_len_zeroed(bytes)),
        _ => Err(IpcError::malformed(format_args!(
            "{len} bytes cannot come of {compressed} compressed ones"
        ))),
    }
}

/// Decodes the one LZ4 frame that `frame` is, zero padding behind it aside, into all of `out`.
fn decode_frame(frame: &[u8], out: &mut [u8]) -> Result<()> {
    let damaged = |error| IpcError::malformed(format_args!("lz4 frame: {error}"));
    // The decoder takes the end of its input for the end of the frame. Behind this, it finds the size of a
    // block, and one that no block can have: a frame that is cut is an error.
    let endless = frame.chain(std::io::repeat(0xFF));
    let mut decoder = FrameDecoder::new(endless);
    decoder.read_exact(out).map_err(damaged)?;
    let more = decoder.read(&mut [0]).map_err(damaged)?;
    let (rest, _) = decoder.into_inner().into_inner();
    if more > 0 || rest.iter().any(|byte| *byte != 0) {
        return Err(IpcError::malformed("lz4 frame: something follows it"));
    }
    Ok(())
}

fn full(len: usize, out: &[u8]) -> Result<()> {
    if len == out.len() {
        return Ok(());
    }
    let stated = out.len();
    Err(IpcError::malformed(format_args!(
        "{len} bytes came of compressed ones where {stated} are stated"
    )))
}
