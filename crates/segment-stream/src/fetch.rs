//! From the units of a plan to decoded chunks, in the order of the plan.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt};
use segue_chunk::{Chunk, ChunkDecoder, ChunkId, ChunkInfo, EncodedChunk, SegmentId};
use segue_error::{Error, ErrorCode, Result};

use crate::counters::FetchCounters;
use crate::plan::{PartitionPlan, Scan, Unit};

/// Chunks of one unit: by position of the segment in the plan, in the order of the plan.
pub(crate) type Delivery = Vec<(usize, Arc<Chunk>)>;

/// Fetches and decodes the units of `plan`, as many at a time as the options say, delivered in order.
///
/// Nothing starts before the first poll. Dropping the stream drops every request.
pub(crate) fn deliveries(
    scan: Arc<Scan>,
    plan: PartitionPlan,
    counters: FetchCounters,
) -> BoxStream<'static, Result<Delivery>> {
    let index = scan.view.index().map(|index| Arc::clone(&index.name));
    let decoder = Arc::new(ChunkDecoder::new(Arc::clone(&scan.dataset_schema), index));
    let units = plan.units(scan.options.unit_bytes);
    let ahead = scan.options.units_ahead;
    let fetch = move |unit: Unit| {
        let (scan, counters) = (Arc::clone(&scan), counters.clone());
        let decoder = Arc::clone(&decoder);
        let chunks: Vec<ChunkInfo> = plan.chunks(&unit).cloned().collect();
        async move {
            // A source may never wait, and a batch may take any number of units: lets others run, and
            // the query be stopped, in between.
            tokio::task::consume_budget().await;
            let decoded = fetch_unit(&scan, &decoder, chunks, &counters).await?;
            let segments = unit
                .runs
                .into_iter()
                .flat_map(|(at, run)| run.map(move |_| at));
            Ok(segments.zip(decoded).collect())
        }
    };
    futures::stream::iter(units)
        .map(fetch)
        .buffered(ahead)
        .boxed()
}

/// Fetches `chunks` and gives them decoded, in the order asked for; an error unless each came once.
async fn fetch_unit(
    scan: &Scan,
    decoder: &ChunkDecoder,
    chunks: Vec<ChunkInfo>,
    counters: &FetchCounters,
) -> Result<Vec<Arc<Chunk>>> {
    let mut places: HashMap<(&SegmentId, ChunkId), usize> = HashMap::new();
    for (place, info) in chunks.iter().enumerate() {
        places.insert((&info.segment, info.id), place);
    }
    let mut decoded: Vec<Option<Arc<Chunk>>> = vec![None; chunks.len()];
    counters.requested();
    let mut delivered = scan.source.fetch(&scan.dataset, chunks.clone());
    while let Some(encoded) = delivered.next().await {
        let encoded: EncodedChunk = encoded?;
        counters.came(&encoded);
        let place = places.get(&(&encoded.segment, encoded.id));
        match place.map(|&place| (&chunks[place], &mut decoded[place])) {
            Some((info, slot @ None)) => {
                let chunk = counters.decoding(info, || decoder.decode(info, &encoded))?;
                *slot = Some(Arc::new(chunk));
            }
            Some((_, Some(_))) => return Err(over_delivered(scan, &encoded, "twice")),
            None => return Err(over_delivered(scan, &encoded, "without being asked for")),
        }
    }
    let missing = decoded.iter().filter(|chunk| chunk.is_none()).count();
    let chunks = chunks.iter().zip(decoded);
    let all = chunks.map(|(info, chunk)| chunk.ok_or_else(|| under_delivered(scan, info, missing)));
    all.collect()
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
