//! Folders of recordings.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use segue_chunk::testing::recording::without_footer;
use segue_chunk::testing::{ChunkBuilder, RecordingWriter};
use segue_chunk::{
    Chunk, ChunkInfo, ChunkSource, Fill, LocalSource, SegmentId, TimeKind, TimeRange, TimeSelection,
};
use segue_error::{ErrorCode, Result};

use crate::support::{examples, read_all, request, robot, run, same_values, shapes, source};

pub(crate) fn chunk(segment: &str, id: u64, frames: std::ops::Range<i64>) -> Chunk {
    let values = frames.clone().map(|frame| Some(frame as f64));
    ChunkBuilder::new(segment, "/a")
        .id(id)
        .sequence("frame", frames)
        .floats("x", values)
        .build()
}

pub(crate) fn write(path: impl AsRef<Path>, chunks: &[Chunk]) {
    RecordingWriter::new().chunks(chunks).write(path);
}

fn datasets(source: &LocalSource) -> Vec<String> {
    run(source.datasets()).unwrap()
}

/// The plan by `frame`, of everything.
pub(crate) async fn plan(source: &LocalSource) -> Result<Vec<ChunkInfo>> {
    let schema = source.schema("d").await?;
    source.plan(&request(&schema, Some("frame"))).await
}

pub(crate) fn ids(plan: &[ChunkInfo]) -> Vec<(String, String, u64)> {
    let mut ids: Vec<_> = plan
        .iter()
        .map(|i| (i.segment.to_string(), i.layer.to_string(), i.id.parts().1))
        .collect();
    ids.sort();
    ids
}

pub(crate) fn planned(segment: &str, layer: &str, id: u64) -> (String, String, u64) {
    (segment.to_owned(), layer.to_owned(), id)
}

#[test]
fn the_examples_are_two_datasets() {
    let source = LocalSource::builder().folder(examples()).build().unwrap();
    assert_eq!(datasets(&source), ["drive", "robots"]);
    let schema = run(source.schema("robots")).unwrap();
    let names: Vec<(&str, TimeKind)> = schema
        .timelines
        .iter()
        .map(|t| (&*t.name, t.kind))
        .collect();
    assert_eq!(
        names,
        [
            ("elapsed", TimeKind::Duration),
            ("log_time", TimeKind::Timestamp),
            ("time", TimeKind::Timestamp),
            ("frame_nr", TimeKind::Sequence),
        ]
    );
}

