//! Tables about segments and chunks.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::prelude::SessionContext;
use segue_chunk::testing::{ChunkBuilder, ScriptedSource};
use segue_chunk::{Chunk, ChunkSource};
use segue_segment_stream::{ChunksTable, SegmentsTable};

use crate::support::{batches, config, lines, rows, source};

fn recordings() -> Vec<Chunk> {
    let chunk = |segment, entity, id| ChunkBuilder::new(segment, entity).id(id);
    vec![
        chunk("s1", "/a", 1)
            .sequence("frame", [3, 5])
            .floats("x", [Some(1.0), None])
            .build(),
        chunk("s0", "/b", 2)
            .sequence("step", [7])
            .floats("x", [Some(1.0)])
            .build(),
        chunk("s0", "/a", 3)
            .sequence("frame", [1, 2])
            .sequence("step", [10, 20])
            .floats("x", [Some(1.0), Some(2.0)])
            .build(),
        chunk("s0", "/fixed", 4)
            .texts("name", [Some("arm")])
            .build(),
        chunk("s1", "/__properties/episode", 5)
            .texts("task", [Some("pick")])
            .build(),
    ]
}

/// A session with both tables of `chunks`.
async fn session(chunks: Vec<Chunk>) -> (SessionContext, Arc<ScriptedSource>) {
    let source = source(chunks);
    let columns = source.schema("d").await.unwrap();
    let shared: Arc<dyn ChunkSource> = Arc::clone(&source) as _;
    let segments = SegmentsTable::try_new(Arc::clone(&shared), "d", &columns).unwrap();
    let chunks = ChunksTable::new(shared, "d", &columns);
    let context = SessionContext::new_with_config(config(2, 2));
    context
        .register_table("segments", Arc::new(segments))
        .unwrap();
    context.register_table("chunks", Arc::new(chunks)).unwrap();
    (context, source)
}

#[tokio::test]
async fn every_chunk_has_a_row_with_its_bounds_on_each_timeline() {
    let (context, _) = session(recordings()).await;
    let sql = "SELECT rerun_segment_id, chunk_entity_path, chunk_is_static, \"frame:start\", \"step:start\",
               chunk_byte_len > 0, rerun_segment_layer FROM chunks";
    // In the order in which they are given, whatever the batches.
    assert_eq!(
        lines(&batches(&context, sql).await.unwrap()),
        [
            "| s0 | /a | false | 1 | 10 | true | base |",
            "| s0 | /b | false | | 7 | true | base |",
            "| s0 | /fixed | true | | | true | base |",
            "| s1 | /__properties/episode | true | | | true | base |",
            "| s1 | /a | false | 3 | | true | base |",
        ]
    );
    let known = "SELECT count(*), count(DISTINCT chunk_id) FROM chunks";
    assert_eq!(rows(&context, known).await, ["| 5 | 5 |"]);
}

#[tokio::test]
async fn every_segment_has_a_row_with_its_properties_and_bounds() {
    let (context, _) = session(recordings()).await;
    let sql =
        "SELECT rerun_segment_id, rerun_num_chunks, \"frame:start\", \"frame:end\", \"step:end\",
               \"property:episode:task\"[1] FROM segments";
    assert_eq!(
        lines(&batches(&context, sql).await.unwrap()),
        ["| s0 | 3 | 1 | 2 | 20 | |", "| s1 | 2 | 3 | 5 | | pick |"]
    );
}

#[tokio::test]
async fn nothing_is_asked_before_the_scan_and_nothing_is_ever_fetched() {
    let (context, source) = session(recordings()).await;
    let asked = source.counts();
    let frame = context
        .sql("SELECT * FROM chunks CROSS JOIN segments")
        .await
        .unwrap();
    assert_eq!(source.counts().plans, asked.plans);
    assert_eq!(
        frame
            .collect()
            .await
            .unwrap()
            .iter()
            .map(|b| b.num_rows())
            .sum::<usize>(),
        10
    );
    // Once per timeline.
    assert_eq!(source.counts().plans, asked.plans + 2);
    assert_eq!(source.counts().fetches, 0);
}

/// The answer to `sql`, with how often it asked for a plan and for the table of segments.
async fn asking(sql: &str) -> (Vec<String>, usize, usize) {
    let (context, source) = session(recordings()).await;
    let before = source.counts();
    let rows = rows(&context, sql).await;
    let counts = source.counts();
    let segment_tables = counts.segment_tables - before.segment_tables;
    (rows, counts.plans - before.plans, segment_tables)
}

fn said(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|row| format!("| {row} |")).collect()
}

