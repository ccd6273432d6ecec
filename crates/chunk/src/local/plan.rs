//! Which chunks of a dataset a read needs.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use segue_error::{Error, ErrorCode, Result};

use super::dataset::{Contents, LayerFile};
use super::key;
use crate::model::{ChunkId, ComponentName, EntityPath, SegmentId, TimeRange};
use crate::rrd::{ChunkEntry, StoreIndex};
use crate::source::{ChunkInfo, PlanRequest, TimeSelection};

/// The chunks of `contents` that `request` needs, each once per segment, in the order of the files.
///
/// `chunk_corrupt` when two chunks of a segment have one id and are not the same.
pub(super) fn plan(contents: &Contents, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
    let mut wanted: Wanted<'_> = HashMap::new();
    for selection in &request.entities {
        wanted
            .entry(&selection.entity)
            .or_default()
            .push(&selection.components);
    }
    // Layers may repeat a chunk.
    let mut seen: HashMap<&SegmentId, HashMap<ChunkId, Seen<'_>>> = HashMap::new();
    let mut chunks = Vec::new();
    for (number, file) in (0..).zip(&contents.files) {
        for store in &file.indexed.index.stores {
            if request
                .segments
                .as_ref()
                .is_some_and(|names| !names.contains(&store.segment))
            {
                continue;
            }
            let seen = seen.entry(&store.segment).or_default();
            for chunk in &store.chunks {
                if !has_wanted(chunk, &wanted) {
                    continue;
                }
                let Some(range) = time(chunk, &request.time) else {
                    continue;
                };
                match seen.entry(chunk.id) {
                    Entry::Vacant(free) => {
                        free.insert(Seen { file, chunk });
                        chunks.push(info(number, file, store, chunk, range));
                    }
                    Entry::Occupied(known) => known.get().check_same(file, store, chunk)?,
                }
            }
        }
    }
    Ok(chunks)
}

/// Where a chunk was found first.
struct Seen<'a> {
    file: &'a LayerFile,
    chunk: &'a ChunkEntry,
}

impl Seen<'_> {
    /// Checks that `chunk`, which has the same id and will not be read, is not another one.
    fn check_same(&self, file: &LayerFile, store: &StoreIndex, chunk: &ChunkEntry) -> Result<()> {
        let known = self.chunk;
        let is_same = known.entity == chunk.entity
            && known.is_static == chunk.is_static
            && known.num_rows == chunk.num_rows
            && known.uncompressed_len == chunk.uncompressed_len;
        if is_same {
            return Ok(());
        }
        let (id, segment) = (chunk.id, &store.segment);
        let (first, second) = (self.file.path.display(), file.path.display());
        let message = match self.file.path == file.path {
            true => format!("recording '{first}' has two"),
            false => format!("recordings '{first}' and '{second}' have two"),
        };
        let message = format!("{message} different chunks {id} of segment '{segment}'");
        Err(Error::new(ErrorCode::ChunkCorrupt, "local.plan", message)
            .with_fact("chunk_id", id.to_string())
            .with_fact("segment", segment.as_str())
            .with_fact("file", file.path.display().to_string()))
    }
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

fn info(
    number: u32,
    file: &LayerFile,
    store: &StoreIndex,
    chunk: &ChunkEntry,
    range: Option<TimeRange>,
) -> ChunkInfo {
    let place = chunk.offset..chunk.offset.saturating_add(chunk.len);
    ChunkInfo {
        id: chunk.id,
        segment: store.segment.clone(),
        layer: std::sync::Arc::clone(&file.layer),
        entity: chunk.entity.clone(),
        is_static: chunk.is_static,
        byte_len: chunk.len,
        byte_len_uncompressed: Some(chunk.uncompressed_len),
        start: range.map(|range| range.start),
        end: range.map(|range| range.end),
        num_rows: Some(chunk.num_rows),
        key: key::encode(
            number,
            file.indexed.stamp,
            place,
            store.application.as_deref(),
        ),
    }
}