#[test]
fn a_subfolder_is_a_dataset_with_all_below_and_the_folder_itself_one_with_what_lies_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("top");
    write(root.join("one/deep/er/a.rrd"), &[chunk("a", 1, 0..2)]);
    write(root.join("one/b.RRD"), &[chunk("b", 1, 0..2)]);
    write(root.join("two/c.rrd"), &[chunk("c", 1, 0..2)]);
    write(root.join("d.rrd"), &[chunk("d", 1, 0..2)]);
    fs::create_dir_all(root.join("empty/sub")).unwrap();
    fs::write(root.join("two/notes.txt"), "x").unwrap();
    let source = LocalSource::builder().folder(&root).build().unwrap();
    assert_eq!(datasets(&source), ["one", "top", "two"]);
    let segments = |dataset: &str| {
        let schema = run(source.schema(dataset)).unwrap();
        let mut request = request(&schema, Some("frame"));
        request.dataset = dataset.into();
        let plan = run(source.plan(&request)).unwrap();
        ids(&plan)
            .into_iter()
            .map(|(segment, _, _)| segment)
            .collect::<Vec<_>>()
    };
    assert_eq!(segments("one"), ["a", "b"]);
    assert_eq!(segments("two"), ["c"]);
    assert_eq!(segments("top"), ["d"]);
    let named = LocalSource::builder()
        .dataset("all", &root)
        .folder(&root)
        .build()
        .unwrap();
    assert_eq!(datasets(&named), ["all", "one", "top", "two"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_in_circles() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let (root, store) = (dir.path().join("top"), dir.path().join("store"));
    write(store.join("a.rrd"), &[chunk("a", 1, 0..2)]);
    write(root.join("one/b.rrd"), &[chunk("b", 1, 0..2)]);
    symlink(&store, root.join("one/linked")).unwrap();
    symlink(root.join("one"), root.join("one/circle")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("nowhere", root.join("one/gone")).unwrap();
    let source = LocalSource::builder().folder(&root).build().unwrap();
    assert_eq!(datasets(&source), ["one"]);
    let source = LocalSource::builder()
        .dataset("d", root.join("one"))
        .build()
        .unwrap();
    let found = ids(&run(plan(&source)).unwrap());
    assert_eq!(found, [planned("a", "a", 1), planned("b", "b", 1)]);
    // A recording that is gone must not just be missing.
    symlink("nowhere", root.join("one/gone.rrd")).unwrap();
    let source = LocalSource::builder()
        .dataset("d", root.join("one"))
        .build()
        .unwrap();
    let error = run(plan(&source)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StorageUnavailable);
    assert!(error.message().contains("gone.rrd"), "{error}");
}

#[test]
fn hidden_folders_and_files_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    for (name, id) in [
        ("d/s.rrd", 1),
        (".git/t.rrd", 2),
        ("d/.trash/u.rrd", 3),
        ("d/.v.rrd", 4),
    ] {
        write(dir.path().join(name), &[chunk(&format!("s{id}"), id, 0..1)]);
    }
    let source = LocalSource::builder().folder(dir.path()).build().unwrap();
    assert_eq!(datasets(&source), ["d"]);
    let all = run(read_all(&source, Some("frame"))).unwrap();
    let segments: Vec<&str> = all.iter().map(|chunk| chunk.segment().as_str()).collect();
    assert_eq!(segments, ["s1"]);
    // Asked for by name, a hidden folder is as good as any.
    let named = LocalSource::builder().dataset("d", dir.path().join(".git"));
    assert_eq!(run(plan(&named.build().unwrap())).unwrap().len(), 1);
}

#[test]
fn a_folder_without_recordings_is_one_clear_line() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().display();
    for builder in [
        LocalSource::builder().folder(dir.path()),
        LocalSource::builder().dataset("d", dir.path()),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
        assert_eq!(
            error.message(),
            format!("no recordings (*.rrd) below '{folder}'")
        );
    }
    let missing = dir.path().join("missing");
    for builder in [
        LocalSource::builder().folder(&missing),
        LocalSource::builder().dataset("d", &missing),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.code(), ErrorCode::StorageUnavailable);
        assert!(error.message().contains("missing"), "{error}");
    }
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = LocalSource::builder()
        .dataset("d", &file)
        .build()
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}

#[test]
fn a_name_for_two_datasets_or_one_of_sql_is_a_clash() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("x/one/a.rrd"), &[chunk("a", 1, 0..2)]);
    write(dir.path().join("y/one/a.rrd"), &[chunk("a", 1, 0..2)]);
    write(dir.path().join("z/public/a.rrd"), &[chunk("a", 1, 0..2)]);
    let (x, y) = (dir.path().join("x"), dir.path().join("y"));
    let error = LocalSource::builder()
        .folder(&x)
        .folder(&y)
        .build()
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::NameClash);
    for path in [x.join("one"), y.join("one")] {
        assert!(error.message().contains(path.to_str().unwrap()), "{error}");
    }
    let error = LocalSource::builder()
        .folder(dir.path().join("z"))
        .build()
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::NameClash);
    assert!(error.message().contains("NAME="), "{error}");
    let error = LocalSource::builder()
        .dataset("information_schema", &x)
        .build()
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::NameClash);
    let error = LocalSource::builder().dataset("", &x).build().unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}

#[test]
fn an_unknown_dataset_is_unknown_everywhere_and_a_near_name_is_suggested() {
    let source = LocalSource::builder().folder(examples()).build().unwrap();
    let error = run(source.schema("robot")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownDataset);
    assert_eq!(
        error.message(),
        "no dataset 'robot'; did you mean 'robots'?"
    );
    let error = run(source.fetch("robot", Vec::new()).try_next()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownDataset);
}

