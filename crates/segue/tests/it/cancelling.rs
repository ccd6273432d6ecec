//! Stopping a query over a source that always has something ready.

use std::sync::Arc;

use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::prelude::SessionConfig;
use futures::StreamExt;
use segue::SegueSession;
use segue::chunk::testing::{ChunkBuilder, ScriptedSource};
use tokio::task::{JoinSet, yield_now};

/// Fetches that each partition may still begin once somebody wants the query to stop.
const MOST_PER_PARTITION: usize = 300;

const PARTITIONS: usize = 2;

const CHUNKS: u64 = 20_000;

/// Queries that read everything before they answer anything.
const QUERIES: [&str; 3] = [
    r#"SELECT frame % 10, count("/a:x") FROM d.frame GROUP BY 1"#,
    r#"SELECT rerun_segment_id, max(frame), count("/a:x") FROM d.frame GROUP BY 1"#,
    r#"SELECT frame, "/a:x" FROM d.frame ORDER BY array_element("/a:x", 1), frame"#,
];

/// The dataset `d`: chunks of one row each, in as many segments as there are partitions.
fn source() -> Arc<ScriptedSource> {
    let chunks = (0..CHUNKS).map(|n| {
        ChunkBuilder::new(format!("s{}", n % PARTITIONS as u64), "/a")
            .id(n + 1)
            .sequence("frame", [n as i64])
            .floats("x", [Some(1.0)])
            .build()
    });
    Arc::new(ScriptedSource::new().dataset("d", chunks))
}

/// A session that fetches chunk by chunk.
async fn session(source: &Arc<ScriptedSource>, batch_size: usize) -> SegueSession {
    let config = SessionConfig::new()
        .with_target_partitions(PARTITIONS)
        .with_batch_size(batch_size);
    let session = SegueSession::builder()
        .with_source(Arc::clone(source) as _)
        .with_session_config(config)
        .build()
        .await
        .unwrap();
    let setting = "SET segue_stream.unit_bytes = 1";
    session.sql(setting).await.unwrap();
    session
}

/// Checks that after `before` fetches the query has come to its end soon, with all that it held.
async fn is_over(source: &ScriptedSource, session: &SegueSession, before: usize, sql: &str) {
    source.when(|counts| counts.streams == 0).await;
    let tasks = tokio::runtime::Handle::current().metrics();
    while tasks.num_alive_tasks() > 0 {
        yield_now().await;
    }
    let after = source.counts();
    let most = PARTITIONS * MOST_PER_PARTITION;
    assert!(
        after.fetches - before <= most,
        "{sql}: {} fetches",
        after.fetches - before
    );
    assert_eq!(after.streams, 0, "{sql}");
    // What a thread was at work on is given back once it is done with it.
    let pool = Arc::clone(&session.context().runtime_env().memory_pool);
    while pool.reserved() > 0 {
        yield_now().await;
    }
}

async fn start(session: &SegueSession, sql: &str) -> SendableRecordBatchStream {
    let frame = session.sql(sql).await.unwrap();
    frame.execute_stream().await.unwrap()
}

/// apache/datafusion#14036
#[tokio::test]
async fn a_query_over_a_source_that_never_waits_stops_when_it_is_told_to() {
    let source = source();
    for batch_size in [1, 8192] {
        let session = session(&source, batch_size).await;
        for sql in QUERIES {
            let before = source.counts().fetches;
            let mut rows = start(&session, sql).await;
            tokio::select! {
                // First, because the rows may use up all that a task may do at a time.
                biased;
                _ = source.when(|counts| counts.fetches >= before + 10) => {}
                _ = rows.next() => panic!("{sql}: rows before the query was stopped"),
            }
            drop(rows);
            is_over(&source, &session, before + 10, sql).await;

            let before = source.counts().fetches;
            let mut rows = start(&session, sql).await;
            let mut query = JoinSet::new();
            query.spawn(async move { while rows.next().await.is_some() {} });
            source.when(|counts| counts.fetches >= before + 10).await;
            query.abort_all();
            let ended = query.join_next().await.unwrap();
            assert!(ended.unwrap_err().is_cancelled(), "{sql}");
            is_over(&source, &session, before + 10, sql).await;
        }
    }
}
