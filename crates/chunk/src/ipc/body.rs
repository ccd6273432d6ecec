//! Buffers of a message's body.

use arrow::buffer::Buffer;
use arrow_ipc::{BodyCompression, BodyCompressionMethod, CompressionType};

use super::compression::{MAX_RATIO, decompress_buffer, stated_len};
use super::error::{IpcError, Result};

/// The body of a record batch, and the memory that may be taken to read it.
///
/// Buffers may overlap, so that checking each alone would let a small body be copied any number of times.
#[derive(Debug)]
pub(super) struct Body {
    bytes: Buffer,
    compressed: bool,
    /// Bytes that may still be allocated.
    budget: u64,
}

impl Body {
    pub(super) fn new(bytes: Buffer, compression: Option<BodyCompression<'_>>) -> Result<Self> {
        let compressed = match compression {
            None => false,
            Some(compression) => {
                let (codec, method) = (compression.codec(), compression.method());
                if codec != CompressionType::LZ4_FRAME || method != BodyCompressionMethod::BUFFER {
                    let (codec, method) = (codec.0, method.0);
                    return Err(IpcError::unsupported(format_args!(
                        "body compression {codec} by method {method}"
                    )));
                }
                true
            }
        };
        let len = bytes.len() as u64;
        let ratio = if compressed { MAX_RATIO } else { 1 };
        Ok(Self {
            bytes,
            compressed,
            budget: len.saturating_mul(ratio),
        })
    }

    /// Most elements that an array with any bytes at all can have.
    pub(super) fn max_bits(&self) -> u64 {
        let ratio = if self.compressed { MAX_RATIO } else { 1 };
        (self.bytes.len() as u64)
            .saturating_mul(ratio)
            .saturating_mul(8)
    }

    /// The buffer of `len` bytes at `offset`, decompressed.
    pub(super) fn buffer(&mut self, offset: i64, len: i64) -> Result<Buffer> {
        let span = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
        let end = span.and_then(|(offset, len)| offset.checked_add(len));
        let (Some((offset, len)), Some(end)) = (span, end) else {
            return Err(self.outside(offset, len));
        };
        if end > self.bytes.len() {
            return Err(self.outside(offset, len));
        }
        let buffer = self.bytes.slice_with_length(offset, len);
        if !self.compressed {
            return Ok(buffer);
        }
        self.spend(stated_len(&buffer))?;
        decompress_buffer(&buffer)
    }

    /// `buffer` at an address that is a multiple of `alignment`, a power of two of at most 64.
    pub(super) fn aligned(&mut self, buffer: Buffer, alignment: usize) -> Result<Buffer> {
        if buffer.as_ptr().align_offset(alignment) == 0 {
            return Ok(buffer);
        }
        self.spend(buffer.len() as u64)?;
        Ok(Buffer::from_slice_ref(buffer.as_slice()))
    }

    fn spend(&mut self, bytes: u64) -> Result<()> {
        self.budget = self
            .budget
            .checked_sub(bytes)
            .ok_or_else(|| IpcError::malformed("the buffers take more than the body can hold"))?;
        Ok(())
    }

    fn outside(&self, offset: impl std::fmt::Display, len: impl std::fmt::Display) -> IpcError {
        let body = self.bytes.len();
        IpcError::malformed(format_args!(
            "a buffer of {len} bytes at {offset} lies outside the body of {body}"
        ))
    }
}
