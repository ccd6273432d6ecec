//! From encoded bytes to rows: decoding and assembly of one segment of four entities.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use segue_chunk::assemble::{Limits, RowKey, SegmentChunks, assemble};
use segue_chunk::testing::{ChunkBuilder, schema_of};
use segue_chunk::{Chunk, Compression, EncodedChunk, TimeRange, View, ViewOptions};

const ROWS: i64 = 4096;
const ENTITIES: [&str; 4] = ["/joint/a", "/joint/b", "/joint/c", "/joint/d"];

/// One chunk an entity, all on the same index values, with a second timeline.
fn chunks() -> Vec<Chunk> {
    let chunk = |(id, entity): (usize, &&str)| {
        ChunkBuilder::new("segment", *entity)
            .id(id as u64 + 1)
            .sequence("frame", 0..ROWS)
            .sequence("tick", (0..ROWS).map(|frame| frame * 5))
            .floats("Scalars:scalars", (0..ROWS).map(|frame| Some(frame as f64)))
            .build()
    };
    ENTITIES.iter().enumerate().map(chunk).collect()
}

fn decode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for compression in [Compression::None, Compression::Lz4] {
        let encoded = EncodedChunk::from_chunk(&chunks()[0], compression).unwrap();
        group.throughput(Throughput::Bytes(encoded.uncompressed_len));
        group.bench_function(format!("{compression:?}"), |bencher| {
            bencher.iter(|| segue_chunk::decode_unannounced(black_box(&encoded)).unwrap());
        });
        if compression == Compression::None {
            // What merely copying the payload costs.
            group.bench_function("memcpy", |bencher| {
                bencher.iter(|| black_box(&encoded.payload).to_vec());
            });
        }
    }
}

fn assembly(criterion: &mut Criterion) {
    let chunks = chunks();
    let view = View::resolve(&schema_of(&chunks), Some("frame"), &ViewOptions::default()).unwrap();
    let segment = chunks[0].segment().clone();
    let chunks: Vec<Arc<Chunk>> = chunks.into_iter().map(Arc::new).collect();
    let all: Vec<usize> = (0..view.schema().fields().len()).collect();
    let limits = Limits {
        rows: ROWS as usize,
        bytes: usize::MAX,
    };
    let mut group = criterion.benchmark_group("assemble");
    group.throughput(Throughput::Elements(ROWS as u64));
    for (name, projection) in [("all columns", &all[..]), ("count only", &[])] {
        let segment = SegmentChunks::new(&view, projection, &segment, &chunks);
        group.bench_function(name, |bencher| {
            let (all, first) = ([TimeRange::ALL], RowKey::MIN);
            let run = |()| assemble(black_box(&segment), &all, first, limits).unwrap();
            bencher.iter_batched(|| (), run, BatchSize::SmallInput);
        });
    }
}

criterion_group!(benches, decode, assembly);
criterion_main!(benches);
