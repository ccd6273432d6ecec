//! Several values of one component at one tick: the newest row wins, wherever it is stored.

use std::sync::Arc;

use segue::chunk::testing::{ChunkBuilder, Order, RecordingWriter, ScriptedSource};
use segue::chunk::{Chunk, ChunkSource, LocalSource};

use crate::support::{SETTINGS, rows, session_at};

/// A column that was sent twice: zeros, and ones with newer row ids. The newer chunk has the smaller id.
fn sent_twice() -> [Chunk; 2] {
    let copy = |chunk: u64, row_id: u64, value: f64| {
        ChunkBuilder::new("s", "/a")
            .id(chunk)
            .row_ids(row_id..row_id + 1024)
            .sequence("frame", 0..1024)
            .floats("x", [Some(value); 1024])
            .build()
    };
    [copy(2, 1, 0.0), copy(1, 5000, 1.0)]
}

/// One row with two components of one entity or of two, by rows of their own.
fn two_components(entities: [&str; 2]) -> [Chunk; 2] {
    let component = |id: u64, entity: &str, name: &str| {
        ChunkBuilder::new("s", entity)
            .id(id)
            .row_ids([id])
            .sequence("frame", [7])
            .floats(name, [Some(id as f64)])
            .build()
    };
    [
        component(1, entities[0], "x"),
        component(2, entities[1], "y"),
    ]
}

/// A source, and what it is called in a failure.
type Named = (String, Arc<dyn ChunkSource>);

/// Every way to store and deliver the two chunks, as the dataset `d`. Folders live as long as the guard.
fn sources(chunks: &[Chunk; 2]) -> (tempfile::TempDir, Vec<Named>) {
    let folder = tempfile::tempdir().unwrap();
    let mut sources: Vec<Named> = Vec::new();
    let swapped = [chunks[1].clone(), chunks[0].clone()];
    for (stored, [first, second]) in [("as made", chunks), ("swapped", &swapped)] {
        for order in [Order::AsAsked, Order::Reversed] {
            let one = ScriptedSource::new().dataset("d", [first.clone(), second.clone()]);
            let two = ScriptedSource::new()
                .layer("d", "base", [first.clone()])
                .layer("d", "more", [second.clone()]);
            for (layers, source) in [(1, one), (2, two)] {
                let name = format!("scripted, {layers} layers, {stored}, {order:?}");
                sources.push((name, Arc::new(source.order(order))));
            }
        }
        let one = folder.path().join(stored).join("one");
        let two = folder.path().join(stored).join("two");
        let both = RecordingWriter::new().chunk(first).chunk(second);
        both.write(one.join("both.rrd"));
        RecordingWriter::new().chunk(first).write(two.join("a.rrd"));
        RecordingWriter::new()
            .chunk(second)
            .write(two.join("b.rrd"));
        for (files, dataset) in [(1, one), (2, two)] {
            let source = LocalSource::builder().dataset("d", dataset).build();
            let name = format!("local, {files} files, {stored}");
            sources.push((name, Arc::new(source.unwrap())));
        }
    }
    (folder, sources)
}

/// rerun-io/rerun#10740
#[tokio::test]
async fn a_column_that_was_sent_twice_has_the_newer_value_at_every_tick() {
    let (_folder, sources) = sources(&sent_twice());
    assert_eq!(sources.len(), 12);
    let expected: Vec<String> = (0..1024).map(|frame| format!("{frame}|[1.0]")).collect();
    for (name, source) in sources {
        for (partitions, batch_size) in SETTINGS {
            let session = session_at(Arc::clone(&source), partitions, batch_size).await;
            let found = rows(&session, r#"SELECT frame, "/a:x" FROM d.frame"#).await;
            assert_eq!(found, expected, "{name}, {partitions}, {batch_size}");
        }
    }
}

/// rerun-io/rerun#10740
#[tokio::test]
async fn components_logged_one_after_the_other_at_one_tick_are_one_row() {
    for entities in [["/a", "/a"], ["/a", "/b"]] {
        let [a, b] = entities;
        let (_folder, sources) = sources(&two_components(entities));
        for (name, source) in sources {
            for (partitions, batch_size) in SETTINGS {
                let session = session_at(Arc::clone(&source), partitions, batch_size).await;
                let sql = format!(r#"SELECT frame, "{a}:x", "{b}:y" FROM d.frame"#);
                let found = rows(&session, &sql).await;
                assert_eq!(found, ["7|[1.0]|[2.0]"], "{name}, {entities:?}");
            }
        }
    }
}
