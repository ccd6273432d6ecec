//! A source whose every move is written down beforehand.

mod counters;
mod needs;
mod script;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use segue_error::{Error, ErrorCode, Result};

use crate::model::{Chunk, SegmentId, TimeRange};
use crate::schema::DatasetSchema;
use crate::segments::{SegmentRow, segment_table};
use crate::source::{ChunkInfo, ChunkSource, ChunkStream, Compression, EncodedChunk, PlanRequest};

use super::schema_of;
use crate::text_set::TextSet;
use counters::Counters;
pub use counters::{Counts, Gate};
pub(super) use needs::is_needed;
use script::Delivery;
pub use script::{Announced, Fault, Order};

/// A [`ChunkSource`] over chunks in memory that delivers, fails and lies as it is told to, and counts what
/// it is asked for. Without orders it is a faithful source that announces all it knows.
///
/// Nothing in it waits for a clock: deliveries come at once, or one by one as a [`Gate`] releases them.
#[derive(Debug, Default)]
pub struct ScriptedSource {
    datasets: BTreeMap<String, Dataset>,
    compression: Compression,
    order: Order,
    announced: Announced,
    faults: Vec<Fault>,
    gate: Option<Gate>,
    counters: Counters,
}

#[derive(Debug, Default)]
struct Dataset {
    schema: Arc<DatasetSchema>,
    stored: Vec<Stored>,
}

#[derive(Debug)]
struct Stored {
    layer: Arc<str>,
    chunk: Chunk,
    encoded: EncodedChunk,
}

impl ScriptedSource {
    /// A source without datasets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `chunks` to the dataset `name`, on the layer `base`.
    #[must_use]
    pub fn dataset(self, name: &str, chunks: impl IntoIterator<Item = Chunk>) -> Self {
        self.layer(name, "base", chunks)
    }

    /// Adds `chunks` to the dataset `name`, on the layer `layer` of their segments.
    ///
    /// # Panics
    ///
    /// When a chunk cannot be encoded, or the chunks of the dataset do not agree on their columns.
    #[must_use]
    pub fn layer(
        mut self,
        name: &str,
        layer: &str,
        chunks: impl IntoIterator<Item = Chunk>,
    ) -> Self {
        let dataset = self.datasets.entry(name.to_owned()).or_default();
        let layer: Arc<str> = layer.into();
        dataset
            .stored
            .extend(chunks.into_iter().map(|chunk| Stored {
                layer: Arc::clone(&layer),
                encoded: encode(&chunk, self.compression),
                chunk,
            }));
        let chunks: Vec<Chunk> = dataset.stored.iter().map(|s| s.chunk.clone()).collect();
        dataset.schema = Arc::new(schema_of(&chunks));
        self
    }

    /// Hands out all chunks compressed so.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        for stored in self.datasets.values_mut().flat_map(|d| &mut d.stored) {
            stored.encoded = encode(&stored.chunk, compression);
        }
        self
    }

    /// Delivers in this order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Announces these facts only.
    #[must_use]
    pub fn announcing(mut self, announced: Announced) -> Self {
        self.announced = announced;
        self
    }

    /// Adds a fault.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Delivers only what `gate` releases.
    #[must_use]
    pub fn gated(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// What the source has been asked for and has done so far.
    pub fn counts(&self) -> Counts {
        self.counters.get()
    }

    /// Waits until the counts are as `wanted` says, and returns them.
    pub async fn when(&self, wanted: impl FnMut(&Counts) -> bool) -> Counts {
        self.counters.when(wanted).await
    }

    fn find(&self, dataset: &str) -> Result<&Dataset> {
        self.datasets.get(dataset).ok_or_else(|| {
            let message = format!("no dataset '{dataset}'");
            Error::new(ErrorCode::UnknownDataset, "scripted.find", message)
        })
    }

    /// The fault of the first order that `of` finds one in.
    fn failure(&self, of: impl Fn(&Fault) -> Option<ErrorCode>) -> Result<()> {
        let code = self.faults.iter().find_map(of);
        code.map_or(Ok(()), |code| Err(script::scripted(code)))
    }

    fn deliver(&self, fetch: usize, dataset: &str, chunks: &[ChunkInfo]) -> Result<Delivery> {
        let stored = &self.find(dataset)?.stored;
        let chunks: Vec<EncodedChunk> = chunks
            .iter()
            .map(|info| {
                let found = position(&info.key).and_then(|at| stored.get(at));
                let lost = || {
                    let message = format!("chunk {} is not where it was planned", info.id);
                    Error::new(ErrorCode::SourceChanged, "scripted.fetch", message)
                };
                found.map(|s| s.encoded.clone()).ok_or_else(lost)
            })
            .collect::<Result<_>>()?;
        Ok(Delivery::plan(
            fetch,
            self.order.apply(chunks),
            &self.faults,
        ))
    }
}

