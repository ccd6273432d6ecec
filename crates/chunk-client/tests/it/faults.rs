//! A server that does not keep to what it has announced.

use std::time::Duration;

use futures::StreamExt as _;
use segue_chunk::{ChunkInfo, ChunkSource, EncodedChunk};
use segue_chunk_client::RemoteSource;
use segue_error::{Error, ErrorCode};
use segue_proto::cloud::FindChunksResponse;
use segue_proto::common::DataframePart;
use segue_proto::log_msg::ArrowMsg;
use tonic::Status;

use crate::support::{DATASET, Fault, Mock, Recorded, fetch, request};

async fn planned(mock: &Mock) -> (RemoteSource, Vec<ChunkInfo>) {
    let source = mock.source().await;
    let plan = source.plan(&request(&source).await).await.unwrap();
    (source, plan)
}

/// The error of a fetch whose chunks `change` has changed.
async fn delivered(change: fn(Vec<ArrowMsg>) -> Vec<ArrowMsg>, status: Option<Status>) -> Error {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let (source, plan) = planned(&mock).await;
    mock.fail("FetchChunks", Fault::Chunks(change, status));
    fetch(&source, plan).await.unwrap_err()
}

#[tokio::test]
async fn every_way_to_deliver_wrongly_has_its_error() {
    let twice = |mut chunks: Vec<ArrowMsg>| {
        chunks.push(chunks[0].clone());
        chunks
    };
    let unasked = |mut chunks: Vec<ArrowMsg>| {
        let id = chunks[0].chunk_id.as_mut().unwrap();
        id.inc = Some(id.inc() ^ 1);
        chunks
    };
    let elsewhere = |mut chunks: Vec<ArrowMsg>| {
        chunks[0].store_id.as_mut().unwrap().recording_id.push('x');
        chunks
    };
    let missing = |mut chunks: Vec<ArrowMsg>| {
        chunks.pop();
        chunks
    };
    let long = |mut chunks: Vec<ArrowMsg>| {
        chunks[0].payload = [&chunks[0].payload[..], &[0]].concat().into();
        chunks
    };
    let huge = |mut chunks: Vec<ArrowMsg>| {
        chunks[0].payload = vec![0; 8 << 20].into();
        chunks
    };
    let nameless = |mut chunks: Vec<ArrowMsg>| {
        chunks[0].chunk_id = None;
        chunks
    };
    let cases: [(fn(_) -> _, ErrorCode); 7] = [
        (twice, ErrorCode::SourceOverDelivered),
        (unasked, ErrorCode::SourceOverDelivered),
        (elsewhere, ErrorCode::SourceOverDelivered),
        (missing, ErrorCode::SourceUnderDelivered),
        (long, ErrorCode::InvalidResponse),
        (huge, ErrorCode::InvalidResponse),
        (nameless, ErrorCode::InvalidResponse),
    ];
    for (number, (change, code)) in cases.into_iter().enumerate() {
        let error = delivered(change, None).await;
        assert_eq!(error.code(), code, "case {number}: {error}");
    }
}

#[tokio::test]
async fn a_status_in_mid_stream_is_the_error_of_the_fetch() {
    for (status, code) in [
        (Status::internal("oops"), ErrorCode::ServerError),
        (Status::not_found("gone"), ErrorCode::SourceChanged),
        (Status::unavailable("bye"), ErrorCode::TransportUnavailable),
        (
            Status::resource_exhausted("busy"),
            ErrorCode::ServiceOverloaded,
        ),
    ] {
        let words = status.message().to_owned();
        let error = delivered(|chunks| chunks[..2].to_vec(), Some(status)).await;
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(&words), "{error}");
    }
}

/// The chunks of `plan` as a server would send them, but so long that a few fill a connection.
fn inflated(plan: &mut [ChunkInfo]) {
    for info in plan {
        info.byte_len = 9 << 20;
        info.byte_len_uncompressed = None;
    }
}

