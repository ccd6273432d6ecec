//! What a scan reads, in which order.

use std::collections::BTreeMap;
use std::ops::{Deref, Range};
use std::sync::Arc;

use datafusion::error::Result;
use segue_chunk::{ChunkInfo, ChunkSource, SegmentId, View};

use tracing::Span;

use crate::executor::Memory;
use crate::explain::Narrowing;
use crate::filter::Region;
use crate::options::SegmentStreamOptions;
use crate::partition::partition_segments;

/// What all partitions of a scan have in common.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Where the chunks come from.
    pub(crate) source: Arc<dyn ChunkSource>,
    /// The dataset.
    pub(crate) dataset: Arc<str>,
    /// Columns of all of the dataset, that chunks are checked against.
    pub(crate) dataset_schema: Arc<segue_chunk::DatasetSchema>,
    /// What makes rows.
    pub(crate) view: Arc<View>,
    /// Segments and index values to read. No others are emitted.
    pub(crate) region: Region,
    /// Components, as positions among those of the view, without which no row is emitted.
    pub(crate) not_null: Vec<usize>,
    /// What is read of each segment, ascending.
    pub(crate) segments: Vec<Arc<SegmentPlan>>,
    /// How it came to be narrowed so.
    pub(crate) narrowing: Narrowing,
    /// The settings it was planned with, and is executed with.
    pub(crate) options: SegmentStreamOptions,
    /// The memory of the session in which it was planned.
    pub(crate) memory: Memory,
    /// The span in which it was planned.
    pub(crate) span: Span,
}

impl Scan {
    /// Bytes of what is known of the chunks and rows to come.
    pub(crate) fn bytes(&self) -> usize {
        let chunk = |info: &ChunkInfo| size_of::<ChunkInfo>() + info.key.len();
        let segment = |plan: &Arc<SegmentPlan>| {
            let samples = plan.samples.as_ref().map_or(0, Vec::capacity);
            let chunks: usize = plan.chunks.iter().map(chunk).sum();
            size_of::<SegmentPlan>() + samples * size_of::<i64>() + chunks
        };
        self.segments.iter().map(segment).sum()
    }
}

/// What a scan reads of one segment.
#[derive(Debug)]
pub(crate) struct SegmentPlan {
    /// The segment.
    pub(crate) id: SegmentId,
    /// Its chunks: those without a start first, since they can matter to every row, then by start.
    pub(crate) chunks: Chunks,
    /// The index values at which it has a row, ascending; `None` for those at which something is.
    pub(crate) samples: Option<Vec<i64>>,
}

/// Index values at which segments have rows, ascending, at least one each.
pub(crate) type SegmentSamples = BTreeMap<SegmentId, Vec<i64>>;

/// Puts chunk infos in the order in which they are asked for, delivered and turned into rows. With `samples`, all
/// segments there are planned, even those without a chunk, and no others.
pub(crate) fn order(
    mut infos: Vec<ChunkInfo>,
    samples: Option<&SegmentSamples>,
) -> Vec<Arc<SegmentPlan>> {
    // In place: there may be a million. `None` sorts before any start.
    infos.sort_unstable_by(|a, b| (&a.segment, a.start, a.id).cmp(&(&b.segment, b.start, b.id)));
    infos.dedup_by(|a, b| a.id == b.id && a.segment == b.segment);
    infos.shrink_to_fit();
    let mut segments: BTreeMap<SegmentId, Range<usize>> = BTreeMap::new();
    for id in samples.iter().flat_map(|samples| samples.keys()) {
        segments.insert(id.clone(), 0..0);
    }
    let mut end = 0;
    for chunks in infos.chunk_by(|a, b| a.segment == b.segment) {
        let start = end;
        end += chunks.len();
        segments.insert(chunks[0].segment.clone(), start..end);
    }
    let all = Arc::new(infos);
    let plan = segments.into_iter().map(|(id, range)| {
        let samples = samples.map(|samples| samples.get(&id).cloned().unwrap_or_default());
        let all = Arc::clone(&all);
        Arc::new(SegmentPlan {
            id,
            chunks: Chunks { all, range },
            samples,
        })
    });
    plan.collect()
}

/// Some of the chunks of a scan, all of which are kept in one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunks {
    all: Arc<Vec<ChunkInfo>>,
    /// Within all.
    range: Range<usize>,
}

impl Deref for Chunks {
    type Target = [ChunkInfo];

    fn deref(&self) -> &[ChunkInfo] {
        &self.all[self.range.clone()]
    }
}

