//! What has gone wrong elsewhere, by name.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryPool, MemoryReservation, UnboundedMemoryPool,
};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionContext;
use futures::{FutureExt, StreamExt, stream};
use segue_chunk::testing::ScriptedSource;
use segue_chunk::{
    Chunk, ChunkInfo, ChunkSource, ChunkStream, DatasetSchema, PlanRequest, TextSet,
};
use segue_error::{ErrorCode, Result, find_segue_error};
use segue_segment_stream::{Counter, CpuPool, MemoryWindow, SegmentStreamTable, StreamHandles};
use tokio::runtime::Handle;

use super::{Limited, chunk, ends};
use crate::support::{config, plan, quiet, regular, session, source};

/// What a source does before it delivers the chunks that are asked for.
#[derive(Clone, Copy, Debug)]
enum Before {
    /// It takes ten seconds for the chunk of this id, and none for others.
    Late(u64),
    Panic,
    /// Nothing, but that it has to be on this runtime.
    On(tokio::runtime::Id),
}

#[derive(Debug)]
struct Odd(Arc<ScriptedSource>, Before);

#[async_trait]
impl ChunkSource for Odd {
    async fn datasets(&self) -> Result<Vec<String>> {
        self.0.datasets().await
    }

    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        self.0.schema(dataset).await
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
        self.0.plan(request).await
    }

    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
        self.0.segment_table(dataset, segments).await
    }

    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
        let before = self.1;
        let is = |id: u64| chunks.iter().any(|info| info.id.parts().1 == id);
        let wait = match before {
            Before::Late(id) if is(id) => Duration::from_secs(10),
            _ => Duration::ZERO,
        };
        let delivered = self.0.fetch(dataset, chunks);
        let start = async move {
            match before {
                Before::Late(_) => tokio::time::sleep(wait).await,
                Before::Panic => panic!("the source is broken"),
                Before::On(runtime) => assert_eq!(Handle::current().id(), runtime),
            }
            delivered
        };
        stream::once(start).flatten().boxed()
    }
}

async fn register(limited: &Limited, name: &str, source: Arc<dyn ChunkSource>) {
    let table = SegmentStreamTable::builder(source, "d")
        .index("frame")
        .build()
        .await;
    limited
        .context
        .register_table(name, Arc::new(table.unwrap()))
        .unwrap();
}

async fn limited(chunks: Vec<Chunk>, partitions: usize, window: usize) -> Limited {
    let limited = Limited::new(config(partitions, 3), MemoryWindow::new(window), None);
    register(&limited, "t", source(chunks)).await;
    limited
}

