//! Plans over small folders.

use std::collections::{HashMap, HashSet};

use segue_chunk::testing::{ChunkBuilder, RecordingWriter};
use segue_chunk::{Chunk, LocalSource, TimeRange};
use segue_error::ErrorCode;

use super::*;

struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    /// A dataset `d` with one file per name.
    fn new(files: &[(&str, Vec<Chunk>)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, chunks) in files {
            let writer = RecordingWriter::new().chunks(chunks);
            writer.write(dir.path().join(name));
        }
        Self { dir }
    }

    /// What is planned: segment, layer, chunk.
    async fn plan(&self, query: &ChunkQuery) -> Vec<(String, String, u64)> {
        let source = LocalSource::builder().dataset("d", self.dir.path());
        let contents = source.build().unwrap().contents("d").await.unwrap();
        let mut found = Vec::new();
        for plan in plan(&contents, query).unwrap() {
            let layer = &contents.layers()[plan.layer];
            for chunk in plan.chunks {
                let (_, id) = layer.store().chunks[chunk].id.parts();
                found.push((layer.segment().to_string(), layer.name().to_string(), id));
            }
        }
        found
    }

    async fn ids(&self, query: &ChunkQuery) -> Vec<u64> {
        self.plan(query)
            .await
            .into_iter()
            .map(|(_, _, id)| id)
            .collect()
    }
}

fn chunk(id: u64, entity: &str, frames: std::ops::RangeInclusive<i64>, component: &str) -> Chunk {
    let values = frames.clone().map(|frame| Some(frame as f64));
    ChunkBuilder::new("s", entity)
        .id(id)
        .sequence("frame", frames)
        .floats(component, values)
        .build()
}

fn fixed(id: u64, entity: &str) -> Chunk {
    ChunkBuilder::new("s", entity)
        .id(id)
        .floats("x", [Some(0.0)])
        .build()
}

fn everything(times: Times) -> ChunkQuery {
    ChunkQuery {
        entities: Entities::All(Components::All),
        segments: None,
        times,
        with_static: true,
        with_temporal: true,
    }
}

fn term(timeline: &str, wanted: Wanted) -> Times {
    let timeline = timeline.into();
    Times::Terms(vec![Term { timeline, wanted }])
}

fn range(start: i64, end: i64) -> Times {
    term("frame", Wanted::Range(TimeRange::new(start, end)))
}

fn small() -> Folder {
    let other = ChunkBuilder::new("s", "/a")
        .id(5)
        .sequence("tick", [7])
        .floats("x", [Some(1.0)]);
    Folder::new(&[(
        "a.rrd",
        vec![
            chunk(1, "/a", 0..=9, "x"),
            chunk(2, "/a", 10..=19, "x"),
            chunk(3, "/b", 0..=9, "y"),
            fixed(4, "/a"),
            other.build(),
        ],
    )])
}

#[tokio::test]
async fn a_range_has_the_chunks_that_meet_it_and_all_static_ones() {
    let folder = small();
    assert_eq!(folder.ids(&everything(Times::All)).await, [1, 2, 3, 4, 5]);
    assert_eq!(folder.ids(&everything(range(9, 10))).await, [1, 2, 3, 4]);
    assert_eq!(folder.ids(&everything(range(15, 99))).await, [2, 4]);
    assert_eq!(folder.ids(&everything(range(9, 8))).await, [4]);
    assert_eq!(folder.ids(&everything(Times::Terms(Vec::new()))).await, [4]);
    let all = || Wanted::Range(TimeRange::ALL);
    assert_eq!(folder.ids(&everything(term("tick", all()))).await, [4, 5]);
    assert_eq!(folder.ids(&everything(term("no such", all()))).await, [4]);
}

#[tokio::test]
async fn terms_add_up() {
    let folder = small();
    let both = Times::Terms(
        [
            range(0, 0),
            term("tick", Wanted::Range(TimeRange::new(7, 7))),
        ]
        .into_iter()
        .flat_map(|times| match times {
            Times::Terms(terms) => terms,
            Times::All => Vec::new(),
        })
        .collect(),
    );
    assert_eq!(folder.ids(&everything(both)).await, [1, 3, 4, 5]);
}

#[tokio::test]
async fn the_latest_are_those_of_each_entity() {
    let folder = small();
    let latest = |time| term("frame", Wanted::LatestAt(Samples::Everywhere([time])));
    assert_eq!(folder.ids(&everything(latest(25))).await, [2, 3, 4]);
    assert_eq!(folder.ids(&everything(latest(5))).await, [1, 3, 4]);
    assert_eq!(folder.ids(&everything(latest(-5))).await, [4]);
    let some = Samples::by_segment([("s".into(), vec![25, 5, 25]), ("t".into(), vec![-9])]);
    let times = term("frame", Wanted::LatestAt(some));
    assert_eq!(folder.ids(&everything(times)).await, [1, 2, 3, 4]);
    let none = Samples::by_segment([]);
    let times = term("frame", Wanted::LatestAt(none));
    assert_eq!(folder.ids(&everything(times)).await, [4]);
}

