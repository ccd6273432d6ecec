//! Lengths that a file states and cannot mean.

use std::sync::atomic::{AtomicUsize, Ordering};

use segue_chunk::rrd::{ChunkPlace, ReadAt, RecordingIndex, read_chunk};
use segue_chunk::{ChunkId, SegmentId};
use segue_error::ErrorCode;

/// A file of very many bytes, nearly all of them zero, that counts as read what is asked for.
struct Huge {
    tail: [u8; 32],
    header: Option<(u64, [u8; 16])>,
    largest: AtomicUsize,
}

impl Huge {
    const SIZE: u64 = 1 << 45;
}

impl ReadAt for Huge {
    fn size(&self) -> u64 {
        Self::SIZE
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.largest.fetch_max(buffer.len(), Ordering::Relaxed);
        buffer.fill(0);
        match (offset, &self.header) {
            (0, _) => buffer.copy_from_slice(b"RRF2\x00\x24\x03\x00\x01\x02\x00\x00"),
            (at, _) if at == Self::SIZE - 32 => buffer.copy_from_slice(&self.tail),
            (at, Some((header_at, header))) if at == *header_at => {
                buffer[..16].copy_from_slice(header);
            }
            _ => {}
        }
        Ok(())
    }
}

#[test]
fn footers_and_chunks_longer_than_a_message_can_be_are_damage_and_not_read() {
    let mut tail = Vec::new();
    for number in [100, Huge::SIZE - 32 - 100] {
        tail.extend(number.to_le_bytes());
    }
    tail.extend([0; 4]);
    tail.extend(b"RRF2FOOT");
    tail.extend(1_u32.to_le_bytes());
    let header = |len: u64| (100, (2 | u128::from(len) << 64).to_le_bytes());
    let mut huge = Huge {
        tail: tail.try_into().unwrap(),
        header: None,
        largest: AtomicUsize::new(0),
    };
    let error = RecordingIndex::read(&huge, "x.rrd").unwrap_err();
    assert_eq!(error.code(), ErrorCode::ChunkCorrupt, "{error}");

    let segment = SegmentId::from("s");
    let place = |len| ChunkPlace {
        segment: &segment,
        application: None,
        id: ChunkId::from(1),
        is_static: false,
        offset: 116,
        len,
        uncompressed_len: None,
    };
    // As the message says, or only as the place says.
    for (said, len) in [(1 << 40, 1 << 40), (7, 1 << 30)] {
        huge.header = Some(header(said));
        let error = read_chunk(&huge, "x.rrd", place(len)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ChunkCorrupt, "{error}");
    }
    assert!(huge.largest.load(Ordering::Relaxed) <= 32);
}
