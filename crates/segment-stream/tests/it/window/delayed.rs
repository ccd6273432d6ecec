//! A source that takes its time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use futures::StreamExt;
use segue_chunk::testing::ScriptedSource;
use segue_chunk::{ChunkInfo, ChunkSource, ChunkStream, DatasetSchema, PlanRequest, TextSet};
use segue_error::Result;

/// Delivers what `source` does, each chunk after a while that depends on the chunk and on `seed`.
#[derive(Debug)]
pub(super) struct Delayed {
    pub(super) source: Arc<ScriptedSource>,
    pub(super) seed: u64,
}

#[async_trait]
impl ChunkSource for Delayed {
    async fn datasets(&self) -> Result<Vec<String>> {
        self.source.datasets().await
    }

    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        self.source.schema(dataset).await
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
        self.source.plan(request).await
    }

    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
        self.source.segment_table(dataset, segments).await
    }

    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
        let first = chunks.first().map_or(0, |info| info.id.parts().1);
        let wait = self.seed.rotate_left((first % 60) as u32) % 50;
        let delivered = self.source.fetch(dataset, chunks);
        let delivered = delivered.then(move |chunk| async move {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            chunk
        });
        delivered.boxed()
    }
}
