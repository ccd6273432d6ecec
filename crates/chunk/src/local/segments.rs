//! The table of segments of a folder.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use futures::TryStreamExt as _;
use segue_error::Result;

use super::contents::{DatasetContents, Layer};
use super::dataset::Dataset;
use super::{blocking, fetch, plan};
use crate::decode::ChunkDecoder;
use crate::model::{Chunk, ChunkId, SegmentId, TimeRange};
use crate::segments::{SegmentRow, properties, segment_table};
use crate::source::{ChunkInfo, PlanRequest, TimeSelection};
use crate::text_set::TextSet;

/// The table of those of `segments` that `dataset`, which holds `contents`, has. Reads their properties.
pub(super) async fn table(
    dataset: &Arc<Dataset>,
    contents: &Arc<DatasetContents>,
    segments: &TextSet,
) -> Result<RecordBatch> {
    let wanted = contents.segments().map(|(segment, _)| segment);
    let wanted = wanted.filter(|segment| segments.contains(segment.as_str()));
    let wanted: BTreeSet<SegmentId> = wanted.cloned().collect();
    let mut properties = read_properties(dataset, contents, &wanted).await?;
    let contents = Arc::clone(contents);
    let build = blocking::start(move |_| {
        let rows = contents.segments();
        let rows = rows.filter(|(segment, _)| wanted.contains(*segment));
        let rows = rows.map(|(segment, layers)| SegmentRow {
            segment: segment.clone(),
            layers: layers.iter().map(layer).collect(),
            last_updated_ns: layers.iter().map(|layer| layer.stamp().modified_ns).max(),
            num_chunks: chunks(layers).count() as u64,
            size_bytes: layers
                .iter()
                .fold(0, |sum: u64, layer| sum.saturating_add(layer.size_bytes())),
            ranges: ranges(layers),
            properties: properties.remove(segment).unwrap_or_default(),
        });
        segment_table(contents.schema(), rows.collect())
    })?;
    build.finish().await
}

/// The chunks of the properties of `segments`, by segment.
async fn read_properties(
    dataset: &Arc<Dataset>,
    contents: &Arc<DatasetContents>,
    segments: &BTreeSet<SegmentId>,
) -> Result<HashMap<SegmentId, Vec<Arc<Chunk>>>> {
    let schema = contents.schema();
    let request = PlanRequest {
        dataset: dataset.name().into(),
        entities: properties(schema)?.entities(),
        segments: Some(segments.clone()),
        time: TimeSelection::Static,
    };
    let planned = {
        let contents = Arc::clone(contents);
        blocking::start(move |_| plan::plan(&contents, &request))?
            .finish()
            .await?
    };
    let infos: HashMap<(SegmentId, ChunkId), ChunkInfo> = planned
        .iter()
        .map(|info| ((info.segment.clone(), info.id), info.clone()))
        .collect();
    let decoder = ChunkDecoder::new(Arc::clone(schema), None);
    let mut chunks: HashMap<SegmentId, Vec<Arc<Chunk>>> = HashMap::new();
    let mut encoded = fetch::fetch(Arc::clone(dataset), planned);
    while let Some(encoded) = encoded.try_next().await? {
        if let Some(info) = infos.get(&(encoded.segment.clone(), encoded.id)) {
            let chunk = Arc::new(decoder.decode(info, &encoded)?);
            chunks.entry(encoded.segment).or_default().push(chunk);
        }
    }
    Ok(chunks)
}

fn chunks(layers: &[Layer]) -> impl Iterator<Item = &crate::rrd::ChunkEntry> {
    layers.iter().flat_map(|layer| &layer.store().chunks)
}

/// Name and address of a layer.
fn layer(layer: &Layer) -> (Arc<str>, String) {
    (Arc::clone(layer.name()), layer.address())
}

/// First and last value on each timeline.
fn ranges(layers: &[Layer]) -> BTreeMap<Arc<str>, TimeRange> {
    let mut ranges: BTreeMap<Arc<str>, TimeRange> = BTreeMap::new();
    for span in chunks(layers).flat_map(|chunk| &chunk.times) {
        let Some(range) = span.range else { continue };
        let known = ranges.entry(Arc::clone(&span.timeline)).or_insert(range);
        known.start = known.start.min(range.start);
        known.end = known.end.max(range.end);
    }
    ranges
}
