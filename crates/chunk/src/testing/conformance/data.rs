//! The recordings that the suite wants to find in a source.

use crate::model::{Chunk, TimeKind};
use crate::testing::ChunkBuilder;

/// The dataset that the suite reads.
pub const DATASET: &str = "conformance";

/// The chunks of one segment on one layer.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Dataset that it belongs to.
    pub dataset: &'static str,
    /// Segment, also the id of the recording.
    pub segment: &'static str,
    /// Layer of the segment. Recordings of one segment are on different layers.
    pub layer: &'static str,
    /// All chunks.
    pub chunks: Vec<Chunk>,
}

/// What to load a source with before the suite runs: the dataset [`DATASET`] of several segments, one of
/// them in two layers that share a chunk, and two small datasets beside it.
///
/// There are overlapping, unsorted and empty chunks, entities that lack a timeline, static data, a Clear,
/// recording properties, names that are not ASCII, and one chunk id in two segments.
pub fn recordings() -> Vec<Recording> {
    let recording = |dataset, segment, layer, chunks: fn(&str) -> Vec<Chunk>| Recording {
        dataset,
        segment,
        layer,
        chunks: chunks(segment),
    };
    vec![
        recording(DATASET, "plain", "base", plain),
        recording(DATASET, "größe 日本 #1", "base", unicode),
        recording(DATASET, "only static", "base", only_static),
        recording(DATASET, "layered", "base", base_layer),
        recording(DATASET, "layered", "extra", extra_layer),
        recording("another", "plain", "base", small),
        recording("zebra", "plain", "base", small),
    ]
}

fn plain(segment: &str) -> Vec<Chunk> {
    let chunk = |id, entity| ChunkBuilder::new(segment, entity).id(id);
    let arm = |id| chunk(id, "/robot/arm");
    let stamps = |values: [i64; 4]| values.map(|v| 1_700_000_000_000_000_000 + v);
    vec![
        arm(1)
            .sequence("frame", [0, 1, 2, 3])
            .index("stamp", TimeKind::Timestamp, stamps([0, 10, 20, 30]))
            .floats(
                "Scalars:scalars",
                [Some(0.5), None, Some(1.5), Some(f64::MIN)],
            )
            .build(),
        arm(2)
            .sequence("frame", [3, 5, 9])
            .floats("Scalars:scalars", [Some(3.0), Some(5.0), Some(9.0)])
            .texts("Text:text", [Some("three"), None, Some("neun")])
            .build(),
        arm(3)
            .sequence("frame", [7, 2, 5, 2])
            .lists(
                "Scalars:scalars",
                [Some(vec![1.0, 2.0]), Some(vec![]), None, Some(vec![4.0])],
            )
            .build(),
        arm(4)
            .sequence("frame", [])
            .floats("Scalars:scalars", [])
            .build(),
        arm(5).texts("Text:label", [Some("static")]).build(),
        arm(6)
            .sequence("frame", [100, 101])
            .texts("Text:text", [Some("late"), Some("later")])
            .build(),
        chunk(7, "/robot/camera")
            .index("stamp", TimeKind::Timestamp, stamps([5, 6, 7, 8]))
            .floats("Camera:gain", [Some(1.0), Some(2.0), None, Some(3.0)])
            .build(),
        chunk(8, "/robot")
            .sequence("frame", [4])
            .clear([true])
            .build(),
        // Not recursive: the earlier one still reaches the arm.
        chunk(16, "/robot")
            .sequence("frame", [6])
            .clear([false])
            .build(),
        // Its last row has no value: what fills is in the row before.
        chunk(17, "/robot/hand")
            .sequence("frame", [1, 2])
            .floats("Scalars:scalars", [Some(1.0), None])
            .texts("Text:text", [None, Some("two")])
            .build(),
        chunk(18, "/robot/hand")
            .sequence("frame", [3, 40])
            .floats("Scalars:scalars", [None, Some(40.0)])
            .texts("Text:text", [Some("three"), None])
            .build(),
        chunk(9, "/edges")
            .sequence("frame", [i64::MIN + 1, 0, i64::MAX])
            .floats("Scalars:scalars", [Some(-1.0), Some(0.0), Some(1.0)])
            .build(),
        chunk(10, "/__properties/episode")
            .texts("Episode:task", [Some("fold a towel")])
            .build(),
    ]
}

fn unicode(segment: &str) -> Vec<Chunk> {
    let chunk = |id, entity| ChunkBuilder::new(segment, entity).id(id);
    vec![
        chunk(1, "/robot/arm")
            .sequence("frame", [-4, -3])
            .floats("Scalars:scalars", [Some(-4.0), Some(-3.0)])
            .build(),
        chunk(11, "/grüße/腕")
            .sequence("frame", [5])
            .index("dauer", TimeKind::Duration, [1])
            .texts("Text:text", [Some("ναι")])
            .build(),
    ]
}

fn only_static(segment: &str) -> Vec<Chunk> {
    let chunk = ChunkBuilder::new(segment, "/robot/arm").id(12);
    vec![chunk.texts("Text:label", [Some("alone")]).build()]
}

fn base_layer(segment: &str) -> Vec<Chunk> {
    let chunk = ChunkBuilder::new(segment, "/robot/arm").id(13);
    let own = chunk
        .sequence("frame", [1, 2])
        .floats("Scalars:scalars", [Some(1.0), Some(2.0)]);
    vec![own.build(), shared(segment)]
}

fn extra_layer(segment: &str) -> Vec<Chunk> {
    let chunk = ChunkBuilder::new(segment, "/notes").id(14);
    let own = chunk
        .sequence("frame", [2])
        .texts("Text:text", [Some("an annotation")]);
    vec![own.build(), shared(segment)]
}

/// A chunk that both layers hold.
fn shared(segment: &str) -> Chunk {
    let chunk = ChunkBuilder::new(segment, "/robot/camera").id(15);
    chunk
        .sequence("frame", [1])
        .floats("Camera:gain", [Some(7.0)])
        .build()
}

fn small(segment: &str) -> Vec<Chunk> {
    let chunk = ChunkBuilder::new(segment, "/robot/arm").id(1);
    vec![
        chunk
            .sequence("frame", [1])
            .floats("Scalars:scalars", [Some(1.0)])
            .build(),
    ]
}