impl From<Vec<ChunkInfo>> for Chunks {
    fn from(chunks: Vec<ChunkInfo>) -> Self {
        Self {
            range: 0..chunks.len(),
            all: Arc::new(chunks),
        }
    }
}

/// The segments of one partition, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartitionPlan {
    /// The segments.
    pub(crate) segments: Vec<Arc<SegmentPlan>>,
}

/// How the segments of a scan are spread over partitions.
#[derive(Clone, Debug)]
pub(crate) struct Partitions {
    /// One plan per partition.
    pub(crate) plans: Vec<PartitionPlan>,
    /// Whether a segment is in the partition that DataFusion's hash of its id names.
    pub(crate) are_hashed: bool,
}

impl Partitions {
    /// Spreads `segments` over at most `target` partitions: by hash if there are enough, else one each.
    pub(crate) fn of(segments: &[Arc<SegmentPlan>], target: usize) -> Result<Self> {
        let target = target.max(1);
        let are_hashed = segments.len() >= target;
        let count = if are_hashed { target } else { segments.len() };
        let places = match are_hashed {
            true => {
                let ids: Vec<SegmentId> = segments.iter().map(|s| s.id.clone()).collect();
                partition_segments(&ids, count)?
            }
            false => (0..count).collect(),
        };
        let mut plans = vec![PartitionPlan::default(); count];
        for (segment, place) in segments.iter().zip(places) {
            plans[place].segments.push(Arc::clone(segment));
        }
        Ok(Self { plans, are_hashed })
    }
}

/// Chunks of a partition's plan that are asked for together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// By position of the segment in the plan, the positions of the chunks in the segment. Ascending.
    pub(crate) runs: Vec<(usize, Range<usize>)>,
    /// The most bytes that it is expected to take while it is fetched.
    pub(crate) bytes: usize,
}

/// What a chunk takes besides its buffers, roughly.
const CHUNK_OVERHEAD: usize = 1024;

/// The most bytes that are believed of an announcement. What really comes is counted when it does.
const MOST_ANNOUNCED: u64 = 1 << 30;

/// Bytes of a decoded chunk whose buffers take `buffers`.
pub(crate) fn chunk_bytes(buffers: usize) -> usize {
    buffers + CHUNK_OVERHEAD
}

/// The most bytes that a chunk is expected to take while it is fetched: compressed, there are two copies of it.
pub(crate) fn expected_bytes(info: &ChunkInfo) -> usize {
    let decoded = info.estimated_size();
    let copy = if info.byte_len < decoded {
        info.byte_len
    } else {
        0
    };
    let bytes = decoded.saturating_add(copy).min(MOST_ANNOUNCED);
    chunk_bytes(usize::try_from(bytes).unwrap_or(usize::MAX / 2))
}

impl PartitionPlan {
    /// Cuts the plan into units of at most `unit_bytes` expected bytes, or of one larger chunk.
    pub(crate) fn units(&self, unit_bytes: usize) -> Vec<Unit> {
        let segments = self.segments.iter().enumerate();
        let all =
            segments.flat_map(|(at, plan)| (0..plan.chunks.len()).map(move |chunk| (at, chunk)));
        self.cut(all, unit_bytes)
    }

    /// Cuts the chunks at `positions`, ascending, into such units.
    pub(crate) fn cut(
        &self,
        positions: impl IntoIterator<Item = (usize, usize)>,
        unit_bytes: usize,
    ) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for (segment, chunk) in positions {
            let bytes = expected_bytes(&self.segments[segment].chunks[chunk]);
            match units.last_mut() {
                Some(unit) if unit.bytes.saturating_add(bytes) <= unit_bytes => {
                    unit.push(segment, chunk);
                    unit.bytes += bytes;
                }
                _ => units.push(Unit {
                    runs: vec![(segment, chunk..chunk + 1)],
                    bytes,
                }),
            }
        }
        units
    }

    /// The positions of the chunks of a unit, in order: segment, and chunk in it.
    pub(crate) fn positions(unit: &Unit) -> impl Iterator<Item = (usize, usize)> {
        let runs = unit.runs.iter();
        runs.flat_map(|(segment, run)| run.clone().map(move |chunk| (*segment, chunk)))
    }

    /// The chunks of a unit, in order.
    pub(crate) fn chunks<'a>(&'a self, unit: &'a Unit) -> impl Iterator<Item = &'a ChunkInfo> {
        Self::positions(unit).map(|(segment, chunk)| &self.segments[segment].chunks[chunk])
    }
}

