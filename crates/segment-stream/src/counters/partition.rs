//! What a partition counts while it runs.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use datafusion::physical_plan::metrics::{BaselineMetrics, Count, Time};
use futures::poll;
use segue_chunk::{Chunk, ChunkInfo, EncodedChunk};

use super::Counter;
use super::extreme::{Least, Most};
use super::scan::{Planned, Registry, saturated};
use crate::window::QueryLease;

/// The counters of one execution of a partition, for those who count.
#[derive(Debug)]
pub(crate) struct PartitionCounters {
    /// For what fetches.
    pub(crate) fetch: FetchCounters,
    /// For what makes rows.
    pub(crate) rows: RowCounters,
    /// For what is seen from outside.
    pub(crate) polls: PollCounters,
}

/// What fetching counts. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct FetchCounters {
    requests: Count,
    chunks: Count,
    bytes: Count,
    decoded: Count,
    decoding: Time,
    compute: Time,
    given_back: Count,
    waits: Count,
    wait: Time,
    peak: Most,
    arrived: Arrived,
}

/// What is counted of one unit. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct UnitCounters {
    all: FetchCounters,
    /// What came of it; `None` where it has come before.
    arrived: Option<Arrived>,
}

/// What making rows counts, and, when dropped, what will not come any more.
#[derive(Debug)]
pub(crate) struct RowCounters {
    assembly: Time,
    compute: Time,
    planned: Planned,
    arrived: Arrived,
    skipped_chunks: Count,
    skipped_bytes: Count,
}

/// What is counted per poll.
#[derive(Debug)]
pub(crate) struct PollCounters {
    pub(super) baseline: BaselineMetrics,
    pub(super) wait: Time,
    pub(super) first_batch: Least,
}

/// Planned chunks that have come, each once, by what was announced of them. Clones count together.
#[derive(Clone, Debug, Default)]
struct Arrived(Arc<Mutex<(usize, usize)>>);

impl Arrived {
    fn get(&self) -> (usize, usize) {
        *self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn change(&self, change: impl Fn(usize, usize) -> usize, (chunks, bytes): (usize, usize)) {
        let mut counts = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *counts = (change(counts.0, chunks), change(counts.1, bytes));
    }
}

impl PartitionCounters {
    pub(super) fn new(registry: &Registry<'_>, planned: Planned) -> Self {
        let arrived = Arrived::default();
        let baseline = BaselineMetrics::new(registry.metrics, registry.partition);
        let compute = baseline.elapsed_compute().clone();
        Self {
            fetch: FetchCounters {
                requests: registry.count(Counter::FetchRequests),
                chunks: registry.count(Counter::ChunksFetched),
                bytes: registry.count(Counter::BytesFetched),
                decoded: registry.count(Counter::BytesDecoded),
                decoding: registry.time(Counter::Decoding),
                compute: compute.clone(),
                given_back: registry.count(Counter::ChunksGivenBack),
                waits: registry.count(Counter::WindowWaits),
                wait: registry.time(Counter::WindowWait),
                peak: registry.most(Counter::WindowPeak),
                arrived: arrived.clone(),
            },
            rows: RowCounters {
                assembly: registry.time(Counter::Assembly),
                compute,
                planned,
                arrived,
                skipped_chunks: registry.count(Counter::ChunksSkipped),
                skipped_bytes: registry.count(Counter::BytesSkipped),
            },
            polls: PollCounters {
                baseline,
                wait: registry.time(Counter::SourceWait),
                first_batch: registry.least(Counter::FirstBatch),
            },
        }
    }
}

impl FetchCounters {
    /// Counters of a unit that comes for the first time, or again.
    pub(crate) fn unit(&self, is_again: bool) -> UnitCounters {
        UnitCounters {
            all: self.clone(),
            arrived: (!is_again).then(Arrived::default),
        }
    }

    /// Chunks were given back, to be fetched again.
    pub(crate) fn given_back(&self, chunks: usize) {
        self.given_back.add(chunks);
    }

    /// Waits for `granted`, and counts that if it takes any time.
    pub(crate) async fn waiting<T>(&self, granted: impl Future<Output = T>) -> T {
        let mut granted = pin!(granted);
        if let Poll::Ready(granted) = poll!(granted.as_mut()) {
            return granted;
        }
        self.waits.add(1);
        let _timer = self.wait.timer();
        granted.await
    }

    /// Takes note of the most that `query` has held, when it is dropped.
    pub(crate) fn peak_of(&self, query: &Arc<QueryLease>) -> impl Drop + use<> {
        struct Peak(Arc<QueryLease>, Most);
        impl Drop for Peak {
            fn drop(&mut self) {
                self.1.record(self.0.peak());
            }
        }
        Peak(Arc::clone(query), self.peak.clone())
    }
}

impl UnitCounters {
    /// Waits for what the window is to grant.
    pub(crate) async fn waiting<T>(&self, granted: impl Future<Output = T>) -> T {
        self.all.waiting(granted).await
    }

    /// A request is made.
    pub(crate) fn requested(&self) {
        self.all.requests.add(1);
    }

    /// A chunk came, whether asked for or not.
    pub(crate) fn came(&self, chunk: &EncodedChunk) {
        self.all.chunks.add(1);
        self.all.bytes.add(chunk.payload.len());
    }

    /// Decodes the chunk that `info` announced, which came for the first time.
    pub(crate) fn decoding<E>(
        &self,
        info: &ChunkInfo,
        decode: impl FnOnce() -> Result<Chunk, E>,
    ) -> Result<Chunk, E> {
        if let Some(arrived) = &self.arrived {
            let own = (1, saturated(info.byte_len));
            arrived.change(usize::saturating_add, own);
            self.all.arrived.change(usize::saturating_add, own);
        }
        let (_decoding, _compute) = (self.all.decoding.timer(), self.all.compute.timer());
        let chunk = decode()?;
        self.all.decoded.add(chunk.memory_size());
        Ok(chunk)
    }

    /// What came of it is given back: it has not come.
    pub(crate) fn given_back(&self) {
        if let Some(arrived) = &self.arrived {
            let own = arrived.get();
            arrived.change(usize::saturating_sub, own);
            self.all.arrived.change(usize::saturating_sub, own);
        }
    }
}

impl RowCounters {
    /// Makes rows.
    pub(crate) fn assembling<T>(&self, assemble: impl FnOnce() -> T) -> T {
        let (_assembly, _compute) = (self.assembly.timer(), self.compute.timer());
        assemble()
    }
}

impl Drop for RowCounters {
    /// Rows are made until all is given out, nobody wants more, or something failed: then nothing more comes.
    fn drop(&mut self) {
        let (chunks, bytes) = self.arrived.get();
        let chunks = self.planned.chunks.saturating_sub(chunks);
        self.skipped_chunks.add(chunks);
        if chunks > 0 {
            let bytes = saturated(self.planned.bytes).saturating_sub(bytes);
            self.skipped_bytes.add(bytes);
        }
    }
}
