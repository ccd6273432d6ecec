//! Laziness, limits, cancellation.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::DFSchema;
use datafusion::physical_plan::ExecutionPlanProperties;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use segue_chunk::testing::{ChunkBuilder, Gate, ScriptedSource};
use segue_error::find_segue_error;

use crate::support::{
    SCALAR, batches, config, lines, plan, quiet, regular, rows, session, source, table,
};

#[tokio::test]
async fn planning_and_execute_fetch_nothing_and_the_first_poll_begins() {
    let source = source(regular(2, 10, 4));
    let context = session(&source, config(1, 8192)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    let mut stream = plan.execute(0, context.task_ctx()).unwrap();
    assert_eq!((source.counts().plans, source.counts().fetches), (1, 0));
    stream.next().await.unwrap().unwrap();
    assert!(source.counts().fetches > 0);
}

#[tokio::test]
async fn the_same_plan_gives_the_same_rows_again() {
    let source = source(regular(3, 10, 4));
    let context = session(&source, config(2, 3)).await;
    let plan = plan(&context, "SELECT * FROM t WHERE frame < 7").await;
    let mut all = Vec::new();
    for _ in 0..2 {
        let plan = Arc::clone(&plan);
        let batches = datafusion::physical_plan::collect(plan, context.task_ctx()).await;
        let mut rows = lines(&batches.unwrap());
        rows.sort();
        all.push(rows);
    }
    assert_eq!(all[0].len(), 21);
    assert_eq!(all[0], all[1]);
}

async fn small_units(source: &Arc<ScriptedSource>) -> SessionContext {
    let context = session(source, config(1, 8192)).await;
    context
        .sql("SET segue_stream.unit_bytes = 1")
        .await
        .unwrap();
    context
}

#[tokio::test]
async fn a_limit_stops_the_fetching() {
    let source = source(regular(10, 100, 5));
    let context = small_units(&source).await;
    assert_eq!(rows(&context, "SELECT frame FROM t LIMIT 3").await.len(), 3);
    let fetched = source.counts().chunks;
    assert!(fetched <= 6, "{fetched} chunks of 300 for three rows");
}

#[tokio::test]
async fn dropping_the_stream_stops_every_fetch() {
    let gate = Gate::new();
    let source = ScriptedSource::new()
        .dataset("d", regular(10, 100, 5))
        .gated(&gate);
    let source = Arc::new(source);
    let context = small_units(&source).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    let mut stream = plan.execute(0, context.task_ctx()).unwrap();
    assert!(futures::poll!(stream.next()).is_pending());
    source.when(|counts| counts.streams > 0).await;
    drop(stream);
    quiet(&source).await;
}

#[tokio::test]
async fn a_stream_that_has_ended_holds_nothing_and_keeps_its_schema() {
    let source = source(regular(2, 10, 4));
    let context = session(&source, config(1, 8192)).await;
    let plan = plan(&context, "SELECT frame FROM t").await;
    let mut stream = plan.execute(0, context.task_ctx()).unwrap();
    while stream.next().await.is_some() {}
    assert_eq!(source.counts().streams, 0);
    assert_eq!(stream.schema(), plan.schema());
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn batches_are_full_but_for_the_last_of_a_partition() {
    let source = source(regular(5, 100, 7));
    let context = small_units(&source).await;
    let batches = batches(&context, "SELECT * FROM t").await.unwrap();
    let sizes: Vec<usize> = batches.iter().map(|batch| batch.num_rows()).collect();
    assert_eq!(sizes, [500]);
}

#[tokio::test]
async fn a_batch_ends_at_its_byte_limit_however_the_rows_come() {
    for per_chunk in [1, 100] {
        let source = source(regular(1, 100, per_chunk));
        let context = small_units(&source).await;
        context
            .sql("SET segue_stream.batch_bytes = 1")
            .await
            .unwrap();
        let batches = batches(&context, "SELECT * FROM t").await.unwrap();
        assert_eq!(batches.len(), 100, "chunks of {per_chunk} rows");
    }
}

#[tokio::test]
async fn static_rows_keep_to_the_byte_limit_too() {
    let chunk = |segment: u64| {
        let chunk = ChunkBuilder::new(format!("s{segment}"), "/a").id(segment + 1);
        chunk.floats(SCALAR, [Some(1.0)]).build()
    };
    let source = source((0..10).map(chunk).collect());
    let context = SessionContext::new_with_config(config(1, 8192));
    context
        .register_table("t", table(&source, None).await)
        .unwrap();
    context
        .sql("SET segue_stream.batch_bytes = 1")
        .await
        .unwrap();
    let batches = batches(&context, "SELECT * FROM t").await.unwrap();
    assert_eq!(batches.len(), 10);
}

#[tokio::test]
async fn contradictions_and_unknown_segments_give_no_rows_and_ask_for_nothing() {
    let source = source(regular(3, 10, 4));
    let context = session(&source, config(2, 8192)).await;
    let table = table(&source, Some("frame")).await;
    let schema = DFSchema::try_from(table.schema()).unwrap();
    for filter in [
        "frame > 5 AND frame < 5",
        "rerun_segment_id = 's00' AND rerun_segment_id = 's01'",
        "frame IS NULL",
        "NOT (frame = NULL)",
        "frame NOT IN (1, 2, 3, 4, NULL)",
    ] {
        // To the table itself: DataFusion would fold some of these away before it.
        let filter = context.parse_sql_expr(filter, &schema).unwrap();
        let filters = [filter];
        let state = context.state();
        let plan = table.scan(&state, None, &filters, None).await.unwrap();
        assert!(plan.is::<EmptyExec>(), "{}", filters[0]);
        assert_eq!(plan.schema(), table.schema());
    }
    assert_eq!(source.counts().plans, 0);
    let sql = "SELECT * FROM t WHERE rerun_segment_id = 'nope'";
    assert!(rows(&context, sql).await.is_empty());
    assert_eq!(source.counts().fetches, 0);
}

#[tokio::test]
async fn an_option_that_means_nothing_is_refused_by_name() {
    let source = source(regular(1, 10, 4));
    let context = session(&source, config(1, 8192)).await;
    for (sql, message) in [
        (
            "SET segue_stream.units_ahead = 0",
            "option 'segue_stream.units_ahead' wants a number greater than 0, not '0'",
        ),
        (
            "SET segue_stream.unit_bytes = 'many'",
            "option 'segue_stream.unit_bytes' wants a number of bytes greater than 0, such as 64M, not 'many'",
        ),
        (
            "SET segue_stream.unit_byte = 1",
            "no option 'segue_stream.unit_byte'; did you mean 'unit_bytes' or 'units_ahead'?",
        ),
    ] {
        let error = context.sql(sql).await.unwrap_err();
        assert_eq!(find_segue_error(&error).unwrap().to_string(), message);
    }
}

#[tokio::test]
async fn options_are_shown_as_they_are_set() {
    let source = source(regular(1, 10, 4));
    let config = config(1, 8192).with_information_schema(true);
    let context = session(&source, config).await;
    context
        .sql("SET segue_stream.units_ahead = 3")
        .await
        .unwrap();
    let shown = rows(&context, "SHOW segue_stream.units_ahead").await;
    assert_eq!(shown, ["| segue_stream.units_ahead | 3 |"]);
}

#[tokio::test]
async fn filters_on_segment_and_index_narrow_what_is_fetched() {
    let source = source(regular(10, 100, 5));
    let context = small_units(&source).await;
    let sql = "SELECT * FROM t WHERE rerun_segment_id = 's03' AND frame BETWEEN 10 AND 14";
    let plan = plan(&context, sql).await;
    assert_eq!(plan.output_partitioning().partition_count(), 1);
    assert_eq!(rows(&context, sql).await.len(), 5);
    assert_eq!(source.counts().chunks, 2);
}

#[tokio::test]
async fn chunks_between_the_wanted_index_values_are_not_fetched() {
    let source = source(regular(1, 100, 5));
    let context = small_units(&source).await;
    let found = rows(&context, "SELECT * FROM t WHERE frame = 0 OR frame = 99").await;
    assert_eq!((found.len(), source.counts().chunks), (2, 3));
}
