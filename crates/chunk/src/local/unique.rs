//! Chunks that several layers of a segment repeat.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use segue_error::{Error, ErrorCode, Result};

use super::contents::Layer;
use crate::model::ChunkId;
use crate::rrd::ChunkEntry;

/// The chunks of one segment that were met so far, each once.
#[derive(Debug, Default)]
pub struct UniqueChunks<'a>(HashMap<ChunkId, (&'a Layer, &'a ChunkEntry)>);

impl<'a> UniqueChunks<'a> {
    /// Adds `chunk` of `layer`; false when it is there already.
    ///
    /// `chunk_corrupt` when the chunk that is there has the same id and is not the same.
    pub fn insert(&mut self, layer: &'a Layer, chunk: &'a ChunkEntry) -> Result<bool> {
        match self.0.entry(chunk.id) {
            Entry::Vacant(free) => {
                free.insert((layer, chunk));
                Ok(true)
            }
            Entry::Occupied(known) => {
                let (first, known) = *known.get();
                let is_same = known.entity == chunk.entity
                    && known.is_static == chunk.is_static
                    && known.num_rows == chunk.num_rows
                    && known.uncompressed_len == chunk.uncompressed_len;
                match is_same {
                    true => Ok(false),
                    false => Err(different(first, layer, chunk.id)),
                }
            }
        }
    }
}

fn different(first: &Layer, second: &Layer, id: ChunkId) -> Error {
    let segment = second.segment();
    let (one, other) = (first.path().display(), second.path().display());
    let message = match first.path() == second.path() {
        true => format!("recording '{one}' has two"),
        false => format!("recordings '{one}' and '{other}' have two"),
    };
    let message = format!("{message} different chunks {id} of segment '{segment}'");
    Error::new(ErrorCode::ChunkCorrupt, "local.plan", message)
        .with_fact("chunk_id", id.to_string())
        .with_fact("segment", segment.as_str())
        .with_fact("file", second.path().display().to_string())
}
