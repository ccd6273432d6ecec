//! Stream header and messages.

use bytes::Bytes;
use segue_error::Result;

use super::error::{damaged, not_a_recording, unreadable, unsupported};
use super::read_at::ReadAt;

/// What the first four bytes of a recording are.
pub(super) const FOURCC: [u8; 4] = *b"RRF2";
/// Bytes of the stream header.
pub(super) const STREAM_HEADER_LEN: u64 = 12;
/// Bytes of a message header.
pub(super) const MESSAGE_HEADER_LEN: u64 = 16;
/// Longest message body: what protobuf allows.
pub(super) const MAX_MESSAGE_LEN: u64 = i32::MAX as u64;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageKind {
    End,
    SetStoreInfo,
    ArrowMsg,
    BlueprintActivation,
}

impl MessageKind {
    fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::End),
            1 => Some(Self::SetStoreInfo),
            2 => Some(Self::ArrowMsg),
            3 => Some(Self::BlueprintActivation),
            _ => None,
        }
    }
}

/// A recording being read: where its bytes come from, and what errors call it.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) bytes: &'a dyn ReadAt,
    pub(super) name: &'a str,
}

impl Input<'_> {
    pub(super) fn size(&self) -> u64 {
        self.bytes.size()
    }

    /// Reads `len` bytes from `offset` on. The caller has checked that the file is that long.
    pub(super) fn read(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let len = usize::try_from(len)
            .map_err(|_| unsupported(self.name, format_args!("a part of {len} bytes")))?;
        let mut buffer = vec![0; len];
        self.fill(&mut buffer, offset)?;
        Ok(buffer)
    }

    pub(super) fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N]> {
        let mut buffer = [0; N];
        self.fill(&mut buffer, offset)?;
        Ok(buffer)
    }

    fn fill(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let read = self.bytes.read_exact_at(buffer, offset);
        read.map_err(|e| unreadable(self.name, e))
    }

    /// Checks the stream header at `offset`.
    pub(super) fn check_stream_header(&self, offset: u64) -> Result<()> {
        if self.size() < STREAM_HEADER_LEN {
            let size = self.size();
            return Err(not_a_recording(
                self.name,
                format_args!("it has {size} bytes"),
            ));
        }
        // The four version bytes in between are information only.
        let [a, b, c, d, _, _, _, _, compression, serializer, _, _] = self.array(offset)?;
        let fourcc = [a, b, c, d];
        if fourcc != FOURCC {
            let start = fourcc.escape_ascii();
            return Err(not_a_recording(
                self.name,
                format_args!("it starts with '{start}'"),
            ));
        }
        if compression > 1 {
            return Err(unsupported(
                self.name,
                format_args!("compression {compression}"),
            ));
        }
        if serializer != 2 {
            return Err(unsupported(
                self.name,
                format_args!("serializer {serializer}"),
            ));
        }
        Ok(())
    }

    /// The message at `offset`, or `None` when the file ends there.
    pub(super) fn message(&self, offset: u64) -> Result<Option<(MessageKind, Bytes)>> {
        let left = self.size().saturating_sub(offset);
        if left == 0 {
            return Ok(None);
        }
        if left < MESSAGE_HEADER_LEN {
            return Err(damaged(
                self.name,
                offset,
                "it ends inside a message header",
            ));
        }
        let (number, len) = split_header(self.array(offset)?);
        let Some(kind) = MessageKind::from_number(number) else {
            return Err(damaged(
                self.name,
                offset,
                format_args!("a message of unknown kind {number}"),
            ));
        };
        let left = left - MESSAGE_HEADER_LEN;
        if len > left {
            let reason = format!("it ends inside a message, {left} of {len} bytes are there");
            return Err(damaged(self.name, offset, reason));
        }
        if len > MAX_MESSAGE_LEN {
            return Err(damaged(
                self.name,
                offset,
                format_args!("a message of {len} bytes"),
            ));
        }
        let body = self.read(offset + MESSAGE_HEADER_LEN, len)?;
        Ok(Some((kind, body.into())))
    }
}

/// Kind and length of a message.
fn split_header(header: [u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(header);
    (both as u64, (both >> 64) as u64)
}

/// Checks that `header` announces a chunk of `len` bytes.
pub(super) fn announces_chunk(header: [u8; 16], len: u64) -> bool {
    let (kind, length) = split_header(header);
    MessageKind::from_number(kind) == Some(MessageKind::ArrowMsg) && length == len
}
