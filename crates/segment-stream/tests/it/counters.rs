//! What a scan counts is what it did.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::execution::config::SessionConfig;
use datafusion::physical_plan::metrics::{MetricCategory, MetricValue, MetricsSet};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, collect};
use datafusion::prelude::SessionContext;
use futures::{StreamExt, TryStreamExt};
use segue_chunk::testing::{Fault, Gate, ScriptedSource, schema_of};
use segue_chunk::{
    Chunk, ChunkDecoder, ChunkInfo, ChunkSource, Compression, Fill, PlanRequest, TimeRange,
    TimeSelection, View, ViewOptions,
};
use segue_error::ErrorCode;
use segue_segment_stream::{Counter, Kind, SegmentStreamExec, Unit};

use crate::support::{batches, config, plan, quiet, regular, session, source};

/// The scan in `plan`.
fn scan(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    if plan.is::<SegmentStreamExec>() {
        return Arc::clone(plan);
    }
    let children = plan.children();
    scan(children.first().unwrap())
}

fn value(metrics: &MetricsSet, counter: Counter) -> usize {
    let named = |metric: &MetricValue| metric.name() == counter.name();
    let sum = metrics.sum(|metric| named(metric.value()));
    sum.unwrap_or_else(|| panic!("no {}", counter.name()))
        .as_usize()
}

fn values<const N: usize>(plan: &Arc<dyn ExecutionPlan>, counters: [Counter; N]) -> [usize; N] {
    let metrics = plan.metrics().unwrap();
    counters.map(|counter| value(&metrics, counter))
}

const PLANNED: [Counter; 3] = [
    Counter::SegmentsPlanned,
    Counter::ChunksPlanned,
    Counter::BytesPlanned,
];

/// What the planned counters of a read of everything in `source` should be.
async fn all_of(source: &ScriptedSource, chunks: &[Chunk]) -> (Vec<ChunkInfo>, [usize; 3]) {
    let view = View::resolve(&schema_of(chunks), Some("frame"), &ViewOptions::default()).unwrap();
    let request = PlanRequest {
        dataset: "d".into(),
        entities: view.entities(),
        segments: None,
        time: TimeSelection::Index {
            index: "frame".into(),
            range: TimeRange::ALL,
            fill: Fill::None,
        },
    };
    let infos = source.plan(&request).await.unwrap();
    let segments: BTreeSet<_> = infos.iter().map(|info| &info.segment).collect();
    let bytes: u64 = infos.iter().map(|info| info.byte_len).sum();
    let planned = [segments.len(), infos.len(), bytes as usize];
    (infos, planned)
}

/// Bytes of memory of the chunks once decoded.
async fn decoded(source: &ScriptedSource, chunks: &[Chunk], infos: &[ChunkInfo]) -> usize {
    let decoder = ChunkDecoder::new(Arc::new(schema_of(chunks)), Some("frame".into()));
    let mut bytes = 0;
    for info in infos {
        let one = source.fetch("d", vec![info.clone()]);
        let one: Vec<_> = one.try_collect().await.unwrap();
        bytes += decoder.decode(info, &one[0]).unwrap().memory_size();
    }
    bytes
}

fn small_units(partitions: usize) -> SessionConfig {
    let mut config = config(partitions, 8192);
    let options = config.options_mut();
    options.set("segue_stream.unit_bytes", "1").unwrap();
    config
}

