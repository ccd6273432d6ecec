//! Which chunks of a dataset a read needs.

use std::collections::{BTreeSet, HashMap};

use segue_error::Result;

use super::contents::DatasetContents;
use super::unique::UniqueChunks;
use crate::model::{ComponentName, EntityPath, TimeRange};
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
        let segments = request.segments.as_ref();
        if segments.is_some_and(|names| !names.contains(segment)) {
            continue;
        }
        let mut unique = UniqueChunks::default();
        for layer in layers {
            for chunk in &layer.store().chunks {
                if !has_wanted(chunk, &wanted) {
                    continue;
                }
                let Some(range) = time(chunk, &request.time) else {
                    continue;
                };
                if unique.insert(layer, chunk)? {
                    chunks.push(layer.chunk_info(chunk, range));
                }
            }
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

/// The range of the chunk on the index, where there is one; `None` when the chunk is not selected.
fn time(chunk: &ChunkEntry, selection: &TimeSelection) -> Option<Option<TimeRange>> {
    if chunk.is_static {
        return Some(None);
    }
    let TimeSelection::Index { index, range } = selection else {
        return None;
    };
    let span = chunk.span(index)?;
    let apart = span.range.is_some_and(|span| !span.intersects(range));
    (!apart).then_some(span.range)
}
