//! Sessions, tables and their plain counterparts.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
use datafusion::execution::config::SessionConfig;
use datafusion::physical_plan::{ExecutionPlan, displayable};
use datafusion::prelude::SessionContext;
use segue_chunk::testing::{ChunkBuilder, ScriptedSource};
use segue_chunk::{Chunk, ChunkSource};
use segue_segment_stream::{CpuPool, SegmentStreamOptions, SegmentStreamTable, StreamHandles};

pub(crate) const SCALAR: &str = "Scalars:scalars";

pub(crate) fn config(partitions: usize, batch_size: usize) -> SessionConfig {
    let config = SessionConfig::new()
        .with_target_partitions(partitions)
        .with_batch_size(batch_size)
        .with_option_extension(SegmentStreamOptions::default());
    let handles = StreamHandles::default().with_cpu(Arc::new(CpuPool::inline()));
    let config = handles.set_in(config);
    config.set_bool("datafusion.execution.collect_statistics", false)
}

pub(crate) async fn table(
    source: &Arc<ScriptedSource>,
    index: Option<&str>,
) -> Arc<SegmentStreamTable> {
    let source: Arc<dyn ChunkSource> = Arc::clone(source) as _;
    let builder = SegmentStreamTable::builder(source, "d");
    let builder = match index {
        Some(index) => builder.index(index),
        None => builder,
    };
    Arc::new(builder.build().await.unwrap())
}

/// A session with the dataset `d` of `source`, ordered by `frame`, as table `t`.
pub(crate) async fn session(source: &Arc<ScriptedSource>, config: SessionConfig) -> SessionContext {
    let context = SessionContext::new_with_config(config);
    let table = table(source, Some("frame")).await;
    context.register_table("t", table).unwrap();
    context
}

pub(crate) fn source(chunks: Vec<Chunk>) -> Arc<ScriptedSource> {
    Arc::new(ScriptedSource::new().dataset("d", chunks))
}

pub(crate) async fn plan(context: &SessionContext, sql: &str) -> Arc<dyn ExecutionPlan> {
    let frame = context.sql(sql).await.unwrap();
    frame.create_physical_plan().await.unwrap()
}

pub(crate) fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
    displayable(plan.as_ref()).indent(false).to_string()
}

pub(crate) async fn batches(context: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>> {
    context.sql(sql).await?.collect().await
}

/// Waits until nothing of `source` is read any more.
pub(crate) async fn quiet(source: &ScriptedSource) {
    source.when(|counts| counts.streams == 0).await;
    // What held the last stream goes in the same step.
    tokio::task::yield_now().await;
}

/// The rows as text, in the order in which they come.
pub(crate) fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let text = pretty_format_batches(batches).unwrap().to_string();
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(1);
    let cells = rows.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    cells.collect()
}

/// The rows as text, sorted.
pub(crate) async fn rows(context: &SessionContext, sql: &str) -> Vec<String> {
    let batches = batches(context, sql).await;
    let mut rows = lines(&batches.unwrap_or_else(|error| panic!("{sql}: {error}")));
    rows.sort();
    rows
}

/// `segments` segments of `frames` rows each in chunks of `per_chunk`; `/a` on every frame, `/b` on even
/// ones, with values that name segment and frame.
pub(crate) fn regular(segments: usize, frames: usize, per_chunk: usize) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for segment in 0..segments {
        for (entity, step) in [("/a", 1), ("/b", 2)] {
            let all: Vec<usize> = (0..frames).step_by(step).collect();
            for part in all.chunks(per_chunk) {
                let id = chunks.len() as u64 + 1;
                let values = part
                    .iter()
                    .map(|frame| Some((segment * 10_000 + frame) as f64));
                let chunk = ChunkBuilder::new(format!("s{segment:02}"), entity)
                    .id(id)
                    .sequence("frame", part.iter().map(|&frame| frame as i64))
                    .floats(SCALAR, values);
                chunks.push(chunk.build());
            }
        }
    }
    chunks
}
