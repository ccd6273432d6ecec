//! LZ4 frames (as in the LZ4 Frame Format Description, version 1.6), decoded straight into their target.
//!
//! A streaming decoder takes memory for the largest block that a frame's header allows, whatever comes;
//! this one takes none.

use xxhash_rust::xxh32::xxh32;

use super::error::{IpcError, Result};

const MAGIC: [u8; 4] = 0x184D_2204_u32.to_le_bytes();
/// How far back a block may refer to the ones before it.
const WINDOW: usize = 64 * 1024;

/// Parts of a frame's header that matter for its blocks.
struct Header {
    independent: bool,
    block_checksums: bool,
    content_checksum: bool,
    content_size: Option<u64>,
    max_block: usize,
}

/// Decodes the one frame that `input` is into `out`, and says how many bytes it had.
pub(super) fn decode_frame(input: &[u8], out: &mut [u8]) -> Result<usize> {
    let mut rest = input;
    let header = header(&mut rest)?;
    if header
        .content_size
        .is_some_and(|size| size != out.len() as u64)
    {
        return Err(damaged("its content size contradicts the buffer's"));
    }
    let mut at = 0;
    loop {
        let word = u32::from_le_bytes(take(&mut rest)?);
        if word == 0 {
            break;
        }
        let len = (word & 0x7fff_ffff) as usize;
        if len > header.max_block {
            return Err(damaged("a block is larger than its header allows"));
        }
        let Some((block, after)) = rest.split_at_checked(len) else {
            return Err(damaged("it ends within a block"));
        };
        rest = after;
        if header.block_checksums && u32::from_le_bytes(take(&mut rest)?) != xxh32(block, 0) {
            return Err(damaged("the checksum of a block is wrong"));
        }
        let (done, open) = out.split_at_mut(at);
        let open_len = open.len().min(header.max_block);
        let open = open.get_mut(..open_len).unwrap_or_default();
        let is_plain = word & 0x8000_0000 != 0;
        at += if is_plain {
            let target = open
                .get_mut(..len)
                .ok_or_else(|| damaged("it holds too much"))?;
            target.copy_from_slice(block);
            len
        } else if header.independent {
            lz4_flex::block::decompress_into(block, open).map_err(damaged)?
        } else {
            let history = done
                .get(done.len().saturating_sub(WINDOW)..)
                .unwrap_or_default();
            lz4_flex::block::decompress_into_with_dict(block, open, history).map_err(damaged)?
        };
    }
    let content = out.get(..at).unwrap_or_default();
    if header.content_checksum && u32::from_le_bytes(take(&mut rest)?) != xxh32(content, 0) {
        return Err(damaged("the checksum of the content is wrong"));
    }
    if rest.iter().any(|byte| *byte != 0) {
        return Err(damaged("something follows it"));
    }
    Ok(at)
}

fn header(rest: &mut &[u8]) -> Result<Header> {
    if take(rest)? != MAGIC {
        return Err(damaged("it does not start as one"));
    }
    let descriptor = *rest;
    let [flags, block] = take(rest)?;
    let has = |bit: u8| flags & (1 << bit) != 0;
    if flags >> 6 != 1 || has(1) || block & 0b1000_1111 != 0 {
        return Err(damaged("reserved bits of its header are set"));
    }
    if has(0) {
        return Err(IpcError::unsupported("lz4 frame: it needs a dictionary"));
    }
    let max_block = match block >> 4 {
        size @ 4..=7 => 1_usize << (8 + 2 * size),
        size => return Err(damaged(format_args!("block size {size} is none"))),
    };
    let content_size = if has(3) {
        Some(u64::from_le_bytes(take(rest)?))
    } else {
        None
    };
    let len = descriptor.len() - rest.len();
    let hash = xxh32(descriptor.get(..len).unwrap_or_default(), 0);
    let [checksum] = take(rest)?;
    if checksum != hash.to_be_bytes()[2] {
        return Err(damaged("the checksum of its header is wrong"));
    }
    Ok(Header {
        independent: has(5),
        block_checksums: has(4),
        content_checksum: has(2),
        content_size,
        max_block,
    })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (head, tail) = rest
        .split_first_chunk()
        .ok_or_else(|| damaged("it is cut short"))?;
    *rest = tail;
    Ok(*head)
}

fn damaged(reason: impl std::fmt::Display) -> IpcError {
    IpcError::malformed(format_args!("lz4 frame: {reason}"))
}