impl Unit {
    /// How many chunks it has.
    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(|(_, run)| run.len()).sum()
    }

    fn push(&mut self, segment: usize, chunk: usize) {
        match self.runs.last_mut() {
            Some((last, run)) if *last == segment && run.end == chunk => run.end = chunk + 1,
            _ => self.runs.push((segment, chunk..chunk + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use segue_chunk::ChunkId;

    use super::*;

    fn info(segment: &str, id: u64, start: Option<i64>, size: u64) -> ChunkInfo {
        ChunkInfo {
            id: ChunkId::from_parts(0, id),
            segment: segment.into(),
            layer: "base".into(),
            entity: "/a".into(),
            is_static: start.is_none(),
            byte_len: size,
            byte_len_uncompressed: Some(size),
            start,
            end: None,
            num_rows: None,
            key: Default::default(),
        }
    }

    fn ids(plan: &PartitionPlan, unit: &Unit) -> Vec<u64> {
        plan.chunks(unit).map(|info| info.id.parts().1).collect()
    }

    #[test]
    fn segments_ascend_static_chunks_come_first_and_the_rest_by_start() {
        let plan = order(
            vec![
                info("b", 1, Some(5), 1),
                info("a", 2, Some(9), 1),
                info("a", 3, Some(i64::MIN), 1),
                info("a", 4, None, 1),
                info("a", 2, Some(9), 1),
            ],
            None,
        );
        let all: Vec<_> = plan
            .iter()
            .map(|s| (s.id.as_str(), s.chunks.len()))
            .collect();
        assert_eq!(all, [("a", 3), ("b", 1)]);
        let order: Vec<_> = plan[0].chunks.iter().map(|c| c.id.parts().1).collect();
        assert_eq!(order, [4, 3, 2]);
    }

    #[test]
    fn units_hold_consecutive_chunks_up_to_the_limit_or_one_larger_chunk() {
        let kib = |n: u64| n * 1024;
        let segments = order(
            vec![
                info("a", 1, Some(1), kib(3)),
                info("a", 2, Some(2), kib(3)),
                info("a", 3, Some(3), kib(100)),
                info("b", 4, Some(1), kib(2)),
                info("b", 5, Some(2), kib(2)),
                info("c", 6, Some(1), kib(1)),
            ],
            None,
        );
        let plan = PartitionPlan { segments };
        let units = plan.units(8 * 1024);
        let all: Vec<_> = units.iter().map(|unit| ids(&plan, unit)).collect();
        assert_eq!(all, [vec![1, 2], vec![3], vec![4, 5, 6]]);
        let bytes: Vec<usize> = units.iter().map(|unit| unit.bytes).collect();
        assert_eq!(bytes, [8 * 1024, 101 * 1024, 8 * 1024]);
        assert!(PartitionPlan::default().units(10).is_empty());
        let apart = plan.cut([(0, 0), (1, 0), (1, 1)], 1 << 20);
        assert_eq!(ids(&plan, &apart[0]), [1, 4, 5]);
        assert_eq!(
            plan.cut([(0, 0), (0, 2)], 1 << 20)[0].runs,
            [(0, 0..1), (0, 2..3)]
        );
    }

    #[test]
    fn a_compressed_chunk_is_there_twice_while_it_is_decoded_and_lies_are_not_believed() {
        let mut chunk = info("a", 1, None, 100);
        chunk.byte_len_uncompressed = None;
        assert_eq!(
            expected_bytes(&chunk),
            2 * 100 + 100 + 1024,
            "of a size that is not known"
        );
        chunk.byte_len_uncompressed = Some(100);
        assert_eq!(expected_bytes(&chunk), 100 + 1024);
        chunk.byte_len_uncompressed = Some(300);
        assert_eq!(expected_bytes(&chunk), 300 + 100 + 1024);
        chunk.byte_len_uncompressed = Some(u64::MAX);
        assert_eq!(expected_bytes(&chunk), (1 << 30) + 1024);
    }

    #[test]
    fn few_segments_have_a_partition_each_and_many_are_hashed() {
        let segments = order(
            (0..20)
                .map(|n| info(&format!("s{n:02}"), n, Some(0), 1))
                .collect(),
            None,
        );
        let few = Partitions::of(&segments[..3], 7).unwrap();
        assert_eq!((few.plans.len(), few.are_hashed), (3, false));
        let many = Partitions::of(&segments, 7).unwrap();
        assert_eq!((many.plans.len(), many.are_hashed), (7, true));
        let count: usize = many.plans.iter().map(|plan| plan.segments.len()).sum();
        assert_eq!(count, 20);
        for plan in &many.plans {
            assert!(plan.segments.is_sorted_by_key(|segment| segment.id.clone()));
        }
    }
}