#[tokio::test]
async fn without_fill_a_sample_needs_the_chunks_around_it() {
    let folder = small();
    let at = |times: Vec<i64>| {
        let samples = Samples::by_segment([("s".into(), times)]);
        everything(term("frame", Wanted::At(samples)))
    };
    assert_eq!(folder.ids(&at(vec![12])).await, [2, 4]);
    assert_eq!(folder.ids(&at(vec![25, -1])).await, [4]);
    assert_eq!(folder.ids(&at(vec![25, 9])).await, [1, 3, 4]);
}

#[tokio::test]
async fn entities_components_and_segments_narrow() {
    let folder = small();
    let these = |entities: &[(&str, Components)]| {
        let entities = entities.iter().cloned();
        Entities::These(entities.map(|(path, c)| (path.into(), c)).collect())
    };
    let mut query = everything(Times::All);
    query.entities = these(&[("/b", Components::All), ("/none", Components::All)]);
    assert_eq!(folder.ids(&query).await, [3]);
    query.entities = Entities::These(HashMap::new());
    assert_eq!(folder.ids(&query).await, [0_u64; 0]);
    let named = |name: &str| Components::These([name.into()].into());
    query.entities = Entities::All(named("y"));
    assert_eq!(folder.ids(&query).await, [3]);
    query.entities = these(&[("/a", named("y")), ("/b", named("y"))]);
    assert_eq!(folder.ids(&query).await, [3]);
    query.entities = Entities::All(Components::These(HashSet::new()));
    assert_eq!(folder.ids(&query).await, [0_u64; 0]);
    query.entities = Entities::All(Components::All);
    query.segments = Some(["t".into()].into());
    assert_eq!(folder.ids(&query).await, [0_u64; 0]);
}

#[tokio::test]
async fn a_component_that_is_not_asked_for_supersedes_nothing() {
    // Chunk 2 supersedes 1 by `y` only.
    let folder = Folder::new(&[(
        "a.rrd",
        vec![chunk(1, "/a", 0..=1, "x"), chunk(2, "/a", 3..=4, "y")],
    )]);
    let mut query = everything(term("frame", Wanted::LatestAt(Samples::Everywhere([9]))));
    assert_eq!(folder.ids(&query).await, [1, 2]);
    query.entities = Entities::All(Components::These(["x".into()].into()));
    assert_eq!(folder.ids(&query).await, [1]);
}

#[tokio::test]
async fn static_or_temporal_chunks_can_be_left_out() {
    let folder = small();
    let mut query = everything(range(0, 99));
    query.with_static = false;
    assert_eq!(folder.ids(&query).await, [1, 2, 3]);
    query.with_static = true;
    query.with_temporal = false;
    assert_eq!(folder.ids(&query).await, [4]);
    query.times = Times::All;
    assert_eq!(folder.ids(&query).await, [4]);
}

#[tokio::test]
async fn a_chunk_of_two_layers_is_planned_once_and_two_of_one_id_are_damage() {
    let (own, shared) = (chunk(1, "/a", 0..=1, "x"), chunk(2, "/a", 2..=3, "x"));
    let folder = Folder::new(&[
        ("base.rrd", vec![own.clone(), shared.clone()]),
        ("more.rrd", vec![shared, chunk(3, "/a", 4..=5, "x")]),
    ]);
    let planned = folder.plan(&everything(Times::All)).await;
    let planned: Vec<(&str, u64)> = planned
        .iter()
        .map(|(_, layer, id)| (&**layer, *id))
        .collect();
    assert_eq!(planned, [("base", 1), ("base", 2), ("more", 3)]);

    let folder = Folder::new(&[
        ("base.rrd", vec![own]),
        ("more.rrd", vec![chunk(1, "/a", 0..=4, "x")]),
    ]);
    let source = LocalSource::builder().dataset("d", folder.dir.path());
    let contents = source.build().unwrap().contents("d").await.unwrap();
    let error = plan(&contents, &everything(Times::All)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ChunkCorrupt);
}

#[tokio::test]
async fn every_layer_of_a_chosen_segment_has_a_plan_even_an_empty_one() {
    let folder = Folder::new(&[
        ("a.rrd", vec![chunk(1, "/a", 0..=1, "x")]),
        ("b.rrd", vec![chunk(2, "/b", 0..=1, "x")]),
    ]);
    let source = LocalSource::builder().dataset("d", folder.dir.path());
    let contents = source.build().unwrap().contents("d").await.unwrap();
    let mut query = everything(Times::All);
    query.entities = Entities::These([("/b".into(), Components::All)].into());
    let plans = plan(&contents, &query).unwrap();
    let lengths: Vec<(usize, usize)> = plans.iter().map(|p| (p.layer, p.chunks.len())).collect();
    assert_eq!(lengths, [(0, 0), (1, 1)]);
}
