//! The batches of a partition, with an eye on what is seen of it from outside.

use std::pin::Pin;
use std::task::{Context, Poll};

use datafusion::arrow::array::RecordBatch;
use datafusion::common::instant::Instant;
use datafusion::error::Result;
use futures::stream::{Stream, StreamExt};

use super::extreme::Least;
use super::partition::PollCounters;

/// Passes on what a partition gives out, and counts rows, work and waiting.
#[derive(Debug)]
pub(crate) struct Observed<S> {
    batches: S,
    counters: PollCounters,
    /// When it was first polled.
    started: Option<Instant>,
    /// Where the first batch is noted; `None` once it was.
    first_batch: Option<Least>,
    /// Since when it cannot go on.
    waiting: Option<Instant>,
}

impl<S> Observed<S> {
    pub(crate) fn new(batches: S, counters: PollCounters) -> Self {
        Self {
            batches,
            first_batch: Some(counters.first_batch.clone()),
            counters,
            started: None,
            waiting: None,
        }
    }

    fn end_wait(&mut self) {
        if let Some(since) = self.waiting.take() {
            self.counters.wait.add_elapsed(since);
        }
    }
}

impl<S: Stream<Item = Result<RecordBatch>> + Unpin> Stream for Observed<S> {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        this.end_wait();
        let begin = Instant::now();
        let started = *this.started.get_or_insert(begin);
        let poll = this.batches.poll_next_unpin(cx);
        this.counters.baseline.elapsed_compute().add_elapsed(begin);
        match &poll {
            Poll::Pending => this.waiting = Some(Instant::now()),
            Poll::Ready(Some(Ok(_))) => {
                if let Some(first_batch) = this.first_batch.take() {
                    first_batch.record(started.elapsed());
                }
            }
            Poll::Ready(_) => {}
        }
        this.counters.baseline.record_poll(poll)
    }
}

impl<S> Drop for Observed<S> {
    fn drop(&mut self) {
        self.end_wait();
    }
}
