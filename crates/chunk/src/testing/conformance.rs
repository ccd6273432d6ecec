//! The suite that every [`ChunkSource`] passes.
//!
//! Load the source under test with all of [`recordings`] and run [`check_source`] over it. What fails is
//! returned as a sentence that begins with the broken clause of the contract.

mod catalog;
mod data;
mod fetches;
mod plans;
mod segments;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use data::{DATASET, Recording, recordings};
use segue_error::ErrorCode;

use super::schema_of;
use crate::decode::decode_unannounced;
use crate::model::{Chunk, ChunkId, SegmentId};
use crate::schema::DatasetSchema;
use crate::source::{ChunkInfo, ChunkSource, EncodedChunk};

/// What a check finds: nothing, or the clause that is broken and how.
pub type Verdict = Result<(), String>;

/// How busy a source is, for sources that can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Streams that have begun to work since the source was made.
    pub started: usize,
    /// Streams that hold something now.
    pub running: usize,
}

/// What the source under test is loaded with.
pub struct Expected {
    recordings: Vec<Recording>,
    schema: DatasetSchema,
    chunks: BTreeMap<(SegmentId, ChunkId), Chunk>,
    activity: Option<Box<dyn Fn() -> Activity + Send + Sync>>,
}

impl fmt::Debug for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expected")
            .field("recordings", &self.recordings)
            .finish_non_exhaustive()
    }
}

impl Expected {
    /// All of [`recordings`], in a source that cannot tell its activity.
    pub fn standard() -> Self {
        let recordings = recordings();
        let stored: Vec<Chunk> = recordings
            .iter()
            .filter(|recording| recording.dataset == DATASET)
            .flat_map(|recording| recording.chunks.clone())
            .collect();
        Self {
            schema: schema_of(&stored),
            chunks: stored
                .into_iter()
                .map(|chunk| ((chunk.segment().clone(), chunk.id()), chunk))
                .collect(),
            recordings,
            activity: None,
        }
    }

    /// Checks by `activity`, too, that streams start when polled and stop when dropped.
    #[must_use]
    pub fn observed(mut self, activity: impl Fn() -> Activity + Send + Sync + 'static) -> Self {
        self.activity = Some(Box::new(activity));
        self
    }

    /// The layers that hold a chunk; several when it is stored several times.
    fn layers_of(&self, info: &ChunkInfo) -> impl Iterator<Item = &'static str> {
        self.recordings
            .iter()
            .filter(|r| r.dataset == DATASET && *r.segment == *info.segment.as_str())
            .filter(|r| r.chunks.iter().any(|chunk| chunk.id() == info.id))
            .map(|r| r.layer)
    }

    /// The chunk that `info` speaks of.
    fn stored(&self, info: &ChunkInfo) -> Result<&Chunk, String> {
        let found = self.chunks.get(&(info.segment.clone(), info.id));
        found.ok_or_else(|| format!("plan names chunks of the dataset: {} is none", name(info)))
    }

    fn activity(&self) -> Option<Activity> {
        self.activity.as_ref().map(|activity| activity())
    }
}

/// Checks every clause of the contract of [`ChunkSource`] and stops at the first broken one.
pub async fn check_source(source: &dyn ChunkSource, expected: &Expected) -> Verdict {
    catalog::check(source, expected).await?;
    segments::check(source, expected).await?;
    plans::check(source, expected).await?;
    fetches::check(source, expected).await
}

/// A chunk, for messages.
fn name(info: &ChunkInfo) -> String {
    format!("chunk {} of segment '{}'", info.id, info.segment)
}

/// Fails with the broken `clause` unless `holds`.
fn ensure(holds: bool, clause: &str, how: impl FnOnce() -> String) -> Verdict {
    match holds {
        true => Ok(()),
        false => Err(format!("{clause}: {}", how())),
    }
}

/// Fails unless `result` is an error with the code `unknown_dataset`.
fn ensure_unknown_dataset<T>(call: &str, result: segue_error::Result<T>) -> Verdict {
    let clause = format!("{call} of a dataset that does not exist is unknown_dataset");
    match result {
        Ok(_) => Err(format!("{clause}: it succeeds")),
        Err(error) => ensure(error.code() == ErrorCode::UnknownDataset, &clause, || {
            format!("it is {}", error.code())
        }),
    }
}

/// Decodes what came, without regard to what was announced.
fn decode(encoded: &EncodedChunk) -> Result<Chunk, String> {
    let decoded = decode_unannounced(encoded);
    let (chunk, _) = decoded.map_err(|e| format!("delivered chunks are valid: {e}"))?;
    let same = chunk.id() == encoded.id && *chunk.segment() == encoded.segment;
    ensure(same, "the label of a delivered chunk is its own", || {
        format!("{} is labelled {}", chunk.id(), encoded.id)
    })?;
    Ok(chunk)
}

/// Whether two chunks are the same but for the order of their columns.
fn is_same(a: &Chunk, b: &Chunk) -> bool {
    let timelines = |chunk: &Chunk| -> BTreeMap<_, Vec<i64>> {
        let columns = chunk.timelines().iter();
        columns
            .map(|c| (c.timeline.clone(), c.times.to_vec()))
            .collect()
    };
    let components = |chunk: &Chunk| -> Vec<_> {
        let mut columns: Vec<_> = chunk.components().to_vec();
        columns.sort_by(|a, b| a.component.cmp(&b.component));
        columns
            .into_iter()
            .map(|c| (Arc::clone(&c.component), c.values))
            .collect()
    };
    a.id() == b.id()
        && a.segment() == b.segment()
        && a.entity() == b.entity()
        && a.row_ids() == b.row_ids()
        && timelines(a) == timelines(b)
        && components(a) == components(b)
}