#[tokio::test]
async fn a_response_that_nobody_reads_does_not_hold_up_another() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let (source, mut plan) = planned(&mock).await;
    inflated(&mut plan);
    let pad = |mut chunks: Vec<ArrowMsg>| {
        for chunk in &mut chunks {
            chunk.payload = vec![0; 9 << 20].into();
        }
        chunks
    };
    for _ in 0..plan.len() {
        mock.fail("FetchChunks", Fault::Chunks(pad, None));
    }
    // More than the connection's window, in requests of one chunk each.
    let (unread, read) = plan.split_at(6);
    let mut unread = source.fetch(DATASET, unread.to_vec());
    assert!(unread.next().await.unwrap().is_ok());
    let read: Vec<EncodedChunk> = fetch(&source, read[..4].to_vec()).await.unwrap();
    assert_eq!(read.len(), 4);
    assert_eq!(unread.count().await, 5);
}

#[tokio::test]
async fn nothing_starts_before_the_first_poll_and_dropping_the_stream_stops_it() {
    let mut mock = Mock::gated(Recorded::of("0.41.0")).await;
    let (source, plan) = planned(&mock).await;
    let stream = source.fetch(DATASET, plan.clone());
    drop(stream);
    mock.state.gate.add_permits(1);
    let mut stream = source.fetch(DATASET, plan);
    stream.next().await.unwrap().unwrap();
    assert_eq!(
        mock.count("FetchChunks"),
        1,
        "the first stream asked for nothing"
    );
    drop(stream);
    // The server's side of the response is dropped, or this waits forever.
    mock.dropped.recv().await.unwrap();
}

#[tokio::test]
async fn a_response_that_does_not_end_is_given_up() {
    let mock = Mock::gated(Recorded::of("0.41.0")).await;
    let builder = mock.builder().fetch_timeout(Duration::from_millis(20));
    let source = builder.connect().await.unwrap();
    let plan = source.plan(&request(&source).await).await.unwrap();
    let error = fetch(&source, plan).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TransportUnavailable, "{error}");
    let words = "did not answer in time (0.02 s)";
    assert!(error.message().contains(words), "{error}");
}

#[tokio::test]
async fn sources_of_one_server_share_its_limit() {
    let mock = Mock::gated(Recorded::of("0.41.0")).await;
    let first = mock
        .builder()
        .concurrent_requests(1)
        .connect()
        .await
        .unwrap();
    let second = mock
        .builder()
        .concurrent_requests(9)
        .connect()
        .await
        .unwrap();
    let plan = first.plan(&request(&first).await).await.unwrap();
    mock.state.gate.add_permits(1);
    let mut held = first.fetch(DATASET, plan);
    held.next().await.unwrap().unwrap();

    let lists = mock.count("FindEntries");
    let mut listed = std::pin::pin!(second.datasets());
    for _ in 0..100 {
        assert!(futures::poll!(&mut listed).is_pending());
        tokio::task::yield_now().await;
    }
    assert_eq!(mock.count("FindEntries"), lists, "it waits for the fetch");
    drop(held);
    listed.await.unwrap();
}

/// A plan of one part, whose bytes `change` has changed.
async fn changed_plan(part: DataframePart) -> Result<usize, Error> {
    let mut recorded = Recorded::of("0.41.0");
    recorded.plan = vec![FindChunksResponse {
        data: Some(part),
        meta: None,
    }];
    let mock = Mock::start(recorded).await;
    let source = mock.source().await;
    let plan = source.plan(&request(&source).await).await?;
    Ok(plan.len())
}

#[tokio::test]
async fn a_plan_of_rubbish_is_an_error() {
    let recorded = Recorded::of("0.41.0");
    let good = recorded
        .plan
        .iter()
        .filter_map(|answer| answer.data.clone());
    let good = good.max_by_key(|part| part.uncompressed_size).unwrap();
    assert!(changed_plan(good.clone()).await.unwrap() > 0);
    let payload = good.payload.clone().unwrap();
    for payload in [&b"rubbish"[..], &[], &payload[..payload.len() / 2]] {
        let part = DataframePart {
            payload: Some(payload.to_vec().into()),
            ..good.clone()
        };
        let error = changed_plan(part).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
    }
}

#[tokio::test]
async fn answers_without_their_content_are_errors() {
    let mut recorded = Recorded::of("0.41.0");
    recorded.schema.schema = None;
    recorded.plan.push(FindChunksResponse::default());
    let mock = Mock::start(recorded).await;
    let source = mock.source().await;
    let error = source.schema(DATASET).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
}
