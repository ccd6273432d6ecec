//! Spans that work belongs to.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::prelude::SessionContext;
use futures::StreamExt as _;
use segue_chunk::testing::ScriptedSource;
use segue_chunk::{ChunkInfo, ChunkSource, ChunkStream, DatasetSchema, PlanRequest, TextSet};
use segue_error::Result;
use segue_segment_stream::SegmentStreamTable;
use tracing::{Instrument as _, Span};

use crate::support::{config, regular, source};

/// Takes note of the span that is entered whenever chunks are waited for.
#[derive(Debug)]
struct Spanned {
    inner: Arc<ScriptedSource>,
    seen: Arc<Mutex<Vec<Option<&'static str>>>>,
}

#[async_trait]
impl ChunkSource for Spanned {
    async fn datasets(&self) -> Result<Vec<String>> {
        self.inner.datasets().await
    }

    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        self.inner.schema(dataset).await
    }

    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
        self.inner.segment_table(dataset, segments).await
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
        self.inner.plan(request).await
    }

    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
        let seen = Arc::clone(&self.seen);
        let mut chunks = self.inner.fetch(dataset, chunks);
        let polled = move |cx: &mut std::task::Context<'_>| {
            let name = Span::current().metadata().map(|span| span.name());
            seen.lock().unwrap().push(name);
            chunks.poll_next_unpin(cx)
        };
        futures::stream::poll_fn(polled).boxed()
    }
}

#[tokio::test]
async fn fetching_belongs_to_the_span_of_the_query_whichever_task_polls() {
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry());
    let seen = Arc::default();
    let source = Arc::new(Spanned {
        inner: source(regular(4, 10, 5)),
        seen: Arc::clone(&seen),
    });
    let table = SegmentStreamTable::builder(source, "d").index("frame");
    let context = SessionContext::new_with_config(config(4, 100));
    let table = Arc::new(table.build().await.unwrap());
    context.register_table("t", table).unwrap();
    // Partitions that are merged are polled by tasks of their own.
    let frame = context.sql("SELECT count(*) FROM t").await.unwrap();
    let span = tracing::info_span!("query");
    frame.collect().instrument(span).await.unwrap();
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|name| *name == Some("query")), "{seen:?}");
}
