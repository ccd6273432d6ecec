//! How often the bytes of a payload are copied on their way from the receive buffer to arrays: counted by what
//! is allocated.
//!
//! The receive buffer is where tonic gathers the frames of a message, each of which HTTP/2 has cut off from what
//! it has read from the socket. That is one copy for a message of several frames, and not ours to avoid.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bytes::Bytes;
use prost::Message as _;
use segue_chunk::testing::ChunkBuilder;
use segue_chunk::{Chunk, Compression, EncodedChunk, decode_unannounced};
use segue_proto::cloud::FetchChunksResponse;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe; this one only counts")]
// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn count(bytes: usize) {
    // While a thread ends, nothing counts.
    let _ = ALLOCATED.try_with(|allocated| allocated.set(allocated.get() + bytes));
}

/// What decoding may take beside values: names, types, the structure of the batch.
const METADATA: usize = 24 * 1024;

/// Decodes a received message, and gives the bytes that were allocated for it.
fn decode(body: &Bytes, at: usize) -> usize {
    // The message lies anywhere in what the transport has read.
    let mut buffer = vec![0; at];
    buffer.extend_from_slice(body);
    let received = Bytes::from(buffer).slice(at..);
    let before = ALLOCATED.get();
    let message = FetchChunksResponse::decode(received).unwrap();
    let chunks: Vec<Chunk> = message
        .chunks
        .into_iter()
        .map(|chunk| {
            decode_unannounced(&EncodedChunk::from_wire(chunk).unwrap())
                .unwrap()
                .0
        })
        .collect();
    let allocated = ALLOCATED.get() - before;
    assert_eq!(chunks[0].num_rows(), 4096);
    allocated
}

fn message(compression: Compression) -> (Bytes, usize) {
    let chunk = ChunkBuilder::new("s", "/a")
        .sequence("frame", 0..4096)
        .lists(
            "Scan:ranges",
            (0..4096).map(|row| Some(vec![f64::from(row).sqrt(); 32])),
        )
        .build();
    let encoded = EncodedChunk::from_chunk(&chunk, compression).unwrap();
    let len = usize::try_from(encoded.uncompressed_len).unwrap();
    assert!(len > 1 << 20);
    let message = FetchChunksResponse {
        chunks: vec![encoded.into_wire(Some("app"), false)],
    };
    (message.encode_to_vec().into(), len)
}

#[test]
fn the_bytes_of_a_payload_are_copied_at_most_once() {
    let (body, len) = message(Compression::None);
    // Wherever the values come to lie in the receive buffer.
    let allocated: Vec<usize> = (0..64).map(|at| decode(&body, at)).collect();
    let most = allocated.iter().max().unwrap();
    assert!(
        *most < len + METADATA,
        "{most} bytes for a payload of {len}"
    );
    // Where they lie well, they are not copied at all.
    let least = allocated.iter().min().unwrap();
    assert!(*least < METADATA, "{least} bytes for a payload of {len}");
}

#[test]
fn a_compressed_payload_is_decompressed_once_and_not_copied() {
    let (body, len) = message(Compression::Lz4);
    for at in 0..64 {
        let allocated = decode(&body, at);
        assert!(allocated < len + METADATA, "{allocated} bytes for {len}");
    }
}
