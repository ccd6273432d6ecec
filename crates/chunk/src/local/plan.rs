//! Which chunks of a dataset a read needs.

use std::collections::{BTreeSet, HashMap};

use segue_error::Result;

use super::contents::DatasetContents;
use super::latest::{self, Timed};
use super::unique::UniqueChunks;
use crate::model::{ComponentName, EntityPath, Fill, SegmentId, TimeRange};
use crate::rrd::ChunkEntry;
use crate::source::{ChunkInfo, PlanRequest, TimeSelection};

/// The chunks of `contents` that `request` needs, each once per segment, ascending by segment.
///
/// `chunk_corrupt` when two chunks of a segment have one id and are not the same.
pub(super) fn plan(contents: &DatasetContents, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
    let mut wanted: Wanted<'_> = HashMap::new();
    for selection in &request.entities {
        wanted
            .entry(&selection.entity)
            .or_default()
            .push(&selection.components);
    }
    let mut chunks = Vec::new();
    for (segment, layers) in contents.segments() {
        if !request.wants(segment) {
            continue;
        }
        let mut unique = UniqueChunks::default();
        let mut candidates = Vec::new();
        for layer in layers {
            for entry in &layer.store().chunks {
                if has_wanted(entry, &wanted) && unique.insert(layer, entry)? {
                    candidates.push((layer, entry));
                }
            }
        }
        let entries: Vec<&ChunkEntry> = candidates.iter().map(|(_, entry)| *entry).collect();
        let needed = needed(segment, &entries, &wanted, &request.time);
        for ((layer, entry), _) in candidates.iter().zip(needed).filter(|(_, needed)| *needed) {
            let span = request.time.index().and_then(|index| entry.span(index));
            let range = span
                .and_then(|span| span.range)
                .filter(|_| !entry.is_static);
            chunks.push(layer.chunk_info(entry, range));
        }
    }
    Ok(chunks)
}

/// Per entity the sets of components that are asked for.
type Wanted<'a> = HashMap<&'a EntityPath, Vec<&'a BTreeSet<ComponentName>>>;

fn has_wanted(chunk: &ChunkEntry, wanted: &Wanted<'_>) -> bool {
    let Some(sets) = wanted.get(&chunk.entity) else {
        return false;
    };
    match &chunk.components {
        None => sets.iter().any(|set| !set.is_empty()),
        Some(has) => has
            .iter()
            .any(|name| sets.iter().any(|set| set.contains(name))),
    }
}

/// Whether each of `chunks`, which are of one segment, is needed by its times.
fn needed(
    segment: &SegmentId,
    chunks: &[&ChunkEntry],
    wanted: &Wanted<'_>,
    time: &TimeSelection,
) -> Vec<bool> {
    let (index, samples, fill) = match time {
        TimeSelection::Static => return chunks.iter().map(|chunk| chunk.is_static).collect(),
        TimeSelection::Index { range, .. } if range.is_empty() => {
            return chunks.iter().map(|chunk| chunk.is_static).collect();
        }
        TimeSelection::Index { index, range, fill } => (index, &[range.start][..], *fill),
        TimeSelection::Samples {
            index,
            values,
            fill,
        } => {
            let samples = values.get(segment).map_or(&[][..], Vec::as_slice);
            (index, samples, *fill)
        }
    };
    let in_time = |span: TimeRange| match time {
        TimeSelection::Index { range, .. } => span.intersects(range),
        _ => {
            let next = samples.partition_point(|&value| value < span.start);
            samples.get(next).is_some_and(|&value| value <= span.end)
        }
    };
    let mut needed: Vec<bool> = chunks
        .iter()
        .map(|chunk| {
            let span = chunk.span(index);
            chunk.is_static || span.is_some_and(|span| span.range.is_none_or(in_time))
        })
        .collect();
    if fill == Fill::LatestAt {
        mark_latest(&mut needed, chunks, wanted, index, samples);
    }
    needed
}

/// Marks the chunks that may hold the latest values at one of `samples`, entity by entity.
fn mark_latest(
    needed: &mut [bool],
    chunks: &[&ChunkEntry],
    wanted: &Wanted<'_>,
    index: &str,
    samples: &[i64],
) {
    let mut entities: HashMap<&EntityPath, (Vec<usize>, Vec<Timed<'_>>)> = HashMap::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let Some(span) = chunk.span(index).filter(|_| !chunk.is_static) else {
            continue;
        };
        let sets = wanted.get(&chunk.entity).map_or(&[][..], Vec::as_slice);
        let is_wanted = |name: &&ComponentName| sets.iter().any(|set| set.contains(*name));
        let components = chunk.components.as_deref().map(|names| {
            let names = names.iter().filter(is_wanted);
            names.map(AsRef::as_ref).collect()
        });
        let (positions, timed) = entities.entry(&chunk.entity).or_default();
        positions.push(at);
        timed.push(Timed {
            range: span.range,
            components,
        });
    }
    for (positions, timed) in entities.into_values() {
        for (at, is_latest) in positions.into_iter().zip(latest::needed(&timed, samples)) {
            needed[at] |= is_latest;
        }
    }
}
