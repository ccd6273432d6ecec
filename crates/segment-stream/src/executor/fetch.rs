//! One unit: asked for, received, decoded, charged.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::StreamExt;
use segue_chunk::{Chunk, ChunkDecoder, ChunkId, ChunkInfo, Compression, EncodedChunk, SegmentId};
use segue_error::{Error, ErrorCode, Result};

use super::limits::window_exhausted;
use crate::counters::{FetchCounters, UnitCounters};
use crate::cpu::CpuPool;
use crate::plan::{PartitionPlan, Scan, Unit, chunk_bytes, expected_bytes};
use crate::rows::Delivered;
use crate::window::UnitLease;

/// Most chunks that are decoded in one go.
const DECODED_AT_ONCE: usize = 32;
/// A byte that is compressed stands for no more than so many.
const MOST_RATIO: u64 = 256;

/// What fetches the units of a partition.
#[derive(Debug)]
pub(super) struct Fetcher {
    pub(super) scan: Arc<Scan>,
    pub(super) plan: PartitionPlan,
    pub(super) decoder: ChunkDecoder,
    pub(super) counters: FetchCounters,
    pub(super) cpu: Arc<CpuPool>,
}

/// What is to come of a unit, and what has.
struct Arriving {
    infos: Vec<ChunkInfo>,
    places: HashMap<(SegmentId, ChunkId), usize>,
    chunks: Vec<Option<(Arc<Chunk>, usize)>>,
    /// Bytes of the chunks that have come, and those expected of the others.
    here: usize,
    expected: usize,
}

impl Fetcher {
    /// Fetches and decodes the chunks of `unit` once `lease` has the bytes for them; an error unless each came once.
    pub(super) async fn fetch(
        self: Arc<Self>,
        unit: Unit,
        lease: Arc<UnitLease>,
        counters: UnitCounters,
    ) -> Result<Vec<Delivered>> {
        let exhausted = |denied| window_exhausted(&self.scan, &denied);
        counters.waiting(lease.granted()).await.map_err(exhausted)?;
        counters.requested();
        let mut arriving = Arriving::new(self.plan.chunks(&unit).cloned().collect());
        let delivered = self
            .scan
            .source
            .fetch(&self.scan.dataset, arriving.infos.clone());
        let mut delivered = delivered.ready_chunks(DECODED_AT_ONCE);
        while let Some(group) = delivered.next().await {
            // A source may never wait: lets others run, and the query be stopped, in between.
            tokio::task::consume_budget().await;
            let mut jobs = Vec::with_capacity(group.len());
            let mut bytes = 0usize;
            for encoded in group {
                let encoded = encoded?;
                counters.came(&encoded);
                bytes = bytes.saturating_add(needed(&encoded));
                let place = arriving.place(&self.scan, &encoded)?;
                jobs.push((place, arriving.infos[place].clone(), encoded));
            }
            let all = arriving.held().saturating_add(bytes);
            counters.waiting(lease.grow(all)).await.map_err(exhausted)?;
            let (fetcher, charged) = (Arc::clone(&self), Arc::clone(&lease));
            let counted = counters.clone();
            let decoded = self.cpu.run(move || {
                let decoded = jobs.into_iter().map(|(place, info, encoded)| {
                    let decode = || fetcher.decoder.decode(&info, &encoded);
                    let chunk = counted.decoding(&info, decode)?;
                    let bytes = chunk_bytes(chunk.memory_size());
                    Ok((place, (Arc::new(chunk), bytes)))
                });
                (decoded.collect::<Result<Vec<_>>>(), charged)
            });
            let (decoded, _charged) = decoded.await?;
            for (place, (chunk, bytes)) in decoded? {
                arriving.put(place, chunk, bytes);
            }
            let all = arriving.held();
            counters.waiting(lease.grow(all)).await.map_err(exhausted)?;
        }
        let delivered = arriving.finish(&self.scan, &unit)?;
        lease.shrink(delivered.iter().map(|delivered| delivered.bytes).sum());
        Ok(delivered)
    }
}

