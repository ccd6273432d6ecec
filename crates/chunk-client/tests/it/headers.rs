//! What goes out and comes back beside the messages.

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use segue_chunk::ChunkSource;
use segue_error::ErrorCode;
use segue_proto::cloud::DatasetResponseMeta;
use tonic::Status;
use tracing::Instrument as _;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::support::{DATASET, Mock, Recorded, fetch, request};

const SECRET: &str = "open-sesame";

#[tokio::test]
async fn a_call_says_who_asks_what_it_is_about_and_how_long_it_may_take() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let source = mock
        .builder()
        .token(SECRET)
        .client_name("tester")
        .connect()
        .await
        .unwrap();
    source.schema(DATASET).await.unwrap();
    let headers = mock.headers("GetDatasetSchema").remove(0);
    let text = |name: &str| headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(text("authorization"), format!("Bearer {SECRET}"));
    assert!(text("x-rerun-client-version").starts_with("tester/"));
    assert_eq!(text("x-rerun-entry-id"), "18ECEAFDEDE3FF735bb87030d7ef2e45");
    assert!(!text("grpc-timeout").is_empty());
    assert!(headers.get("x-rerun-dataset-revision").is_none());
    assert!(headers.get("traceparent").is_none());
}

#[tokio::test]
async fn a_token_is_not_shown() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let builder = mock.builder().token(SECRET);
    assert!(!format!("{builder:?}").contains(SECRET));
    let source = builder.connect().await.unwrap();
    assert!(!format!("{source:?}").contains(SECRET));
    mock.refuse("FindEntries", Status::unauthenticated("who are you"));
    let error = source.datasets().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unauthenticated);
    assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");

    let error = mock
        .builder()
        .token("two\nlines")
        .connect()
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert!(!error.message().contains("two"), "{error}");
}

#[tokio::test]
async fn an_error_has_the_servers_trace() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let source = mock.source().await;
    let mut status = Status::internal("oops");
    status
        .metadata_mut()
        .insert("x-request-trace-id", "feed".parse().unwrap());
    mock.refuse("FindEntries", status);
    assert_eq!(
        source.datasets().await.unwrap_err().trace_id(),
        Some("feed")
    );

    // In the middle of a response, it is that of the response.
    let plan = source.plan(&request(&source).await).await.unwrap();
    let broken = crate::support::Fault::Chunks(|chunks| chunks, Some(Status::internal("oops")));
    mock.fail("FetchChunks", broken);
    let error = fetch(&source, plan).await.unwrap_err();
    assert_eq!(error.trace_id(), Some("0123456789abcdef"));
}

#[tokio::test]
async fn calls_belong_to_the_trace_of_the_span_they_are_made_in() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let provider = SdkTracerProvider::builder().build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let subscriber = tracing_subscriber::registry().with(layer);
    let _guard = tracing::subscriber::set_default(subscriber);

    let source = mock.source().await;
    let plan = source.plan(&request(&source).await).await.unwrap();
    let span = tracing::info_span!("query");
    async {
        source.datasets().await.unwrap();
        // Fetching is the work of tasks, which have no span of their own.
        fetch(&source, plan).await.unwrap();
    }
    .instrument(span)
    .await;
    let parent = |method: &str| {
        let headers = mock.headers(method).pop().unwrap();
        headers
            .get("traceparent")
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    let (listed, fetched) = (parent("FindEntries"), parent("FetchChunks"));
    assert_eq!(listed, fetched);
    let parts: Vec<&str> = listed.split('-').collect();
    assert_eq!(
        parts.iter().map(|part| part.len()).collect::<Vec<_>>(),
        [2, 32, 16, 2]
    );
}

#[tokio::test]
async fn the_latest_revision_is_asked_for_and_waited_for() {
    let mut recorded = Recorded::of("0.41.0");
    recorded.schema.meta = Some(DatasetResponseMeta {
        entry_id: None,
        dataset_revision: 7,
    });
    let mock = Mock::start(recorded).await;
    let source = mock.source().await;
    source.schema(DATASET).await.unwrap();
    for _ in 0..2 {
        mock.refuse("FindChunks", Status::failed_precondition("not there yet"));
    }
    source.plan(&request(&source).await).await.unwrap();
    let headers = mock.headers("FindChunks");
    assert_eq!(headers.len(), 3);
    for headers in headers {
        let revision = headers.get("x-rerun-dataset-revision").unwrap();
        assert_eq!(revision.to_str().unwrap(), "7");
    }
}

#[tokio::test]
async fn a_server_without_revisions_is_not_waited_for() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let source = mock.source().await;
    mock.refuse("GetDatasetSchema", Status::failed_precondition("no"));
    let error = source.schema(DATASET).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServerError);
    assert_eq!(mock.count("GetDatasetSchema"), 1);
}
