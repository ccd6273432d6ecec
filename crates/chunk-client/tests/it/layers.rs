//! What is put around fetching.

use std::sync::{Arc, Mutex};

use futures::{StreamExt as _, stream};
use segue_chunk::{ChunkInfo, ChunkSource, ChunkStream};
use segue_chunk_client::Fetch;
use segue_error::{Error, ErrorCode};

use crate::support::{DATASET, Mock, Recorded, fetch, request};

type Log = Arc<Mutex<Vec<(&'static str, usize)>>>;

/// Writes down what it is asked for, and asks again where the first attempt fails at once.
#[derive(Debug)]
struct Again {
    name: &'static str,
    log: Log,
    inner: Arc<dyn Fetch>,
}

impl Fetch for Again {
    fn fetch(&self, chunks: Vec<ChunkInfo>) -> ChunkStream {
        self.log.lock().unwrap().push((self.name, chunks.len()));
        let inner = Arc::clone(&self.inner);
        stream::once(async move {
            let mut first = inner.fetch(chunks.clone());
            match first.next().await {
                Some(Err(error)) if error.is_retryable() => inner.fetch(chunks),
                next => stream::iter(next).chain(first).boxed(),
            }
        })
        .flatten()
        .boxed()
    }
}

/// Fails whatever it is asked for.
#[derive(Debug)]
struct Never;

impl Fetch for Never {
    fn fetch(&self, _: Vec<ChunkInfo>) -> ChunkStream {
        let error = Error::new(ErrorCode::Unsupported, "test.fetch", "never");
        stream::iter([Err(error)]).boxed()
    }
}

#[tokio::test]
async fn layers_lie_around_one_another_the_last_outermost() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let log = Log::default();
    let again = |name| {
        let log = Arc::clone(&log);
        move |inner| -> Arc<dyn Fetch> { Arc::new(Again { name, log, inner }) }
    };
    let builder = mock.builder();
    let builder = builder
        .layer_fetch(again("inner"))
        .layer_fetch(again("outer"));
    let source = builder.connect().await.unwrap();
    let mut plan = source.plan(&request(&source).await).await.unwrap();
    // As many as one request asks for.
    plan.truncate(1);
    mock.refuse("FetchChunks", tonic::Status::unavailable("busy"));
    assert_eq!(fetch(&source, plan).await.unwrap().len(), 1);
    assert_eq!(*log.lock().unwrap(), [("outer", 1), ("inner", 1)]);
    assert_eq!(mock.count("FetchChunks"), 2);
}

#[tokio::test]
async fn a_layer_may_get_chunks_in_another_way() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let builder = mock.builder().layer_fetch(|_| Arc::new(Never));
    let source = builder.connect().await.unwrap();
    let plan = source.plan(&request(&source).await).await.unwrap();
    let mut chunks = source.fetch(DATASET, plan);
    let error = chunks.next().await.unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unsupported);
    assert_eq!(mock.count("FetchChunks"), 0);
}
