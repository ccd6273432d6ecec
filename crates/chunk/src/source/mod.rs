//! Where chunks come from.

mod encoded;
mod info;
mod request;

use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use futures::stream::BoxStream;
use std::fmt::Debug;
use std::sync::Arc;

pub use encoded::{Compression, EncodedChunk};
pub use info::ChunkInfo;
pub use request::{EntitySelection, PlanRequest, TimeSelection};
use segue_error::Result;

use crate::schema::DatasetSchema;
use crate::text_set::TextSet;

/// Chunks as they are delivered. The stream ends after the first error.
pub type ChunkStream = BoxStream<'static, Result<EncodedChunk>>;

/// A catalog of datasets whose chunks can be listed and fetched.
///
/// The seam between where recordings are kept (a folder, a server) and what is done with them. A source
/// hands out chunks as they are encoded, so that the caller decides where and when to decode.
///
/// Every implementation passes the suite in `testing::conformance` (feature `test-util`).
#[async_trait]
pub trait ChunkSource: Debug + Send + Sync + 'static {
    /// Names of the datasets, ascending.
    async fn datasets(&self) -> Result<Vec<String>>;

    /// Columns of a dataset; `unknown_dataset` when there is none of that name.
    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>>;

    /// The chunks that an answer to `request` needs, in any order, each once per segment.
    ///
    /// Reads metadata only. May name more chunks than are needed, never fewer. `unknown_dataset` when
    /// there is none of that name; unknown segments, entities, components and indexes just select nothing.
    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>>;

    /// The table of those of `segments` that there are: one row per segment, ascending by id. `unknown_dataset` when
    /// there is none of that name.
    ///
    /// Its columns are `rerun_segment_id`, `rerun_layer_names` and `rerun_storage_urls` (side by side),
    /// `rerun_last_updated_at` (nanoseconds since 1970), `rerun_num_chunks` and `rerun_size_bytes` (of all
    /// layers together), then the static values of recording properties, and per timeline `NAME:start` and
    /// `NAME:end`, null where a segment has no value on it. Reads metadata and properties only.
    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch>;

    /// Fetches chunks of `dataset` that [`plan`](Self::plan) named. Nothing starts before the first poll;
    /// dropping the stream stops the work.
    ///
    /// Each chunk comes once, in any order, as long as it is still there; `source_changed` when the stored
    /// data is no longer what was planned. The caller checks that what came is what it asked for.
    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream;
}
