//! What is known of a folder's recordings, for who serves them.

use arrow::array::AsArray as _;
use arrow::datatypes::UInt64Type;
use segue_chunk::ChunkSource as _;
use segue_chunk::TextSet;
use segue_chunk::testing::RecordingWriter;
use segue_error::ErrorCode;
use segue_proto::common::StoreKind;

use crate::local::{chunk, write};
use crate::support::{run, source};

/// Segment `s` in two layers, and `t` in a file without a footer.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("b.rrd"), &[chunk("s", 1, 0..2)]);
    write(
        dir.path().join("c.rrd"),
        &[chunk("s", 2, 2..4), chunk("r", 3, 0..1)],
    );
    let stopped = RecordingWriter::new().without_footer();
    stopped
        .chunk(&chunk("t", 4, 0..2))
        .write(dir.path().join("a b.rrd"));
    dir
}

#[test]
fn layers_are_listed_by_segment() {
    let dir = folder();
    let contents = run(source(dir.path()).contents("d")).unwrap();
    let layers = contents.layers().iter();
    let names: Vec<_> = layers
        .map(|l| (l.segment().as_str(), &**l.name()))
        .collect();
    assert_eq!(names, [("r", "c"), ("s", "b"), ("s", "c"), ("t", "a b")]);
    let segments = contents
        .segments()
        .map(|(id, layers)| (id.as_str(), layers.len()));
    assert_eq!(segments.collect::<Vec<_>>(), [("r", 1), ("s", 2), ("t", 1)]);
    for (id, count) in [("r", 1), ("s", 2), ("t", 1), ("", 0), ("ss", 0), ("z", 0)] {
        assert_eq!(contents.segment(&id.into()).len(), count, "{id}");
    }
    let layer = &contents.segment(&"t".into())[0];
    assert!(
        layer.address().starts_with("file://"),
        "{}",
        layer.address()
    );
    assert!(
        layer.address().ends_with("/a%20b.rrd"),
        "{}",
        layer.address()
    );
    assert_eq!(layer.size_bytes(), layer.store().chunks[0].len);
}

#[test]
fn a_manifest_is_that_of_the_file_while_it_is_the_same() {
    let dir = folder();
    let source = source(dir.path());
    let contents = run(source.contents("d")).unwrap();
    let segment = |id: &str| contents.segment(&id.into()).to_vec();
    let manifest = run(source.manifest(&segment("s")[1])).unwrap().unwrap();
    let store = manifest.store_id.unwrap();
    assert_eq!(
        (store.recording_id.as_str(), store.kind()),
        ("s", StoreKind::Recording)
    );
    let other = run(source.manifest(&segment("r")[0])).unwrap().unwrap();
    assert_eq!(other.store_id.unwrap().recording_id, "r");
    assert_eq!(run(source.manifest(&segment("t")[0])).unwrap(), None);
    write(dir.path().join("c.rrd"), &[chunk("s", 2, 2..4)]);
    let error = run(source.manifest(&segment("s")[1])).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceChanged);
}

#[test]
fn the_table_of_segments_follows_the_files() {
    let dir = folder();
    let source = source(dir.path());
    run(async {
        let chunks = async || {
            let table = source.segment_table("d", &TextSet::all()).await.unwrap();
            let chunks = table.column_by_name("rerun_num_chunks").unwrap();
            chunks.as_primitive::<UInt64Type>().values().to_vec()
        };
        assert_eq!(chunks().await, [1, 2, 1]);
        assert_eq!(chunks().await, [1, 2, 1]);
        write(
            dir.path().join("b.rrd"),
            &[chunk("s", 1, 0..2), chunk("s", 5, 5..6)],
        );
        assert_eq!(chunks().await, [1, 3, 1]);
    });
}