#[tokio::test]
async fn what_is_counted_is_what_was_done_at_any_number_of_partitions() {
    let chunks = regular(12, 30, 4);
    let twin = ScriptedSource::new().dataset("d", chunks.clone());
    let twin = twin.compression(Compression::Lz4);
    let (infos, planned) = all_of(&twin, &chunks).await;
    let memory = decoded(&twin, &chunks, &infos).await;
    assert_eq!(planned[..2], [12, 12 * (8 + 4)]);
    for partitions in [1, 7] {
        for config in [config(partitions, 8192), small_units(partitions)] {
            let source = ScriptedSource::new().dataset("d", chunks.clone());
            let source = Arc::new(source.compression(Compression::Lz4));
            let context = session(&source, config).await;
            let plan = plan(&context, "SELECT * FROM t").await;
            assert_eq!(plan.output_partitioning().partition_count(), partitions);
            assert_eq!(values(&plan, PLANNED), planned);
            let batches = collect(Arc::clone(&plan), context.task_ctx())
                .await
                .unwrap();
            let counts = source.counts();
            assert_eq!(values(&plan, PLANNED), planned);
            assert_eq!(counts.bytes as usize, planned[2]);
            let done = [
                (Counter::FetchRequests, counts.fetches),
                (Counter::ChunksFetched, counts.chunks),
                (Counter::BytesFetched, counts.bytes as usize),
                (Counter::BytesDecoded, memory),
                (Counter::ChunksSkipped, 0),
                (Counter::BytesSkipped, 0),
                (Counter::OutputRows, 12 * 30),
                (Counter::OutputBatches, batches.len()),
            ];
            let metrics = plan.metrics().unwrap();
            for (counter, expected) in done {
                assert_eq!(value(&metrics, counter), expected, "{counter:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_limit_spares_is_skipped() {
    let chunks = regular(12, 30, 4);
    let (_, planned) = all_of(&source(chunks.clone()), &chunks).await;
    for partitions in [1, 7] {
        let source = source(chunks.clone());
        let context = session(&source, small_units(partitions)).await;
        let plan = plan(&context, "SELECT * FROM t LIMIT 5").await;
        let scan = scan(&plan);
        assert_eq!(values(&scan, PLANNED), planned);
        let mut rows = 0;
        for partition in 0..partitions {
            let stream = scan.execute(partition, context.task_ctx()).unwrap();
            let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
            let own: usize = batches.iter().map(RecordBatch::num_rows).sum();
            // A partition may have got no segment.
            assert!(own == 5 || own == 0);
            rows += own;
        }
        assert!(rows >= 5);
        let counts = source.counts();
        assert!(counts.chunks < planned[1]);
        let [fetched, skipped] = values(&scan, [Counter::ChunksFetched, Counter::ChunksSkipped]);
        assert_eq!((fetched, skipped), (counts.chunks, planned[1] - fetched));
        let [bytes, skipped] = values(&scan, [Counter::BytesFetched, Counter::BytesSkipped]);
        assert_eq!(bytes + skipped, planned[2]);
        assert_eq!(values(&scan, [Counter::OutputRows]), [rows]);
        assert_eq!(values(&scan, PLANNED), planned);
    }
}

#[tokio::test]
async fn what_a_limit_spares_is_known_at_the_end_of_a_stream_that_is_kept() {
    let source = source(regular(3, 30, 4));
    let context = session(&source, small_units(1)).await;
    let plan = plan(&context, "SELECT * FROM t LIMIT 5").await;
    let scan = scan(&plan);
    let mut stream = scan.execute(0, context.task_ctx()).unwrap();
    while stream.next().await.is_some() {}
    let fetched = source.counts().chunks;
    let so_far = [Counter::ChunksFetched, Counter::ChunksSkipped];
    assert_eq!(values(&scan, so_far), [fetched, 36 - fetched]);
    drop(stream);
    assert_eq!(values(&scan, so_far), [fetched, 36 - fetched]);
}

#[tokio::test]
async fn what_had_not_come_when_the_stream_was_dropped_is_skipped() {
    let gate = Gate::new();
    let source = ScriptedSource::new().dataset("d", regular(1, 30, 4));
    let source = Arc::new(source.gated(&gate));
    let context = session(&source, small_units(1)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    let mut stream = plan.execute(0, context.task_ctx()).unwrap();
    assert!(futures::poll!(stream.next()).is_pending());
    gate.release(5);
    while source.counts().chunks < 5 {
        assert!(futures::poll!(stream.next()).is_pending());
        tokio::task::yield_now().await;
    }
    let so_far = [Counter::ChunksFetched, Counter::ChunksSkipped];
    assert_eq!(values(&plan, so_far), [5, 0]);
    drop(stream);
    quiet(&source).await;
    assert_eq!(values(&plan, so_far), [5, 12 - 5]);
    let [wait, first] = values(&plan, [Counter::SourceWait, Counter::FirstBatch]);
    assert!(wait > 0);
    assert_eq!(first, 0, "there was no batch");
}

#[tokio::test]
async fn a_stream_that_is_never_polled_skips_all() {
    let source = source(regular(3, 30, 4));
    let context = session(&source, config(1, 8192)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    drop(plan.execute(0, context.task_ctx()).unwrap());
    let done = [
        Counter::FetchRequests,
        Counter::ChunksSkipped,
        Counter::BytesSkipped,
    ];
    let [requests, skipped, bytes] = values(&plan, done);
    assert_eq!([0, skipped, bytes][1..], values(&plan, PLANNED)[1..]);
    assert_eq!(requests, 0);
}

#[tokio::test]
async fn what_came_before_an_error_is_counted_and_the_rest_is_skipped() {
    let chunks = regular(1, 30, 4);
    let fault = Fault::Error(chunks[6].id(), ErrorCode::TransportUnavailable);
    let source = ScriptedSource::new().dataset("d", chunks).fault(fault);
    let source = Arc::new(source);
    let context = session(&source, small_units(1)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    let outcome = collect(Arc::clone(&plan), context.task_ctx()).await;
    assert!(outcome.is_err());
    let [fetched, skipped] = values(&plan, [Counter::ChunksFetched, Counter::ChunksSkipped]);
    assert_eq!((fetched, fetched + skipped), (source.counts().chunks, 12));
    assert!(skipped > 0);
}

#[tokio::test]
async fn an_execution_more_adds_to_what_is_done_and_not_to_what_is_planned() {
    let chunks = regular(12, 30, 4);
    let source = source(chunks);
    let context = session(&source, config(7, 8192)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    let planned = values(&plan, PLANNED);
    let fetched = [Counter::ChunksFetched, Counter::BytesFetched];
    for executions in 1..=2 {
        collect(Arc::clone(&plan), context.task_ctx())
            .await
            .unwrap();
        assert_eq!(values(&plan, PLANNED), planned);
        let [_, chunks, bytes] = planned;
        let expected = [chunks, bytes].map(|count| count * executions);
        assert_eq!(values(&plan, fetched), expected);
    }
}

#[tokio::test]
async fn what_is_planned_is_there_once_in_every_form_of_the_plan() {
    let source = source(regular(12, 30, 4));
    let context = session(&source, config(2, 8192)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    let planned = values(&plan, PLANNED);
    collect(Arc::clone(&plan), context.task_ctx())
        .await
        .unwrap();
    let split = plan.repartitioned(7, context.copied_config().options());
    let split = split.unwrap().unwrap();
    let limited = plan.with_fetch(Some(3)).unwrap();
    let anew = Arc::clone(&plan).reset_state().unwrap();
    for plan in [&plan, &split, &limited, &anew] {
        assert_eq!(values(plan, PLANNED), planned);
        let metrics = plan.metrics().unwrap();
        for counter in PLANNED {
            let of = metrics
                .iter()
                .filter(|m| m.value().name() == counter.name());
            assert_eq!(of.count(), 1, "{counter:?}");
        }
    }
    // The same read goes on to count where it was, a new one begins.
    let [fetched] = values(&split, [Counter::ChunksFetched]);
    assert_eq!(fetched, planned[1]);
    assert_eq!(anew.metrics().unwrap().iter().count(), PLANNED.len());
}

#[tokio::test]
async fn every_row_of_the_table_is_shown_by_explain_analyze_and_no_other_figure() {
    let source = source(regular(12, 30, 4));
    for partitions in [1, 7] {
        let context = session(&source, config(partitions, 8192)).await;
        let sql = "EXPLAIN ANALYZE SELECT * FROM t LIMIT 5";
        let text = explained(&context, sql).await;
        let line = text.lines().find(|line| line.contains("SegmentStreamExec"));
        let (_, metrics) = line.unwrap().split_once("metrics=[").unwrap();
        let figures = metrics.trim_end_matches(']').split(", ");
        let figures = figures.map(|figure| figure.split_once('=').unwrap());
        let figures: Vec<(&str, &str)> = figures.collect();
        let shown: BTreeSet<&str> = figures.iter().map(|(name, _)| *name).collect();
        let known: BTreeSet<&str> = Counter::ALL.iter().map(|counter| counter.name()).collect();
        assert_eq!(shown, known);
        for (name, figure) in figures {
            let is_waited = name == Counter::SourceWait.name();
            assert!(is_waited || figure != "NOT RECORDED", "{name}");
        }
    }
}

/// The texts of an explained statement, one after the other.
async fn explained(context: &SessionContext, sql: &str) -> String {
    let batches = batches(context, sql).await.unwrap();
    let texts = batches.iter().flat_map(|batch| {
        let column = datafusion::arrow::compute::cast(
            batch.column_by_name("plan").unwrap(),
            &datafusion::arrow::datatypes::DataType::Utf8,
        );
        let column = column.unwrap();
        let column = datafusion::arrow::array::AsArray::as_string::<i32>(&column);
        column
            .iter()
            .flatten()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn metrics_are_of_the_kind_and_category_that_the_table_says() {
    let source = source(regular(12, 30, 4));
    let context = session(&source, config(7, 8192)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    collect(Arc::clone(&plan), context.task_ctx())
        .await
        .unwrap();
    let metrics = plan.metrics().unwrap();
    for metric in metrics.iter().filter(|m| !m.value().is_timestamp()) {
        let name = metric.value().name();
        let counter = Counter::ALL.iter().find(|counter| counter.name() == name);
        let counter = counter.unwrap_or_else(|| panic!("{name} is not in the table"));
        let is_whole = metric.partition().is_none();
        assert_eq!(is_whole, counter.kind() == Kind::Planned, "{name}");
        let is_extreme = matches!(metric.value(), MetricValue::Custom { .. });
        let is_said = matches!(counter.kind(), Kind::Least | Kind::Most);
        assert_eq!(is_extreme, is_said, "{name}");
        let category = match counter.unit() {
            Unit::Bytes => MetricCategory::Bytes,
            Unit::Nanoseconds => MetricCategory::Timing,
            _ => MetricCategory::Rows,
        };
        assert_eq!(metric.metric_category(), Some(category), "{name}");
    }
}

#[tokio::test]
async fn the_time_to_the_first_batch_is_the_one_of_the_quickest_partition() {
    let source = source(regular(12, 30, 4));
    let context = session(&source, config(7, 8192)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    collect(Arc::clone(&plan), context.task_ctx())
        .await
        .unwrap();
    let metrics = plan.metrics().unwrap();
    let times = metrics.iter().map(|metric| metric.value());
    let times = times.filter(|value| value.name() == Counter::FirstBatch.name());
    let times: Vec<usize> = times.map(MetricValue::as_usize).collect();
    assert_eq!(times.len(), 7);
    // A partition without segments has no batch.
    let least = times.into_iter().filter(|time| *time > 0).min().unwrap();
    assert_eq!(value(&metrics, Counter::FirstBatch), least);
}
