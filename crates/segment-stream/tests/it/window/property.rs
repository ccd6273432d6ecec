//! The same rows or a typed error, and nothing held afterwards: any sizes, delays, orders, limits, consumers and
//! faults.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::{SortColumn, concat_batches, lexsort_to_indices, take};
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, collect};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use futures::future::join_all;
use proptest::prelude::*;
use proptest::sample::select;
use segue_chunk::testing::{Announced, Fault, Order, ScriptedSource};
use segue_chunk::{Chunk, Compression, Fill};
use segue_error::{ErrorCode, find_segue_error};
use segue_segment_stream::MemoryWindow;

use super::delayed::Delayed;
use super::{Limited, chunk, ends};
use crate::equivalence::asked::Asked;
use crate::support::{config, plan};

/// How the partitions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consumer {
    /// All at once.
    Together,
    /// One after the other, each to its end.
    InTurn,
    /// As their order demands.
    Merged,
    /// All at once, and dropped after so many batches of each.
    Dropped(usize),
}

#[derive(Clone, Debug)]
struct Case {
    chunks: Vec<Chunk>,
    fill: Fill,
    partitions: usize,
    batch_size: usize,
    unit_bytes: usize,
    window: usize,
    pool: Option<usize>,
    consumer: Consumer,
    fails: bool,
    says_little: bool,
    seed: u64,
}