#[test]
fn a_file_that_is_no_recording_fails_its_dataset_only() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("good/a.rrd"), &[chunk("a", 1, 0..2)]);
    write(dir.path().join("bad/a.rrd"), &[chunk("a", 1, 0..2)]);
    fs::write(dir.path().join("bad/b.rrd"), "this is no recording").unwrap();
    let source = LocalSource::builder().folder(dir.path()).build().unwrap();
    assert_eq!(datasets(&source), ["bad", "good"]);
    assert!(run(source.schema("good")).is_ok());
    let error = run(source.schema("bad")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotARecording);
    assert!(error.message().contains("b.rrd"), "{error}");
    fs::write(dir.path().join("bad/b.rrd"), "").unwrap();
    assert_eq!(
        run(source.schema("bad")).unwrap_err().code(),
        ErrorCode::NotARecording
    );
    // Mended, it is read again.
    write(dir.path().join("bad/b.rrd"), &[chunk("b", 1, 0..2)]);
    assert!(run(source.schema("bad")).is_ok());
    fs::remove_file(dir.path().join("bad/b.rrd")).unwrap();
    let error = run(source.schema("bad")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StorageUnavailable);
    assert!(error.message().contains("b.rrd"), "{error}");
}

#[test]
fn a_file_that_changed_is_read_again_and_what_was_planned_before_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.rrd");
    write(&path, &[chunk("s", 1, 0..2)]);
    let source = source(dir.path());
    run(async {
        let before = plan(&source).await.unwrap();
        assert_eq!(ids(&before), [planned("s", "a", 1)]);
        write(&path, &[chunk("s", 1, 0..2), chunk("s", 2, 2..4)]);
        let error = source
            .fetch("d", before.clone())
            .try_next()
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::SourceChanged);
        assert!(error.message().contains("a.rrd"), "{error}");
        let after = plan(&source).await.unwrap();
        assert_eq!(ids(&after), [planned("s", "a", 1), planned("s", "a", 2)]);
        assert_eq!(
            source
                .fetch("d", after.clone())
                .try_collect::<Vec<_>>()
                .await
                .unwrap()
                .len(),
            2
        );
        // The same length, but written later.
        let file = fs::File::options().write(true).open(&path).unwrap();
        let later =
            file.metadata().unwrap().modified().unwrap() + std::time::Duration::from_secs(1);
        file.set_modified(later).unwrap();
        let error = source
            .fetch("d", after.clone())
            .try_next()
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::SourceChanged);
        fs::remove_file(&path).unwrap();
        let error = source.fetch("d", after).try_next().await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SourceChanged);
    });
}

#[test]
fn a_plan_has_what_the_request_selects() {
    let dir = tempfile::tempdir().unwrap();
    let fixed = |id| {
        ChunkBuilder::new("s", "/a")
            .id(id)
            .floats("x", [Some(0.5)])
            .build()
    };
    let other = ChunkBuilder::new("s", "/b")
        .id(5)
        .sequence("tick", [1])
        .floats("y", [Some(1.0)]);
    write(
        dir.path().join("a.rrd"),
        &[
            chunk("s", 1, 0..10),
            chunk("s", 2, 10..20),
            fixed(3),
            other.build(),
        ],
    );
    write(dir.path().join("b.rrd"), &[chunk("t", 4, 0..10)]);
    let source = source(dir.path());
    let schema = run(source.schema("d")).unwrap();
    let select = |change: &dyn Fn(&mut segue_chunk::PlanRequest)| {
        let mut request = request(&schema, Some("frame"));
        change(&mut request);
        let plan = run(source.plan(&request)).unwrap();
        ids(&plan)
            .into_iter()
            .map(|(_, _, id)| id)
            .collect::<Vec<u64>>()
    };
    let range = |start, end| TimeSelection::Index {
        index: "frame".into(),
        range: TimeRange::new(start, end),
        fill: Fill::None,
    };
    assert_eq!(select(&|_| {}), [1, 2, 3, 4]);
    assert_eq!(select(&|r| r.time = TimeSelection::Static), [3]);
    assert_eq!(select(&|r| r.time = range(9, 9)), [1, 3, 4]);
    assert_eq!(select(&|r| r.time = range(10, 30)), [2, 3]);
    assert_eq!(select(&|r| r.time = range(20, 30)), [3]);
    assert_eq!(select(&|r| r.time = range(5, 4)), [3]);
    let segments = |names: &[&str]| names.iter().map(|name| SegmentId::from(*name)).collect();
    assert_eq!(
        select(&|r| r.segments = Some(segments(&["t", "none"]))),
        [4]
    );
    assert_eq!(select(&|r| r.segments = Some(BTreeSet::new())), [0_u64; 0]);
    assert_eq!(
        select(&|r| r.entities.retain(|e| e.entity.as_str() == "/b")),
        [0_u64; 0]
    );
    let components = |r: &mut segue_chunk::PlanRequest| {
        r.entities[0].components = [Arc::from("other")].into();
    };
    assert_eq!(select(&components), [0_u64; 0]);
    assert_eq!(select(&|r| r.entities.clear()), [0_u64; 0]);
}

