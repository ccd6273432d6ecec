//! A chunk, its announcement and the schema of its dataset, and what happens when they disagree.

mod announced;
mod fuzz;
mod golden;
mod metadata;

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Int32Array, ListArray, StringArray};
use bytes::Bytes;

use super::*;
use crate::ipc::tests::samples;
use crate::model::{
    ChunkId, ComponentValues, EntityPath, RowId, RowIds, SegmentId, TimeColumn, TimeKind, Timeline,
};
use crate::source::Compression;

fn parts(components: Vec<(&str, ListArray)>) -> ChunkParts {
    let time = |name: &str, kind, times: Vec<i64>| TimeColumn {
        timeline: Timeline::new(name, kind),
        times: times.into(),
    };
    ChunkParts {
        id: ChunkId::from_parts(17, 4),
        segment: SegmentId::from("drive"),
        entity: EntityPath::from("/robot/arm"),
        row_ids: (0..3)
            .map(|row| RowId::from_parts(20, row))
            .collect::<RowIds>()
            .0,
        timelines: vec![
            time("frame", TimeKind::Sequence, vec![7, -2, 5]),
            time("time", TimeKind::Timestamp, vec![10, 20, 30]),
            time("elapsed", TimeKind::Duration, vec![0, 0, 1]),
        ],
        components: components
            .into_iter()
            .map(|(name, values)| ComponentValues {
                component: name.into(),
                values,
            })
            .collect(),
    }
}

fn chunk() -> Chunk {
    let floats: ArrayRef = Arc::new(Float32Array::from_iter_values((0..8).map(|v| v as f32)));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![
        Some("a"),
        None,
        Some("c"),
        None,
        None,
        None,
    ]));
    let components = vec![
        ("Arm:angle", samples::listed(&floats)),
        ("Arm:label", samples::listed(&texts)),
    ];
    Chunk::try_new(parts(components)).unwrap()
}

fn fixed() -> Chunk {
    let ints: ArrayRef = Arc::new(Int32Array::from_iter_values(0..6));
    let mut parts = parts(vec![("Arm:size", samples::listed(&ints))]);
    parts.timelines.clear();
    Chunk::try_new(parts).unwrap()
}

fn encode(chunk: &Chunk) -> EncodedChunk {
    EncodedChunk::from_chunk(chunk, Compression::None).unwrap()
}

/// What a source that tells all says of `chunk`.
fn info(chunk: &Chunk, encoded: &EncodedChunk) -> ChunkInfo {
    let bounds = chunk.timeline("frame").and_then(TimeColumn::bounds);
    ChunkInfo {
        id: chunk.id(),
        segment: chunk.segment().clone(),
        layer: "base".into(),
        entity: chunk.entity().clone(),
        is_static: chunk.is_static(),
        byte_len: encoded.payload.len() as u64,
        byte_len_uncompressed: Some(encoded.uncompressed_len),
        start: bounds.map(|b| b.0),
        end: bounds.map(|b| b.1),
        num_rows: Some(chunk.num_rows() as u64),
        key: Bytes::new(),
    }
}

fn schema(chunk: &Chunk) -> Arc<DatasetSchema> {
    Arc::new(decode_unannounced(&encode(chunk)).unwrap().1)
}

fn decoder(chunk: &Chunk) -> ChunkDecoder {
    ChunkDecoder::new(schema(chunk), Some("frame".into()))
}

#[track_caller]
fn assert_same(a: &Chunk, b: &Chunk) {
    assert_eq!(
        (a.id(), a.segment(), a.entity()),
        (b.id(), b.segment(), b.entity())
    );
    assert_eq!(a.row_ids(), b.row_ids());
    assert_eq!(a.timelines().len(), b.timelines().len());
    for (a, b) in a.timelines().iter().zip(b.timelines()) {
        assert_eq!((&a.timeline, &a.times), (&b.timeline, &b.times));
    }
    assert_eq!(a.components().len(), b.components().len());
    for (a, b) in a.components().iter().zip(b.components()) {
        assert_eq!((&a.component, &a.values), (&b.component, &b.values));
    }
}

#[test]
fn a_chunk_survives_the_way_to_bytes_and_back() {
    for chunk in [chunk(), fixed()] {
        for compression in [Compression::None, Compression::Lz4] {
            let encoded = EncodedChunk::from_chunk(&chunk, compression).unwrap();
            let decoded = decoder(&chunk)
                .decode(&info(&chunk, &encoded), &encoded)
                .unwrap();
            assert_same(&decoded, &chunk);
            let (unannounced, schema) = decode_unannounced(&encoded).unwrap();
            assert_same(&unannounced, &chunk);
            assert_eq!(schema.components.len(), chunk.components().len());
            assert!(
                schema
                    .components
                    .iter()
                    .all(|c| c.is_static == chunk.is_static())
            );
        }
    }
}

#[test]
fn components_of_every_type_survive() {
    for array in samples::all() {
        let parts = parts(vec![("x", samples::listed(&array))]);
        let chunk = Chunk::try_new(parts).unwrap();
        let encoded = encode(&chunk);
        let decoded = decoder(&chunk)
            .decode(&info(&chunk, &encoded), &encoded)
            .unwrap();
        assert_same(&decoded, &chunk);
    }
}
