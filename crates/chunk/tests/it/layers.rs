//! Several files of one dataset: layers of a segment, and what does not go together.

use segue_chunk::testing::{ChunkBuilder, RecordingWriter};
use segue_chunk::{Chunk, ChunkSource as _};
use segue_error::ErrorCode;

use crate::local::{chunk, ids, plan, planned, write};
use crate::support::{read_all, run, source};

#[test]
fn files_with_one_id_are_layers_and_a_chunk_in_two_of_them_comes_once() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path().join("base.rrd"),
        &[chunk("s", 1, 0..2), chunk("s", 2, 2..4)],
    );
    write(
        dir.path().join("extra.rrd"),
        &[
            chunk("s", 2, 2..4),
            chunk("s", 3, 4..6),
            chunk("t", 2, 0..1),
        ],
    );
    let source = source(dir.path());
    let found = ids(&run(plan(&source)).unwrap());
    let expected = [
        planned("s", "base", 1),
        planned("s", "base", 2),
        planned("s", "extra", 3),
        planned("t", "extra", 2),
    ];
    assert_eq!(found, expected);
    let rows: usize = run(read_all(&source, Some("frame")))
        .unwrap()
        .iter()
        .map(Chunk::num_rows)
        .sum();
    assert_eq!(rows, 7);
}

#[test]
fn two_layers_of_one_name_in_a_segment_are_a_clash_that_names_both_files() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("x/base.rrd"), dir.path().join("y/base.rrd"));
    write(&a, &[chunk("s", 1, 0..2)]);
    write(&b, &[chunk("t", 2, 2..4)]);
    run(plan(&source(dir.path()))).unwrap();
    write(&b, &[chunk("s", 2, 2..4)]);
    let error = run(plan(&source(dir.path()))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NameClash);
    for path in [a, b] {
        assert!(error.message().contains(path.to_str().unwrap()), "{error}");
    }
}

#[test]
fn two_stores_of_one_id_in_a_file_are_a_clash_of_their_applications() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.rrd");
    RecordingWriter::new()
        .chunk(&chunk("s", 1, 0..2))
        .application(Some("other"))
        .chunk(&chunk("s", 2, 2..4))
        .write(&path);
    let error = run(plan(&source(dir.path()))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NameClash);
    let path = path.display();
    assert_eq!(
        error.message(),
        format!("recording '{path}' has segment 's' twice, of two applications")
    );
}

#[test]
fn two_different_chunks_of_one_id_in_a_segment_are_damage_that_names_both_files() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.rrd"), dir.path().join("b.rrd"));
    let by = |entity: &str, rows: i64, value: f64| {
        ChunkBuilder::new("s", entity)
            .id(1)
            .sequence("frame", 0..rows)
            .floats("x", (0..rows).map(|_| Some(value)))
    };
    let text = ChunkBuilder::new("s", "/a")
        .id(1)
        .sequence("frame", 0..2)
        .texts("x2", [Some("a"), Some("b")]);
    let fixed = ChunkBuilder::new("s", "/a")
        .id(1)
        .floats("x", [Some(1.0), None]);
    write(&a, &[by("/a", 2, 1.0).build()]);
    for other in [by("/b", 2, 1.0), by("/a", 3, 1.0), text, fixed] {
        write(&b, &[other.build()]);
        let error = run(plan(&source(dir.path()))).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ChunkCorrupt, "{error}");
        for path in [&a, &b] {
            assert!(error.message().contains(path.to_str().unwrap()), "{error}");
        }
    }
    write(&b, &[by("/a", 2, 1.0).build()]);
    assert_eq!(run(plan(&source(dir.path()))).unwrap().len(), 1);
}

#[test]
fn files_that_give_a_column_two_types_are_a_conflict_that_names_column_types_and_file() {
    let dir = tempfile::tempdir().unwrap();
    let text = ChunkBuilder::new("t", "/a")
        .sequence("frame", [1])
        .texts("x", [Some("v")])
        .build();
    write(dir.path().join("a.rrd"), &[chunk("s", 1, 0..2)]);
    write(dir.path().join("b.rrd"), &[text]);
    let error = run(source(dir.path()).schema("d")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SchemaConflict);
    let path = dir.path().join("b.rrd");
    for part in ["'/a:x'", "Float64", "Utf8", path.to_str().unwrap()] {
        assert!(error.message().contains(part), "{error}");
    }
    assert_eq!(error.fact("column"), Some(&"/a:x".into()));
}
