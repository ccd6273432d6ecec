//! Folders of recordings as a [`ChunkSource`].

mod blocking;
mod builder;
mod changed;
mod contents;
mod dataset;
mod fetch;
mod key;
pub mod latest;
mod listing;
mod manifest;
mod merge;
mod plan;
mod segments;
mod unique;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream;
use segue_error::{Error, ErrorCode, Result};
use segue_proto::log_msg::RrdManifest;

pub use builder::LocalSourceBuilder;
pub use contents::{DatasetContents, Layer};
pub use unique::UniqueChunks;

use self::dataset::Dataset;
use crate::names::suggestion;
use crate::schema::DatasetSchema;
use crate::segments::rows_of_segments;
use crate::source::{ChunkInfo, ChunkSource, ChunkStream, PlanRequest};
use crate::text_set::TextSet;

/// Recordings in folders of this machine.
///
/// A recording's id is its segment id. Several files with one id are layers of one segment, named after the
/// files; several stores in a file are several segments.
///
/// Which files there are is settled when the source is built; those that are hidden, or lie in a hidden
/// folder, are not among them. What is in them is read when a dataset is
/// first used, and again when a file has changed since, off the threads of the async runtime. A file that
/// cannot be read fails the queries of its dataset only.
///
/// Methods must be called within a Tokio runtime.
#[derive(Clone, Debug)]
pub struct LocalSource {
    datasets: BTreeMap<String, Arc<Dataset>>,
}

impl LocalSource {
    /// A builder without folders.
    pub fn builder() -> LocalSourceBuilder {
        LocalSourceBuilder::default()
    }

    /// What the recordings of a dataset hold now. Reads the index of those that were not read yet or have
    /// changed. `unknown_dataset` when there is none of that name; the error of the first recording that
    /// cannot be read.
    pub async fn contents(&self, dataset: &str) -> Result<Arc<DatasetContents>> {
        self.dataset(dataset)?.contents().await
    }

    /// The manifest of `layer` as its recording has it; `None` when the recording has no footer.
    /// `source_changed` when the recording is not what it was when the layer was read.
    pub async fn manifest(&self, layer: &Layer) -> Result<Option<RrdManifest>> {
        let layer = layer.clone();
        blocking::start(move |stop| manifest::read(&layer, stop))?
            .finish()
            .await
    }

    /// The recordings of a dataset, sorted; `unknown_dataset` when there is none of that name.
    pub fn files(&self, dataset: &str) -> Result<&[PathBuf]> {
        Ok(self.dataset(dataset)?.files())
    }

    fn dataset(&self, name: &str) -> Result<&Arc<Dataset>> {
        self.datasets.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.datasets.keys().map(String::as_str).collect();
            let hint = suggestion(name, &names);
            Error::new(
                ErrorCode::UnknownDataset,
                "local.dataset",
                format!("no dataset '{name}'{hint}"),
            )
            .with_fact("dataset", name)
        })
    }
}

#[async_trait]
impl ChunkSource for LocalSource {
    async fn datasets(&self) -> Result<Vec<String>> {
        Ok(self.datasets.keys().cloned().collect())
    }

    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        let contents = self.contents(dataset).await?;
        Ok(Arc::clone(contents.schema()))
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
        let contents = self.contents(&request.dataset).await?;
        let request = request.clone();
        blocking::start(move |_| plan::plan(&contents, &request))?
            .finish()
            .await
    }

    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
        let dataset = self.dataset(dataset)?;
        let contents = dataset.contents().await?;
        let all = &contents.segment_table;
        match all.get() {
            Some(table) => rows_of_segments(table, segments),
            None if segments.is_all() => {
                let table = || segments::table(dataset, &contents, segments);
                Ok(all.get_or_try_init(table).await?.clone())
            }
            None => segments::table(dataset, &contents, segments).await,
        }
    }

    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
        match self.dataset(dataset) {
            Ok(dataset) => fetch::fetch(Arc::clone(dataset), chunks),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}
