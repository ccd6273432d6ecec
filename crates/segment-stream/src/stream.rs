//! The rows of one partition, made while its chunks arrive.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::SchemaRef;
use futures::stream::{BoxStream, Stream, TryStreamExt};
use segue_chunk::assemble::{Limits, SegmentChunks, assemble, assemble_static, clip};
use segue_chunk::{Chunk, TimeRange, Timeline};
use segue_error::{Error, ErrorCode, Result};

use crate::counters::RowCounters;
use crate::fetch::Delivery;
use crate::plan::{PartitionPlan, Scan, SegmentPlan};

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

/// A segment of which rows are still to be emitted.
struct OpenSegment {
    plan: Arc<SegmentPlan>,
    /// How many chunks of the plan have come.
    delivered: usize,
    /// Those of them that can still matter.
    chunks: Vec<Arc<Chunk>>,
    /// The largest index value of each of those; `None` where it matters to every row.
    ends: Vec<Option<i64>>,
    /// Smallest index value whose row is not emitted; `None` once there can be no more.
    cursor: Option<i64>,
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
            let chunks = SegmentChunks {
                view: &self.scan.view,
                projection: &self.projection,
                segment: &segment.plan.id,
                chunks: &segment.chunks,
            };
            let is_complete = segment.is_complete();
            if self.scan.view.index().is_none() {
                if !is_complete {
                    return Ok(false);
                }
                let batch = self.counters.assembling(|| assemble_static(&chunks))?;
                self.pending.push(batch);
            } else if let Some(horizon) = segment.horizon() {
                let windows: Vec<TimeRange> = self.scan.region.index().iter().collect();
                let windows = clip(&windows, horizon);
                let limits = Limits { rows, bytes };
                let counters = &self.counters;
                let assembled = counters.assembling(|| assemble(&chunks, &windows, limits))?;
                self.pending.push(assembled.batch);
                segment.advance(assembled.next.or(horizon.end.checked_add(1)));
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

impl OpenSegment {
    fn new(plan: Arc<SegmentPlan>) -> Self {
        Self {
            plan,
            delivered: 0,
            chunks: Vec::new(),
            ends: Vec::new(),
            cursor: Some(i64::MIN),
        }
    }

    /// Takes the next chunk of the plan, of a table by `index`.
    fn deliver(&mut self, chunk: Arc<Chunk>, index: Option<&Timeline>) {
        self.delivered += 1;
        let column = index.and_then(|index| chunk.timeline(&index.name));
        // A source that does not know may name chunks that lack the index: they make no row.
        let is_elsewhere = column.is_none() && !chunk.is_static();
        if is_elsewhere || chunk.num_rows() == 0 {
            return;
        }
        let bounds = column.and_then(|column| column.bounds());
        self.chunks.push(chunk);
        self.ends.push(bounds.map(|(_, last)| last));
    }

    fn is_complete(&self) -> bool {
        self.delivered == self.plan.chunks.len()
    }

    /// The index values whose rows are not emitted, and which no chunk to come can change.
    fn horizon(&self) -> Option<TimeRange> {
        let start = self.cursor?;
        let end = match self.plan.chunks.get(self.delivered) {
            None => i64::MAX,
            // A chunk without a start can have a value anywhere.
            Some(next) => next.start?.checked_sub(1)?,
        };
        let horizon = TimeRange::new(start, end);
        (!horizon.is_empty()).then_some(horizon)
    }

    /// Goes on at index value `next`, and lets go of the chunks that end before it.
    fn advance(&mut self, next: Option<i64>) {
        self.cursor = next;
        let matters = |end: &Option<i64>| match (end, next) {
            (Some(end), Some(next)) => *end >= next,
            (Some(_), None) => false,
            (None, _) => true,
        };
        let mut ends = self.ends.iter();
        self.chunks.retain(|_| ends.next().is_some_and(matters));
        self.ends.retain(matters);
    }
}

/// Rows that are assembled but not emitted.
struct Pending {
    schema: SchemaRef,
    batches: VecDeque<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl Pending {
    fn new(schema: SchemaRef) -> Self {
        Self {
            schema,
            batches: VecDeque::new(),
            rows: 0,
            bytes: 0,
        }
    }

    fn push(&mut self, batch: RecordBatch) {
        if batch.num_rows() > 0 {
            self.rows += batch.num_rows();
            self.bytes += batch.get_array_memory_size();
            self.batches.push_back(batch);
        }
    }

    /// The first rows as one batch of at most `bytes`, unless the first piece alone has more; `None` if
    /// there are none.
    fn take(&mut self, bytes: usize) -> Result<Option<RecordBatch>> {
        let mut taken = Vec::new();
        let mut size = 0usize;
        while let Some(batch) = self.batches.front() {
            let own = batch.get_array_memory_size();
            if !taken.is_empty() && size.saturating_add(own) > bytes {
                break;
            }
            size = size.saturating_add(own);
            self.rows -= batch.num_rows();
            self.bytes -= own;
            taken.extend(self.batches.pop_front());
        }
        if taken.len() <= 1 {
            return Ok(taken.pop());
        }
        let batch = concat_batches(&self.schema, &taken).map_err(|error| {
            Error::new(
                ErrorCode::Internal,
                "segment_stream.emit",
                format!("arrow could not join batches: {error}"),
            )
            .with_source(error)
        })?;
        Ok(Some(batch))
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

#[cfg(test)]
mod tests {
    use segue_chunk::TimeKind;
    use segue_chunk::testing::ChunkBuilder;

    use super::*;

    #[test]
    fn only_chunks_that_can_make_rows_are_kept() {
        let index = Timeline::new("frame", TimeKind::Sequence);
        let values = || ChunkBuilder::new("s", "/a").floats("x", [Some(1.0)]);
        let kept = |chunk: ChunkBuilder| {
            let plan = SegmentPlan {
                id: "s".into(),
                chunks: Vec::new(),
            };
            let mut segment = OpenSegment::new(Arc::new(plan));
            segment.deliver(Arc::new(chunk.build()), Some(&index));
            assert_eq!(segment.delivered, 1);
            (segment.chunks.len(), segment.ends)
        };
        assert_eq!(kept(values().sequence("frame", [7])), (1, vec![Some(7)]));
        assert_eq!(kept(values()), (1, vec![None]));
        assert_eq!(kept(values().sequence("other", [7])), (0, vec![]));
    }
}
