//! The rows of one partition, made of its chunks in the order of the plan. Waits for nothing and knows no limit.

mod pending;
mod segment;

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use segue_chunk::assemble::{Limits, RowKey, SegmentChunks, assemble, assemble_static, clip};
use segue_chunk::{Chunk, TimeRange};
use segue_error::{Error, ErrorCode, Result};

use crate::counters::RowCounters;
use crate::plan::{PartitionPlan, Scan};
use crate::window::Kept;
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

/// A chunk that has come.
#[derive(Clone, Debug)]
pub(crate) struct Delivered {
    /// Position of its segment in the plan of the partition.
    pub(crate) segment: usize,
    /// Its position in the plan of the segment.
    pub(crate) at: usize,
    /// Bytes that it takes.
    pub(crate) bytes: usize,
    /// The chunk.
    pub(crate) chunk: Arc<Chunk>,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Step {
    /// Rows.
    Batch(RecordBatch),
    /// More chunks have to come first.
    NeedsChunks,
    /// There are no more rows.
    Done,
}

/// Makes the rows of a partition, ascending by segment and index, in full batches.
///
/// A row is made once no chunk to come can change it: when the next chunk of its segment starts above.
pub(crate) struct RowMaker {
    scan: Arc<Scan>,
    projection: Arc<[usize]>,
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

impl RowMaker {
    /// Makes the columns `projection` of the rows of `plan`, whose schema is `schema`.
    pub(crate) fn new(
        scan: Arc<Scan>,
        plan: &PartitionPlan,
        projection: Arc<[usize]>,
        emission: Emission,
        schema: SchemaRef,
    ) -> Self {
        let segments = plan.segments.iter().map(Arc::clone);
        Self {
            segments: segments.map(OpenSegment::new).collect(),
            finished: 0,
            pending: Pending::new(schema),
            left: emission.fetch.unwrap_or(usize::MAX),
            limits: emission.batch,
            counters: emission.counters,
            scan,
            projection,
        }
    }

    /// Takes chunks: the next of the plan, or some that were forgotten.
    pub(crate) fn deliver(&mut self, chunks: Vec<Delivered>) -> Result<()> {
        for chunk in chunks {
            let place = chunk.segment.checked_sub(self.finished);
            let segment = place.and_then(|place| self.segments.get_mut(place));
            let index = self.scan.view.index();
            if !segment.is_some_and(|segment| segment.deliver(chunk, index)) {
                return Err(out_of_order(&self.scan));
            }
        }
        Ok(())
    }

    /// Makes rows, as far as they are final.
    pub(crate) fn step(&mut self) -> Result<Step> {
        let is_full = self.left == 0 || self.make_final_rows()?;
        if !is_full && !self.segments.is_empty() {
            return Ok(Step::NeedsChunks);
        }
        Ok(self.flush()?.map_or(Step::Done, Step::Batch))
    }

    /// The rows that wait for a batch to be full, as one that is not; `None` if there are none.
    pub(crate) fn flush(&mut self) -> Result<Option<RecordBatch>> {
        let (counters, pending) = (&self.counters, &mut self.pending);
        let batch = counters.assembling(|| pending.take(self.limits.bytes))?;
        self.left -= batch.as_ref().map_or(0, RecordBatch::num_rows);
        Ok(batch)
    }

    /// Bytes of the rows that wait for a batch to be full.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending.bytes
    }

    /// Bytes of chunks and copied rows that rows to come need.
    pub(crate) fn kept(&self) -> Kept {
        let begun = self
            .segments
            .iter()
            .take_while(|segment| segment.has_begun());
        begun
            .map(OpenSegment::bytes)
            .fold(Kept::default(), |kept, (chunks, copied)| Kept {
                bytes: kept.bytes + chunks + copied,
                fixed: kept.fixed + copied,
            })
    }

    /// Makes what is kept smaller where a copy of a part of it does.
    pub(crate) fn compact(&mut self) -> Result<()> {
        let view = &self.scan.view;
        let mut begun = self
            .segments
            .iter_mut()
            .take_while(|segment| segment.has_begun());
        begun.try_for_each(|segment| segment.compact(view))
    }

    /// Lets go of all chunks. Those that are needed have to be delivered again; gives their positions in the plan of
    /// the partition: segment, and chunk in it.
    pub(crate) fn forget(&mut self) -> Vec<(usize, usize)> {
        let mut missing = Vec::new();
        let begun = self
            .segments
            .iter_mut()
            .take_while(|segment| segment.has_begun());
        for (at, segment) in (self.finished..).zip(begun) {
            segment.forget();
            missing.extend(segment.missing().iter().map(|&chunk| (at, chunk)));
        }
        missing
    }

    /// Makes rows that are final until a batch is full (`true`) or more chunks are needed (`false`).
    fn make_final_rows(&mut self) -> Result<bool> {
        while let Some(segment) = self.segments.front_mut() {
            let rows = self.limits.rows.min(self.left) - self.pending.rows;
            let bytes = self.limits.bytes.saturating_sub(self.pending.bytes);
            if rows == 0 || bytes == 0 {
                return Ok(true);
            }
            if segment.lacks_chunks() {
                return Ok(false);
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

fn out_of_order(scan: &Scan) -> Error {
    let dataset = &scan.dataset;
    Error::new(
        ErrorCode::Invariant,
        "segment_stream.rows",
        format!("the chunks of dataset '{dataset}' did not come in the order of the plan"),
    )
}