/// The most bytes that it takes to decode a chunk, its encoded form included.
fn needed(encoded: &EncodedChunk) -> usize {
    let sent = encoded.payload.len() as u64;
    let copy = match encoded.compression {
        // Its arrays are parts of what was sent, unless they are compressed themselves.
        Compression::None => encoded.uncompressed_len.saturating_sub(sent),
        Compression::Lz4 => encoded.uncompressed_len,
    };
    // What a source says of sizes is checked when it is decoded.
    let copy = copy.min(sent.saturating_mul(MOST_RATIO));
    chunk_bytes(usize::try_from(sent.saturating_add(copy)).unwrap_or(usize::MAX / 2))
}

impl Arriving {
    fn new(infos: Vec<ChunkInfo>) -> Self {
        let places = infos.iter().enumerate();
        let places = places.map(|(place, info)| ((info.segment.clone(), info.id), place));
        Self {
            places: places.collect(),
            chunks: vec![None; infos.len()],
            here: 0,
            expected: infos
                .iter()
                .map(expected_bytes)
                .fold(0, usize::saturating_add),
            infos,
        }
    }

    /// Bytes that are taken, or will be.
    fn held(&self) -> usize {
        self.here.saturating_add(self.expected)
    }

    /// The place of a chunk that comes for the first time.
    fn place(&mut self, scan: &Scan, encoded: &EncodedChunk) -> Result<usize> {
        let key = (encoded.segment.clone(), encoded.id);
        if let Some(place) = self.places.remove(&key) {
            let expected = expected_bytes(&self.infos[place]);
            self.expected = self.expected.saturating_sub(expected);
            return Ok(place);
        }
        let was_asked_for = |info: &ChunkInfo| info.id == key.1 && info.segment == key.0;
        let how = match self.infos.iter().any(was_asked_for) {
            true => "twice",
            false => "without being asked for",
        };
        Err(over_delivered(scan, encoded, how))
    }

    fn put(&mut self, place: usize, chunk: Arc<Chunk>, bytes: usize) {
        self.chunks[place] = Some((chunk, bytes));
        self.here = self.here.saturating_add(bytes);
    }

    /// All chunks in the order in which they were asked for.
    fn finish(self, scan: &Scan, unit: &Unit) -> Result<Vec<Delivered>> {
        let missing = self.places.len();
        let positions = PartitionPlan::positions(unit);
        let all = positions.zip(self.infos.iter().zip(self.chunks));
        let all = all.map(|((segment, at), (info, chunk))| {
            let (chunk, bytes) = chunk.ok_or_else(|| under_delivered(scan, info, missing))?;
            Ok(Delivered {
                segment,
                at,
                bytes,
                chunk,
            })
        });
        all.collect()
    }
}

fn over_delivered(scan: &Scan, chunk: &EncodedChunk, how: &str) -> Error {
    let (id, segment, dataset) = (chunk.id, &chunk.segment, &scan.dataset);
    Error::new(
        ErrorCode::SourceOverDelivered,
        "segment_stream.fetch",
        format!("chunk {id} of segment '{segment}' of dataset '{dataset}' came {how}"),
    )
    .with_fact("segment", segment.as_str())
    .with_fact("chunk_id", id.to_string())
}

fn under_delivered(scan: &Scan, chunk: &ChunkInfo, missing: usize) -> Error {
    let (id, segment, dataset) = (chunk.id, &chunk.segment, &scan.dataset);
    Error::new(
        ErrorCode::SourceUnderDelivered,
        "segment_stream.fetch",
        format!(
            "chunk {id} of segment '{segment}' of dataset '{dataset}' did not come \
             ({missing} of those asked for are missing)"
        ),
    )
    .with_fact("segment", segment.as_str())
    .with_fact("chunk_id", id.to_string())
    .with_fact("missing", missing)
}
