//! What is in a recording.

use std::sync::Arc;

use segue_error::Result;

use super::frame::Input;
use super::read_at::ReadAt;
use super::{footer, scan};
use crate::model::{ChunkId, ComponentName, EntityPath, SegmentId, TimeRange};
use crate::schema::DatasetSchema;

/// The stores of a recording and where their chunks lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingIndex {
    /// One per store with data, in the order of the file. Usually there is one.
    pub stores: Vec<StoreIndex>,
}

/// One store: what a file holds of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreIndex {
    /// Name of the program that wrote it, where stated.
    pub application: Option<Arc<str>>,
    /// Recording id, which names the segment.
    pub segment: SegmentId,
    /// Its columns.
    pub schema: Arc<DatasetSchema>,
    /// Its chunks, in the order of the file.
    pub chunks: Vec<ChunkEntry>,
}

/// What the index knows of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    /// Identity.
    pub id: ChunkId,
    /// Entity that the values belong to.
    pub entity: EntityPath,
    /// Whether it has no timeline.
    pub is_static: bool,
    /// Number of rows.
    pub num_rows: u64,
    /// Where the body of its message starts, in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of that body.
    pub len: u64,
    /// Bytes of the chunk once decompressed.
    pub uncompressed_len: u64,
    /// Its timelines, by name.
    pub times: Vec<TimeSpan>,
    /// Components with a value in it, ascending; `None` where the index does not say.
    pub components: Option<Arc<[ComponentName]>>,
}

impl ChunkEntry {
    /// The chunk's times on `timeline`, if it has that timeline.
    pub fn span(&self, timeline: &str) -> Option<&TimeSpan> {
        self.times.iter().find(|span| &*span.timeline == timeline)
    }
}

/// A timeline of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    /// Name of the timeline.
    pub timeline: Arc<str>,
    /// First and last value; `None` where the index does not say, and then the chunk may lack the
    /// timeline.
    pub range: Option<TimeRange>,
}

impl RecordingIndex {
    /// Reads the index of the recording `bytes`, which errors call `name`.
    ///
    /// Reads the footer only if there is one, else the whole file once, message by message.
    /// `not_a_recording` when it is something else, `chunk_corrupt` when it is damaged, `unsupported` when
    /// it is encoded in a way that is not known.
    pub fn read(bytes: &dyn ReadAt, name: &str) -> Result<Self> {
        let input = Input { bytes, name };
        input.check_stream_header(0)?;
        match footer::find(input)? {
            Some(span) => footer::read(input, span),
            None => scan::scan(input),
        }
    }
}
