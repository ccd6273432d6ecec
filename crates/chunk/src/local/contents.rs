//! What the recordings of a dataset hold.

use std::path::Path;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use tokio::sync::OnceCell;
use url::Url;

use super::key;
use crate::model::{SegmentId, TimeRange};
use crate::rrd::{ChunkEntry, FileStamp, RecordingIndex, StoreIndex};
use crate::schema::DatasetSchema;
use crate::source::ChunkInfo;

/// What the recordings of a dataset held when they were last looked at: their index, and no chunk.
#[derive(Debug)]
pub struct DatasetContents {
    schema: Arc<DatasetSchema>,
    /// Ascending by segment, and within a segment in the order of the files.
    layers: Vec<Layer>,
    /// The table of segments, once somebody asked for it.
    pub(super) segment_table: OnceCell<RecordBatch>,
}

impl DatasetContents {
    pub(super) fn new(schema: DatasetSchema, mut layers: Vec<Layer>) -> Self {
        layers.sort_by(|a, b| (a.segment(), a.file).cmp(&(b.segment(), b.file)));
        Self {
            schema: Arc::new(schema),
            layers,
            segment_table: OnceCell::new(),
        }
    }

    /// The columns of the dataset.
    pub fn schema(&self) -> &Arc<DatasetSchema> {
        &self.schema
    }

    /// Its layers, ascending by segment, and within a segment in the order of the files.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The layers of each segment, ascending by segment. None is empty.
    pub fn segments(&self) -> impl Iterator<Item = (&SegmentId, &[Layer])> {
        let groups = self.layers.chunk_by(|a, b| a.segment() == b.segment());
        groups.filter_map(|layers| Some((layers.first()?.segment(), layers)))
    }

    /// The layers of one segment, none when there is no such segment.
    pub fn segment(&self, id: &SegmentId) -> &[Layer] {
        let start = self.layers.partition_point(|layer| layer.segment() < id);
        let rest = &self.layers[start..];
        let len = rest.partition_point(|layer| layer.segment() == id);
        &rest[..len]
    }
}

/// What one recording holds of one segment.
#[derive(Clone, Debug)]
pub struct Layer {
    pub(super) name: Arc<str>,
    pub(super) path: Arc<Path>,
    /// Number of the file in the dataset.
    pub(super) file: u32,
    pub(super) stamp: FileStamp,
    pub(super) index: Arc<RecordingIndex>,
    /// Position of the store in `index`, which has it.
    pub(super) store: usize,
}

impl Layer {
    /// Segment that the layer belongs to.
    pub fn segment(&self) -> &SegmentId {
        &self.store().segment
    }

    /// Name of the layer, unique within its segment: that of the file.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Path of the recording.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The recording's length and time when it was read.
    pub fn stamp(&self) -> FileStamp {
        self.stamp
    }

    /// Its columns and chunks.
    pub fn store(&self) -> &StoreIndex {
        &self.index.stores[self.store]
    }

    /// Address of the recording: a `file://` URL, or its path where it has none.
    pub fn address(&self) -> String {
        let absolute = std::path::absolute(&self.path).ok();
        let url = absolute.and_then(|path| Url::from_file_path(path).ok());
        url.map_or_else(|| self.path.display().to_string(), String::from)
    }

    /// Bytes of all its chunks, as they are stored.
    pub fn size_bytes(&self) -> u64 {
        let chunks = self.store().chunks.iter();
        chunks.fold(0, |sum, chunk| sum.saturating_add(chunk.len))
    }

    /// What [`LocalSource::fetch`](super::LocalSource) needs of `chunk`, which is one of this layer, and
    /// what others want to know of it. `range` is the chunk's range on the index that is of interest.
    pub fn chunk_info(&self, chunk: &ChunkEntry, range: Option<TimeRange>) -> ChunkInfo {
        let store = self.store();
        let place = chunk.offset..chunk.offset.saturating_add(chunk.len);
        ChunkInfo {
            id: chunk.id,
            segment: store.segment.clone(),
            layer: Arc::clone(&self.name),
            entity: chunk.entity.clone(),
            is_static: chunk.is_static,
            byte_len: chunk.len,
            byte_len_uncompressed: Some(chunk.uncompressed_len),
            start: range.map(|range| range.start),
            end: range.map(|range| range.end),
            num_rows: Some(chunk.num_rows),
            key: key::encode(self.file, self.stamp, place, store.application.as_deref()),
        }
    }
}
