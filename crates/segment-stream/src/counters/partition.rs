//! What a partition counts while it runs.

use datafusion::physical_plan::metrics::{BaselineMetrics, Count, Time};
use segue_chunk::{Chunk, ChunkInfo, EncodedChunk};

use super::Counter;
use super::least::Least;
use super::scan::{Planned, Registry, saturated};

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
    arrived: Arrived,
}

/// What making rows counts, and, when dropped, what will not come any more.
#[derive(Debug)]
pub(crate) struct RowCounters {
    assembly: Time,
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

/// Planned chunks that have come, each once, by what was announced of them.
#[derive(Clone, Debug, Default)]
struct Arrived {
    chunks: Count,
    bytes: Count,
}

impl PartitionCounters {
    pub(super) fn new(registry: &Registry<'_>, planned: Planned) -> Self {
        let arrived = Arrived::default();
        Self {
            fetch: FetchCounters {
                requests: registry.count(Counter::FetchRequests),
                chunks: registry.count(Counter::ChunksFetched),
                bytes: registry.count(Counter::BytesFetched),
                decoded: registry.count(Counter::BytesDecoded),
                decoding: registry.time(Counter::Decoding),
                arrived: arrived.clone(),
            },
            rows: RowCounters {
                assembly: registry.time(Counter::Assembly),
                planned,
                arrived,
                skipped_chunks: registry.count(Counter::ChunksSkipped),
                skipped_bytes: registry.count(Counter::BytesSkipped),
            },
            polls: PollCounters {
                baseline: BaselineMetrics::new(registry.metrics, registry.partition),
                wait: registry.time(Counter::SourceWait),
                first_batch: registry.least(Counter::FirstBatch),
            },
        }
    }
}

impl FetchCounters {
    /// A request is made.
    pub(crate) fn requested(&self) {
        self.requests.add(1);
    }

    /// A chunk came, whether asked for or not.
    pub(crate) fn came(&self, chunk: &EncodedChunk) {
        self.chunks.add(1);
        self.bytes.add(chunk.payload.len());
    }

    /// Decodes the chunk that `info` announced, which came for the first time.
    pub(crate) fn decoding<E>(
        &self,
        info: &ChunkInfo,
        decode: impl FnOnce() -> Result<Chunk, E>,
    ) -> Result<Chunk, E> {
        self.arrived.chunks.add(1);
        self.arrived.bytes.add(saturated(info.byte_len));
        let timer = self.decoding.timer();
        let chunk = decode()?;
        timer.done();
        self.decoded.add(chunk.memory_size());
        Ok(chunk)
    }
}

impl RowCounters {
    /// Makes rows.
    pub(crate) fn assembling<T>(&self, assemble: impl FnOnce() -> T) -> T {
        let _timer = self.assembly.timer();
        assemble()
    }
}

impl Drop for RowCounters {
    /// Rows are made until all is given out, nobody wants more, or something failed: then nothing more comes.
    fn drop(&mut self) {
        let Self {
            planned, arrived, ..
        } = self;
        let chunks = planned.chunks.saturating_sub(arrived.chunks.value());
        self.skipped_chunks.add(chunks);
        if chunks > 0 {
            let bytes = saturated(planned.bytes).saturating_sub(arrived.bytes.value());
            self.skipped_bytes.add(bytes);
        }
    }
}
