//! The rows of one partition, made while its chunks arrive.

mod pending;
mod segment;

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use futures::stream::{BoxStream, Stream, TryStreamExt};
use segue_chunk::TimeRange;
use segue_chunk::assemble::{Limits, RowKey, SegmentChunks, assemble, assemble_static, clip};
use segue_error::{Error, ErrorCode, Result};

use crate::counters::RowCounters;
use crate::fetch::Delivery;
use crate::plan::{PartitionPlan, Scan};
use pending::Pending;
use segment::OpenSegment;

/// How large the batches of a partition are, where it stops, and who counts.
#[derive(Debug)]
pub(crate) struct Emission {
    /// Rows and bytes of a batch.
    pub(crate) batch: Limits,
    /// Most rows in all.
    pub(crate) fetch: Option<usize>,
    /// What is counted.
    pub(crate) counters: RowCounters,
}

/// The rows of `plan`, ascending by segment and index, in full batches.
///
/// A row is emitted once no chunk to come can change it: when the next chunk of its segment starts above.
pub(crate) fn rows(
    scan: Arc<Scan>,
    plan: PartitionPlan,
    projection: Arc<[usize]>,
    emission: Emission,
    deliveries: BoxStream<'static, Result<Delivery>>,
    schema: SchemaRef,
) -> impl Stream<Item = Result<RecordBatch>> + Send + 'static {
    let driver = Driver {
        segments: plan.segments.into_iter().map(OpenSegment::new).collect(),
        finished: 0,
        pending: Pending::new(schema),
        left: emission.fetch.unwrap_or(usize::MAX),
        limits: emission.batch,
        counters: emission.counters,
        scan,
        projection,
        deliveries,
    };
    futures::stream::try_unfold(driver, |mut driver| async move {
        let batch = driver.next_batch().await?;
        Ok(batch.map(|batch| (batch, driver)))
    })
}

/// Owns all that a partition holds; dropped as a whole at the end, on error, and with the stream.
struct Driver {
    scan: Arc<Scan>,
    projection: Arc<[usize]>,
    deliveries: BoxStream<'static, Result<Delivery>>,
    /// Segments whose rows are not all emitted, in the order of the plan. Only the first emits.
    segments: VecDeque<OpenSegment>,
    /// Segments that are done: the position in the plan of the first open one.
    finished: usize,
    pending: Pending,
    /// Rows that may still be emitted.
    left: usize,
    limits: Limits,
    counters: RowCounters,
}

impl Driver {
    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while self.left > 0 {
            let is_full = self.assemble_final_rows()?;
            if is_full || self.segments.is_empty() {
                break;
            }
            match self.deliveries.try_next().await? {
                Some(delivery) => self.deliver(delivery)?,
                None => return Err(ended_early(&self.scan)),
            }
        }
        let (counters, pending) = (&self.counters, &mut self.pending);
        let batch = counters.assembling(|| pending.take(self.limits.bytes))?;
        self.left -= batch.as_ref().map_or(0, RecordBatch::num_rows);
        Ok(batch)
    }

    fn deliver(&mut self, delivery: Delivery) -> Result<()> {
        for (at, chunk) in delivery {
            let place = at.checked_sub(self.finished);
            let Some(segment) = place.and_then(|place| self.segments.get_mut(place)) else {
                return Err(ended_early(&self.scan));
            };
            segment.deliver(chunk, self.scan.view.index());
        }
        Ok(())
    }

    /// Assembles rows that are final until a batch is full (`true`) or more chunks are needed (`false`).
    fn assemble_final_rows(&mut self) -> Result<bool> {
        while let Some(segment) = self.segments.front_mut() {
            let rows = self.limits.rows.min(self.left) - self.pending.rows;
            let bytes = self.limits.bytes.saturating_sub(self.pending.bytes);
            if rows == 0 || bytes == 0 {
                return Ok(true);
            }
            let view = &self.scan.view;
            let chunks = SegmentChunks {
                view,
                projection: &self.projection,
                segment: &segment.plan.id,
                chunks: &segment.chunks(),
                samples: segment.plan.samples.as_deref(),
                not_null: &self.scan.not_null,
            };
            let is_complete = segment.is_complete();
            if view.index().is_none() {
                if !is_complete {
                    return Ok(false);
                }
                let batch = self.counters.assembling(|| assemble_static(&chunks))?;
                self.pending.push(batch);
            } else if let Some((from, horizon)) = segment.horizon() {
                let windows: Vec<TimeRange> = self.scan.region.index().iter().collect();
                let windows = clip(&windows, horizon);
                let limits = Limits { rows, bytes };
                let counters = &self.counters;
                let assembled =
                    counters.assembling(|| assemble(&chunks, &windows, from, limits))?;
                self.pending.push(assembled.batch);
                let behind = horizon.end.checked_add(1).map(RowKey::at);
                segment.advance(assembled.next.or(behind), view)?;
                if assembled.next.is_some() {
                    return Ok(true);
                }
            }
            if !is_complete {
                return Ok(false);
            }
            self.segments.pop_front();
            self.finished += 1;
        }
        Ok(false)
    }
}

fn ended_early(scan: &Scan) -> Error {
    let dataset = &scan.dataset;
    Error::new(
        ErrorCode::Invariant,
        "segment_stream.stream",
        format!("the chunks of dataset '{dataset}' did not come in the order of the plan"),
    )
}