#[tokio::test]
async fn segments_are_chosen_by_the_source() {
    let sql = |filter: &str| format!("SELECT rerun_segment_id FROM segments WHERE {filter}");
    for (filter, rows) in [
        ("rerun_segment_id = 's1'", &["s1"][..]),
        ("rerun_segment_id NOT IN ('s1', 'x', 'y', 'z')", &["s0"]),
        (
            "rerun_segment_id LIKE 's%' AND rerun_segment_id > 's0'",
            &["s1"],
        ),
        ("rerun_num_chunks = 3", &["s0"]),
        (
            "rerun_num_chunks = 3 OR rerun_segment_id = 's1'",
            &["s0", "s1"],
        ),
    ] {
        assert_eq!(asking(&sql(filter)).await, (said(rows), 0, 1), "{filter}");
    }
    let contradiction = sql("rerun_segment_id = 's0' AND rerun_segment_id = 's1'");
    assert_eq!(asking(&contradiction).await, (Vec::new(), 0, 0));
    let limited =
        "SELECT count(*) FROM (SELECT 1 FROM segments WHERE rerun_segment_id <> 's1' LIMIT 5)";
    assert_eq!(asking(limited).await.0, said(&["1"]));
}

#[tokio::test]
async fn chunks_are_chosen_by_what_is_said_of_them() {
    let all = [
        "s0 | /a",
        "s0 | /b",
        "s0 | /fixed",
        "s1 | /__properties/episode",
        "s1 | /a",
    ];
    let sql = |filter: &str| {
        format!("SELECT rerun_segment_id, chunk_entity_path FROM chunks WHERE {filter}")
    };
    for (filter, rows, plans) in [
        ("true", &all[..], 2),
        ("rerun_segment_id = 's1'", &all[3..], 2),
        ("chunk_entity_path LIKE '/a%'", &["s0 | /a", "s1 | /a"], 2),
        (
            "chunk_entity_path <> '/a' AND rerun_segment_id < 's1'",
            &["s0 | /b", "s0 | /fixed"],
            2,
        ),
        (
            "rerun_segment_id = 's1' OR chunk_entity_path = '/b'",
            &["s0 | /b", all[3], all[4]],
            2,
        ),
        (
            "chunk_is_static",
            &["s0 | /fixed", "s1 | /__properties/episode"],
            1,
        ),
        ("NOT chunk_is_static", &["s0 | /a", "s0 | /b", "s1 | /a"], 2),
        ("chunk_is_static AND NOT chunk_is_static", &[], 0),
        ("chunk_entity_path = '/none'", &[], 0),
        // Only chunks with the timeline can have such bounds.
        ("\"frame:start\" >= 2", &["s1 | /a"], 1),
        (
            "\"frame:end\" <= 2 AND \"step:start\" = 10",
            &["s0 | /a"],
            2,
        ),
        ("\"frame:end\" - \"frame:start\" = 2", &["s1 | /a"], 2),
        (
            "\"frame:start\" IS NULL",
            &["s0 | /b", "s0 | /fixed", all[3]],
            2,
        ),
        ("\"frame:start\" > 1 AND \"frame:start\" < 1", &[], 0),
    ] {
        assert_eq!(
            asking(&sql(filter)).await,
            (said(rows), plans, 0),
            "{filter}"
        );
    }
    // What is shown of other timelines is asked for.
    let both = "SELECT \"frame:end\", \"step:end\" FROM chunks WHERE \"frame:start\" <= 1";
    assert_eq!(asking(both).await, (said(&["2 | 20"]), 2, 0));
}

#[tokio::test]
async fn a_dataset_without_timelines_or_anything_has_its_tables() {
    let fixed = ChunkBuilder::new("s0", "/fixed")
        .texts("name", [Some("arm")])
        .build();
    let (context, _) = session(vec![fixed]).await;
    assert_eq!(
        rows(&context, "SELECT count(*) FROM chunks").await,
        ["| 1 |"]
    );
    let (context, _) = session(Vec::new()).await;
    assert_eq!(
        rows(&context, "SELECT count(*) FROM chunks").await,
        ["| 0 |"]
    );
    assert_eq!(
        rows(&context, "SELECT count(*) FROM segments").await,
        ["| 0 |"]
    );
}

#[tokio::test]
async fn columns_follow_from_those_of_the_dataset() {
    let (context, _) = session(recordings()).await;
    let names = |table: Arc<dyn TableProvider>| -> Vec<String> {
        let schema = table.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    };
    let chunks = names(context.table_provider("chunks").await.unwrap());
    assert_eq!(chunks[0], "chunk_id");
    assert_eq!(
        chunks[8..],
        ["frame:start", "frame:end", "step:start", "step:end"]
    );
    let segments = names(context.table_provider("segments").await.unwrap());
    assert_eq!(
        segments[6..10],
        ["frame:start", "frame:end", "step:start", "step:end"]
    );
    assert_eq!(segments[10..], ["property:episode:task"]);
}