#[async_trait]
impl ChunkSource for ScriptedSource {
    async fn datasets(&self) -> Result<Vec<String>> {
        Ok(self.datasets.keys().cloned().collect())
    }

    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        self.counters.change(|counts| counts.schemas += 1);
        self.failure(Fault::of_schema)?;
        Ok(Arc::clone(&self.find(dataset)?.schema))
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
        self.counters.change(|counts| counts.plans += 1);
        self.failure(Fault::of_plan)?;
        let mut named = HashSet::new();
        let stored = &self.find(&request.dataset)?.stored;
        let all = stored.iter().map(|stored| &stored.chunk);
        let mut infos: Vec<ChunkInfo> = stored
            .iter()
            .enumerate()
            .filter(|(_, stored)| is_needed(&stored.chunk, request, all.clone()))
            .map(|(position, stored)| stored.info(position, request, self.announced))
            .filter(|info| named.insert((info.segment.clone(), info.id)))
            .collect();
        for info in &mut infos {
            self.faults.iter().for_each(|fault| fault.announce(info));
        }
        Ok(infos)
    }

    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
        self.counters.change(|counts| counts.segment_tables += 1);
        let found = self.find(dataset)?;
        let mut rows: BTreeMap<SegmentId, SegmentRow> = BTreeMap::new();
        for stored in &found.stored {
            let id = stored.chunk.segment();
            if !segments.contains(id.as_str()) {
                continue;
            }
            let row = rows.entry(id.clone()).or_insert_with(|| SegmentRow {
                segment: id.clone(),
                layers: Vec::new(),
                last_updated_ns: None,
                num_chunks: 0,
                size_bytes: 0,
                ranges: BTreeMap::new(),
                properties: Vec::new(),
            });
            stored.count_in(row);
        }
        segment_table(&found.schema, rows.into_values().collect())
    }

    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
        let fetch = self.counters.change(|counts| {
            counts.fetches += 1;
            counts.fetches - 1
        });
        let delivery = self
            .deliver(fetch, dataset, &chunks)
            .unwrap_or_else(Delivery::failed);
        delivery.stream(self.counters.stream(), self.gate.clone())
    }
}

impl Stored {
    /// Adds what is stored to the row of its segment.
    fn count_in(&self, row: &mut SegmentRow) {
        if row.layers.iter().all(|(name, _)| *name != self.layer) {
            let url = format!("memory:///{}/{}", row.segment, self.layer);
            row.layers.push((Arc::clone(&self.layer), url));
        }
        row.num_chunks += 1;
        row.size_bytes += self.encoded.payload.len() as u64;
        for column in self.chunk.timelines() {
            let Some((start, end)) = column.bounds() else {
                continue;
            };
            let name = Arc::clone(&column.timeline.name);
            let known = row.ranges.entry(name).or_insert(TimeRange::new(start, end));
            *known = TimeRange::new(known.start.min(start), known.end.max(end));
        }
        if self.chunk.is_static() && self.chunk.entity().property_path().is_some() {
            row.properties.push(Arc::new(self.chunk.clone()));
        }
    }

    fn info(&self, position: usize, request: &PlanRequest, announced: Announced) -> ChunkInfo {
        let index = request.time.index();
        let column = index.and_then(|index| self.chunk.timeline(index));
        let bounds = column.and_then(|column| column.bounds());
        ChunkInfo {
            id: self.chunk.id(),
            segment: self.chunk.segment().clone(),
            layer: Arc::clone(&self.layer),
            entity: self.chunk.entity().clone(),
            is_static: self.chunk.is_static(),
            byte_len: self.encoded.payload.len() as u64,
            byte_len_uncompressed: announced.sizes.then_some(self.encoded.uncompressed_len),
            start: bounds.map(|(start, _)| start),
            end: bounds.map(|(_, end)| end).filter(|_| announced.ends),
            num_rows: announced.rows.then_some(self.chunk.num_rows() as u64),
            key: Bytes::copy_from_slice(&(position as u64).to_be_bytes()),
        }
    }
}

fn encode(chunk: &Chunk, compression: Compression) -> EncodedChunk {
    EncodedChunk::from_chunk(chunk, compression).expect("a valid chunk can be encoded")
}

/// The position that a key names.
fn position(key: &[u8]) -> Option<usize> {
    usize::try_from(u64::from_be_bytes(key.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests;