#[test]
fn nothing_is_opened_before_the_first_poll() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.rrd");
    write(&path, &[chunk("s", 1, 0..2)]);
    let source = source(dir.path());
    let stream = source.fetch("d", run(plan(&source)).unwrap());
    // A file that is open already could be read to its end.
    fs::remove_file(&path).unwrap();
    let error = run(stream.try_collect::<Vec<_>>()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceChanged);
}

#[test]
fn a_stream_reads_a_few_chunks_ahead_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.rrd");
    let chunks: Vec<Chunk> = (1..=40).map(|id| chunk("s", id, 0..2)).collect();
    write(&path, &chunks);
    let source = source(dir.path());
    run(async {
        let mut stream = source.fetch("d", plan(&source).await.unwrap());
        assert!(stream.next().await.unwrap().is_ok());
        // What is not read yet when the file changes is refused.
        write(&path, &chunks[..1]);
        let rest: Vec<_> = stream.collect().await;
        let (last, read) = rest.split_last().unwrap();
        assert_eq!(last.as_ref().unwrap_err().code(), ErrorCode::SourceChanged);
        assert!(
            read.len() < 8 && read.iter().all(Result::is_ok),
            "{}",
            read.len()
        );
    });
}

#[test]
fn an_error_ends_the_stream() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.rrd");
    write(&path, &[chunk("s", 1, 0..2), chunk("s", 2, 2..4)]);
    let source = source(dir.path());
    run(async {
        let mut plan = plan(&source).await.unwrap();
        plan[1].key = bytes::Bytes::from_static(b"something");
        let mut stream = source.fetch("d", plan);
        assert_eq!(
            stream.next().await.unwrap().unwrap_err().code(),
            ErrorCode::InvalidArgument
        );
        assert!(stream.next().await.is_none());
    });
}

#[test]
fn outside_a_runtime_there_is_an_error_and_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("a.rrd"), &[chunk("s", 1, 0..2)]);
    let source = source(dir.path());
    let error = source.schema("d").now_or_never().unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}

#[test]
fn with_and_without_footer_a_dataset_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("with"), dir.path().join("without"));
    for folder in [&a, &b] {
        fs::create_dir(folder).unwrap();
    }
    for name in [
        "clear_0.rrd",
        "rowlog_0.rrd",
        "points_0.rrd",
        "static_override_0.rrd",
    ] {
        let bytes = robot(name);
        fs::write(a.join(name), &bytes).unwrap();
        fs::write(b.join(name), without_footer(&bytes)).unwrap();
    }
    let (a, b) = (source(&a), source(&b));
    run(async {
        assert_eq!(a.schema("d").await.unwrap(), b.schema("d").await.unwrap());
        for index in [None, Some("frame_nr"), Some("time"), Some("log_time")] {
            let (a, b) = (
                read_all(&a, index).await.unwrap(),
                read_all(&b, index).await.unwrap(),
            );
            assert!(!a.is_empty());
            assert_eq!(shapes(&a), shapes(&b));
            assert!(same_values(&a, &b));
        }
    });
}