fn count(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

async fn rows(limited: &Limited, sql: &str) -> usize {
    let frame = limited.context.sql(sql).await.unwrap();
    count(&ends(&limited.window, frame.collect()).await.unwrap())
}

fn value(plan: &Arc<dyn ExecutionPlan>, counter: Counter) -> usize {
    let metrics = plan.metrics().unwrap().aggregate_by_name();
    metrics.sum_by_name(counter.name()).map_or_else(
        || {
            let found = metrics
                .iter()
                .find(|metric| metric.value().name() == counter.name());
            found.unwrap().value().as_usize()
        },
        |value| value.as_usize(),
    )
}

/// `chunks` chunks of a segment, all of which must be kept until the last has come. 16 KB each.
fn overlapping(segment: &str, first_id: u64, chunks: u64) -> Vec<Chunk> {
    let all = (0..chunks).map(|n| {
        let entity = format!("/e{n}");
        let frames = [(100, 1000), (200 + n as i64, 1), (300, 1000)];
        chunk(first_id + n, segment, &entity, &frames)
    });
    all.collect()
}

/// A chunk of `bytes` of items on one frame.
fn large(id: u64, segment: &str, bytes: usize) -> Chunk {
    chunk(id, segment, "/large", &[(id as i64, bytes / 8)])
}

#[tokio::test(start_paused = true)]
async fn later_work_saturates_the_window_while_the_head_is_late() {
    let chunks = (1..=20).map(|id| large(id, "s", 60_000)).collect();
    let limited = Limited::new(config(1, 3), MemoryWindow::new(200_000), None);
    register(
        &limited,
        "t",
        Arc::new(Odd(source(chunks), Before::Late(1))),
    )
    .await;
    assert_eq!(rows(&limited, "SELECT * FROM t").await, 20);
    limited.is_free().await;
}

#[tokio::test(start_paused = true)]
async fn a_sort_preserving_merge_over_partitions_that_each_keep_most_of_the_window() {
    let segments = (0..3).flat_map(|n| overlapping(&format!("s{n}"), n * 10 + 1, 8));
    let chunks: Vec<Chunk> = segments.collect();
    let limited = limited(chunks, 3, 200_000).await;
    let sql = "SELECT * FROM t ORDER BY frame";
    let plan = plan(
        &limited.context,
        "SELECT * FROM t ORDER BY rerun_segment_id, frame",
    )
    .await;
    let shown = crate::support::shown(&plan);
    assert!(shown.contains("SortPreservingMergeExec"), "{shown}");
    let all = collect(Arc::clone(&plan), limited.context.task_ctx());
    let merged = ends(&limited.window, all).await.unwrap();
    assert_eq!(count(&merged), 30);
    let leaf = leaf(&plan);
    assert!(
        value(&leaf, Counter::ChunksGivenBack) > 0,
        "it went without"
    );
    assert!(value(&leaf, Counter::WindowWaits) > 0);
    assert_eq!(rows(&limited, sql).await, 30);
    limited.is_free().await;
}

fn leaf(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.children().first() {
        Some(child) => leaf(child),
        None => Arc::clone(plan),
    }
}

#[tokio::test(start_paused = true)]
async fn two_queries_share_one_window() {
    let first = limited(overlapping("s", 1, 8), 1, 200_000).await;
    register(&first, "u", source(overlapping("s", 1, 8))).await;
    let both = ["SELECT * FROM t", "SELECT * FROM u"].map(|sql| rows(&first, sql));
    assert_eq!(futures::future::join_all(both).await, [10, 10]);
    first.is_free().await;
}

#[tokio::test(start_paused = true)]
async fn a_consumer_that_stops_reading_gives_way_and_can_go_on() {
    let limited = limited(overlapping("s", 1, 8), 1, 200_000).await;
    let idle = plan(&limited.context, "SELECT * FROM t").await;
    let mut stream = idle.execute(0, limited.context.task_ctx()).unwrap();
    let first = ends(&limited.window, stream.next()).await.unwrap().unwrap();
    // Eight chunks of 16 KB are kept, since each has a row to come.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(limited.window.held() > 128_000, "{}", limited.window.held());
    register(&limited, "u", source(overlapping("s", 1, 8))).await;
    assert_eq!(rows(&limited, "SELECT * FROM u").await, 10);
    assert!(value(&idle, Counter::ChunksGivenBack) >= 8);
    let rest: Vec<_> = ends(&limited.window, stream.collect::<Vec<_>>()).await;
    let rest: Vec<RecordBatch> = rest.into_iter().map(|batch| batch.unwrap()).collect();
    assert_eq!(first.num_rows() + count(&rest), 10);
    limited.is_free().await;
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_holds_nothing() {
    let limited = limited(overlapping("s", 1, 8), 1, 400_000).await;
    let plan = plan(&limited.context, "SELECT * FROM t").await;
    for polls in 0..4 {
        let mut stream = plan.execute(0, limited.context.task_ctx()).unwrap();
        for _ in 0..polls {
            ends(&limited.window, stream.next()).await.unwrap().unwrap();
        }
        assert_eq!(
            limited.window.held() > 0,
            polls > 0,
            "nothing before the first poll"
        );
        drop(stream);
        limited.is_free().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_chunk_whose_rows_are_out_is_charged_no_longer_even_if_nobody_reads_on() {
    let kept = chunk(
        1,
        "s",
        "/kept",
        &[(1, 2000), (2, 2000), (3, 2000), (4, 2000)],
    );
    let others: Vec<_> = (100..110).map(|frame| (frame, 1)).collect();
    let next = chunk(2, "s", "/next", &[&[(2, 1)], others.as_slice()].concat());
    let limited = limited(vec![kept, next], 1, 200_000).await;
    limited
        .context
        .sql("SET segue_stream.unit_bytes = 1")
        .await
        .unwrap();
    let plan = plan(&limited.context, "SELECT * FROM t").await;
    let mut stream = plan.execute(0, limited.context.task_ctx()).unwrap();
    ends(&limited.window, stream.next()).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    // The rows up to 101 are made. What is left are the slot (64 KB for each of unit and batch) and less.
    assert!(limited.window.held() < 150_000, "{}", limited.window.held());
}

#[tokio::test(start_paused = true)]
async fn thousands_of_tiny_segments_are_asked_for_together() {
    let chunks = (0..3990).map(|n| chunk(n + 1, &format!("s{n:04}"), "/a", &[(0, 1)]));
    let source = source(chunks.collect());
    let limited = Limited::new(config(1, 8192), MemoryWindow::new(32 << 20), None);
    register(&limited, "t", Arc::clone(&source) as _).await;
    assert_eq!(rows(&limited, "SELECT frame FROM t").await, 3990);
    assert!(
        source.counts().fetches <= 8,
        "{} requests",
        source.counts().fetches
    );
    limited.is_free().await;
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_charged_once_as_long_as_a_partition_of_it_runs() {
    let chunks = (0..9000).map(|n| chunk(n + 1, &format!("s{n:04}"), "/a", &[(0, 1)]));
    let limited = limited(chunks.collect(), 2, 200_000).await;
    let plan = plan(&limited.context, "SELECT * FROM t").await;
    assert_eq!(limited.window.held(), 0, "nothing runs");
    let bytes = 9000 * size_of::<ChunkInfo>();
    let is_charged = || (bytes..bytes * 2).contains(&limited.window.held());
    let mut streams = Vec::new();
    for partition in 0..2 {
        let mut stream = plan.execute(partition, limited.context.task_ctx()).unwrap();
        ends(&limited.window, stream.next()).await.unwrap().unwrap();
        streams.push(stream);
        assert!(is_charged(), "{}", limited.window.held());
    }
    streams.remove(0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(is_charged(), "{}", limited.window.held());
    streams.clear();
    limited.is_free().await;
}

#[tokio::test(start_paused = true)]
async fn one_chunk_that_is_larger_than_the_window_is_read() {
    let chunks = vec![
        large(1, "s", 10_000),
        large(2, "s", 900_000),
        large(3, "s", 10_000),
    ];
    let limited = limited(chunks, 1, 100_000).await;
    assert_eq!(rows(&limited, "SELECT * FROM t").await, 3);
    limited.is_free().await;
}

#[tokio::test(start_paused = true)]
async fn what_can_never_fit_is_an_error_with_figures() {
    let limited = limited(overlapping("s", 1, 8), 1, 100_000).await;
    let frame = limited.context.sql("SELECT * FROM t").await.unwrap();
    let error = ends(&limited.window, frame.collect()).await.unwrap_err();
    let error = find_segue_error(&error).unwrap();
    assert_eq!(error.code(), ErrorCode::WindowExhausted);
    let message = error.message();
    let (start, end) = message.split_once(" bytes more than the ").unwrap();
    assert!(start.starts_with("reading dataset 'd' takes "), "{message}");
    assert!(
        end.contains(" it holds, and the memory window has "),
        "{message}"
    );
    for fact in ["consumer", "asked_bytes", "held_bytes", "available_bytes"] {
        assert!(error.facts().get(fact).is_some(), "{fact}");
    }
    limited.is_free().await;
    // With a larger share it fits; the share is what is set, not the window.
    limited
        .context
        .sql("SET segue_stream.window_bytes = '90K'")
        .await
        .unwrap();
    let frame = limited.context.sql("SELECT * FROM t").await.unwrap();
    let error = ends(&limited.window, frame.collect()).await.unwrap_err();
    assert!(
        error.to_string().contains("segue_stream.window_bytes"),
        "{error}"
    );
}

/// Unbounded, and keeps the names of its consumers.
#[derive(Debug, Default)]
struct Named(UnboundedMemoryPool, std::sync::Mutex<Vec<String>>);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("named")
    }
}

impl MemoryPool for Named {
    fn name(&self) -> &str {
        "named"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.1.lock().unwrap().push(consumer.name().to_owned());
    }

    fn grow(&self, reservation: &MemoryReservation, bytes: usize) {
        self.0.grow(reservation, bytes);
    }

    fn shrink(&self, reservation: &MemoryReservation, bytes: usize) {
        self.0.shrink(reservation, bytes);
    }

    fn try_grow(
        &self,
        reservation: &MemoryReservation,
        bytes: usize,
    ) -> datafusion::error::Result<()> {
        self.0.try_grow(reservation, bytes)
    }

    fn reserved(&self) -> usize {
        self.0.reserved()
    }
}

#[tokio::test]
async fn a_query_is_one_consumer_of_the_pool_that_names_it_and_its_dataset() {
    let pool = Arc::new(Named::default());
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool) as _);
    let runtime = Arc::new(runtime.build().unwrap());
    let context = SessionContext::new_with_config_rt(config(3, 8192), runtime);
    let table = crate::support::table(&source(regular(6, 10, 4)), Some("frame")).await;
    context.register_table("t", table).unwrap();
    let names = || {
        let names = pool.1.lock().unwrap();
        let ours = names.iter().filter(|name| name.contains("segment_stream"));
        ours.cloned().collect::<Vec<_>>()
    };
    let plan = plan(&context, "SELECT * FROM t").await;
    let stream = plan.execute(0, context.task_ctx()).unwrap();
    assert_eq!(
        names(),
        [""; 0],
        "nothing is reserved before the first poll"
    );
    drop(stream);
    collect(plan, context.task_ctx()).await.unwrap();
    let names = names();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(
        names[0].starts_with("segment_stream 'd' query "),
        "{names:?}"
    );
}

#[tokio::test]
async fn a_panic_in_a_task_is_an_error_of_the_query() {
    let limited = Limited::new(config(2, 8), MemoryWindow::new(1 << 20), None);
    let scripted = source(regular(4, 20, 5));
    register(
        &limited,
        "t",
        Arc::new(Odd(Arc::clone(&scripted), Before::Panic)),
    )
    .await;
    let frame = limited.context.sql("SELECT * FROM t").await.unwrap();
    let error = frame.collect().await.unwrap_err();
    let error = find_segue_error(&error).unwrap();
    assert_eq!(error.code(), ErrorCode::Internal);
    assert!(error.message().contains("the source is broken"), "{error}");
    quiet(&scripted).await;
}

#[tokio::test]
async fn without_a_runtime_it_says_so() {
    let source = source(regular(1, 10, 4));
    let context = session(&source, config(1, 8192)).await;
    let plan = plan(&context, "SELECT * FROM t").await;
    let task = context.task_ctx();
    let polled = std::thread::spawn(move || {
        let mut stream = plan.execute(0, task).unwrap();
        stream.next().now_or_never().unwrap().unwrap().unwrap_err()
    });
    let error = polled.join().unwrap();
    let error = find_segue_error(&error).unwrap();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert!(
        error.message().contains("StreamHandles::with_io"),
        "{error}"
    );
}

#[test]
fn requests_are_made_on_the_runtime_that_was_given_for_them() {
    let io = tokio::runtime::Runtime::new().unwrap();
    let own = tokio::runtime::Runtime::new().unwrap();
    let handles = StreamHandles::default()
        .with_io(io.handle().clone())
        .with_cpu(Arc::new(CpuPool::with_threads(1).unwrap()));
    let context = SessionContext::new_with_config(handles.set_in(config(2, 8)));
    let odd = Odd(source(regular(4, 20, 5)), Before::On(io.handle().id()));
    let all = own.block_on(async {
        let table = SegmentStreamTable::builder(Arc::new(odd), "d")
            .index("frame")
            .build()
            .await;
        context
            .register_table("t", Arc::new(table.unwrap()))
            .unwrap();
        context
            .sql("SELECT * FROM t")
            .await
            .unwrap()
            .collect()
            .await
    });
    assert_eq!(count(&all.unwrap()), 80);
}