fn chunks() -> impl Strategy<Value = Vec<Chunk>> {
    let row = (0i64..5, 0usize..1500);
    let rows = prop::collection::vec(row, 1..6);
    let one = (0u8..3, select(vec!["/a", "/b", "/c"]), 0i64..20, rows);
    prop::collection::vec(one, 1..14).prop_map(|drawn| {
        let chunks = (1..)
            .zip(drawn)
            .map(|(id, (segment, entity, start, rows))| {
                let mut frame = start;
                let frames = rows.into_iter().map(|(step, items)| {
                    frame += step;
                    (frame, items)
                });
                let frames: Vec<_> = frames.collect();
                chunk(id, &format!("s{segment}"), entity, &frames)
            });
        chunks.collect()
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let consumer = prop_oneof![
        3 => Just(Consumer::Together),
        2 => Just(Consumer::InTurn),
        3 => Just(Consumer::Merged),
        1 => (0usize..3).prop_map(Consumer::Dropped),
    ];
    let shape = (1usize..4, select(vec![1, 3, 8192]), 4_000usize..200_000);
    let limits = (
        20_000usize..800_000,
        prop::option::weighted(0.3, 50_000usize..2_000_000),
    );
    let fill = select(vec![Fill::None, Fill::LatestAt]);
    let rest = (
        fill,
        consumer,
        prop::bool::weighted(0.1),
        any::<bool>(),
        any::<u64>(),
    );
    (chunks(), shape, limits, rest).prop_map(|(chunks, shape, limits, rest)| {
        let (partitions, batch_size, unit_bytes) = shape;
        let (window, pool) = limits;
        let (fill, consumer, fails, says_little, seed) = rest;
        Case {
            chunks,
            fill,
            partitions,
            batch_size,
            unit_bytes,
            window,
            pool,
            consumer,
            fails,
            says_little,
            seed,
        }
    })
}

impl Case {
    fn source(&self) -> Arc<ScriptedSource> {
        let compression = match self.seed % 3 {
            0 => Compression::Lz4,
            _ => Compression::None,
        };
        let mut source = ScriptedSource::new()
            .compression(compression)
            .dataset("d", self.chunks.iter().cloned())
            .order(Order::Shuffled(self.seed));
        if self.says_little {
            source = source.announcing(Announced::NOTHING);
        }
        if self.fails {
            let id = self.chunks[self.seed as usize % self.chunks.len()].id();
            source = source.fault(Fault::Error(id, ErrorCode::TransportUnavailable));
        }
        Arc::new(source)
    }

    async fn read(&self, context: &SessionContext) -> Result<Vec<RecordBatch>> {
        let sql = match self.consumer {
            Consumer::Merged => "SELECT * FROM t ORDER BY rerun_segment_id, frame",
            _ => "SELECT * FROM t",
        };
        let plan = plan(context, sql).await;
        let partitions = 0..plan.output_partitioning().partition_count();
        match self.consumer {
            Consumer::Merged => collect(plan, context.task_ctx()).await,
            Consumer::InTurn => {
                let mut all = Vec::new();
                for partition in partitions {
                    all.extend(some(&plan, context, partition, usize::MAX).await?);
                }
                Ok(all)
            }
            Consumer::Together => self.together(&plan, context, usize::MAX).await,
            Consumer::Dropped(most) => self.together(&plan, context, most).await,
        }
    }

    async fn together(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        context: &SessionContext,
        most: usize,
    ) -> Result<Vec<RecordBatch>> {
        let partitions = 0..plan.output_partitioning().partition_count();
        let all = join_all(partitions.map(|at| some(plan, context, at, most))).await;
        let all: Vec<_> = all.into_iter().collect::<Result<_>>()?;
        Ok(all.concat())
    }

    async fn check(&self) {
        let asked = {
            let mut asked = Asked::by(Some("frame"));
            asked.options.fill = self.fill;
            asked
        };
        let source = self.source();
        let delayed = Delayed {
            source: Arc::clone(&source),
            seed: self.seed,
        };
        let config = config(self.partitions, self.batch_size);
        let limited = Limited::new(config, MemoryWindow::new(self.window), self.pool);
        let context = &limited.context;
        let table = asked.table(Arc::new(delayed)).await;
        context.register_table("t", Arc::new(table)).unwrap();
        let set = format!("SET segue_stream.unit_bytes = {}", self.unit_bytes);
        context.sql(&set).await.unwrap();
        let outcome = ends(&limited.window, self.read(context)).await;
        limited.is_free().await;
        assert_eq!(source.counts().streams, 0);
        match outcome {
            Ok(_) if matches!(self.consumer, Consumer::Dropped(_)) => {}
            Ok(batches) => {
                assert!(!self.fails, "the error was lost");
                let plain = SessionContext::new();
                let reference = asked.reference(&self.chunks);
                plain.register_table("t", Arc::new(reference)).unwrap();
                let expected = plain.table("t").await.unwrap().collect().await.unwrap();
                let (got, expected) = (sorted(&batches), sorted(&expected));
                assert_eq!(got.is_some(), expected.is_some());
                let columns = |batch: Option<RecordBatch>| batch.map(|b| b.columns().to_vec());
                assert!(columns(got) == columns(expected), "other rows");
            }
            Err(error) => match find_segue_error(&error).map(|error| error.code()) {
                Some(ErrorCode::TransportUnavailable) => assert!(self.fails),
                Some(ErrorCode::WindowExhausted) => assert!(self.may_be_short(), "{error}"),
                // The merge takes memory from the pool, too.
                None if self.pool.is_some() && self.consumer == Consumer::Merged => {
                    assert!(matches!(
                        error.find_root(),
                        DataFusionError::ResourcesExhausted(_)
                    ));
                }
                code => panic!("{code:?}: {error}"),
            },
        }
    }

    /// Whether a partition may have to keep more than it can get.
    fn may_be_short(&self) -> bool {
        let bytes: usize = self
            .chunks
            .iter()
            .map(|chunk| chunk.memory_size() + 2048)
            .sum();
        // The copied rows of fill are beside the chunks that they come from.
        bytes * 2 > self.window || self.pool.is_some()
    }
}

/// The first `most` batches of a partition.
async fn some(
    plan: &Arc<dyn ExecutionPlan>,
    context: &SessionContext,
    partition: usize,
    most: usize,
) -> Result<Vec<RecordBatch>> {
    let stream = plan.execute(partition, context.task_ctx())?;
    let batches: Vec<Result<RecordBatch>> = stream.take(most).collect().await;
    batches.into_iter().collect()
}

/// All rows as one batch, by segment and frame; `None` if there are none.
fn sorted(batches: &[RecordBatch]) -> Option<RecordBatch> {
    let all = concat_batches(&batches.first()?.schema(), batches).unwrap();
    let by = ["rerun_segment_id", "frame"].map(|name| SortColumn {
        values: Arc::clone(all.column_by_name(name).unwrap()),
        options: None,
    });
    let order = lexsort_to_indices(&by, None).unwrap();
    let columns = all
        .columns()
        .iter()
        .map(|column| take(column, &order, None).unwrap());
    let sorted = RecordBatch::try_new(all.schema(), columns.collect()).unwrap();
    (sorted.num_rows() > 0).then_some(sorted)
}

/// How many cases are drawn: `SEGUE_STREAM_CASES`, or few.
fn number() -> u32 {
    let wanted = std::env::var("SEGUE_STREAM_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(150)
}

#[test]
fn the_same_rows_or_a_typed_error_and_nothing_held_afterwards() {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(number())
    };
    proptest!(config, |(case in cases())| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(case.check());
    });
}
