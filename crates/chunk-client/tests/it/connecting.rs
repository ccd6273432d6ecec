//! Connections that can, and cannot, be made.

use std::time::Duration;

use segue_chunk::ChunkSource;
use segue_chunk_client::{RemoteSource, RetryPolicy};
use segue_error::ErrorCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tonic::Status;

use crate::support::{DATASET, Mock, Recorded, fetch, request};

fn patient(retries: usize) -> RetryPolicy {
    let mut policy = RetryPolicy::default();
    policy.retries = retries;
    policy.first_pause = Duration::from_millis(1);
    policy
}

#[tokio::test]
async fn connecting_is_tried_again_where_that_can_help() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    for _ in 0..2 {
        mock.refuse("WhoAmI", Status::unavailable("starting"));
    }
    mock.builder()
        .connect_retries(patient(2))
        .connect()
        .await
        .unwrap();
    assert_eq!(mock.count("WhoAmI"), 3);

    for _ in 0..3 {
        mock.refuse("WhoAmI", Status::unavailable("starting"));
    }
    let error = mock
        .builder()
        .connect_retries(patient(2))
        .connect()
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::TransportUnavailable);
    assert_eq!(mock.count("WhoAmI"), 6);

    mock.refuse("WhoAmI", Status::unauthenticated("no"));
    let error = mock
        .builder()
        .connect_retries(patient(2))
        .connect()
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unauthenticated);
    assert_eq!(mock.count("WhoAmI"), 7);
}

#[tokio::test]
async fn a_server_that_is_too_old_for_the_question_plans_in_the_old_form() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    mock.refuse("WhoAmI", Status::unimplemented(""));
    let source = mock.source().await;
    source.plan(&request(&source).await).await.unwrap();
    assert_eq!(mock.count("QueryDataset"), 1);
}

#[tokio::test]
async fn a_server_that_cannot_say_its_version_either_is_no_catalog() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    mock.refuse("WhoAmI", Status::unimplemented(""));
    mock.refuse("Version", Status::unimplemented(""));
    let error = mock.builder().connect().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
    assert!(error.message().contains("no catalog server"), "{error}");
}

#[tokio::test]
async fn nobody_listens() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("rerun+http://{}", free.local_addr().unwrap());
    drop(free);
    let error = RemoteSource::builder(&url)
        .connect_retries(patient(1))
        .connect()
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::TransportUnavailable);
    assert!(
        error.message().contains(&url) && error.message().contains("refused"),
        "{error}"
    );
}

#[tokio::test]
async fn a_name_that_nobody_has() {
    let url = "rerun+http://segue.invalid:1";
    let error = RemoteSource::builder(url)
        .connect_retries(RetryPolicy::NEVER)
        .connect()
        .await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TransportUnavailable);
    assert!(error.message().contains(url), "{error}");
}

/// The error of connecting to what answers every connection with `answer`, and then ends it.
async fn answered(answer: &'static [u8]) -> segue_error::Error {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("rerun+http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // Who goes away early gets no answer.
            let _ = stream.read(&mut [0; 16]).await;
            let _ = stream.write_all(answer).await;
        }
    });
    let builder = RemoteSource::builder(&url).connect_retries(RetryPolicy::NEVER);
    let error = builder.connect().await.unwrap_err();
    assert!(error.message().contains(&url), "{error}");
    assert!(!error.message().contains('\n'), "{error}");
    error
}

#[tokio::test]
async fn what_answers_is_no_catalog() {
    for answer in [
        &b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"[..],
        b"220 mail.example.com ESMTP ready\r\n",
        &[0xa5; 4096],
        // A TLS alert.
        b"\x15\x03\x01\x00\x02\x02\x46\x15\x03\x01\x00\x02\x02\x46",
    ] {
        let error = answered(answer).await;
        assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
        assert!(error.message().contains("no catalog server"), "{error}");
    }
}

#[tokio::test]
async fn who_ends_the_connection_may_want_tls() {
    let error = answered(b"").await;
    assert_eq!(error.code(), ErrorCode::TransportUnavailable, "{error}");
    let words = "the connection broke; with TLS it would be rerun+https://127.0.0.1:";
    assert!(error.message().contains(words), "{error}");
}

#[tokio::test]
async fn a_server_that_goes_away_breaks_what_is_under_way_and_what_comes_next() {
    let mut mock = Mock::gated(Recorded::of("0.41.0")).await;
    let source = mock.source().await;
    let plan = source.plan(&request(&source).await).await.unwrap();
    mock.state.gate.add_permits(1);
    let mut chunks = source.fetch(DATASET, plan.clone());
    use futures::StreamExt as _;
    chunks.next().await.unwrap().unwrap();
    mock.kill();
    let error = loop {
        match chunks.next().await.unwrap() {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), ErrorCode::TransportUnavailable, "{error}");
    assert!(error.message().contains(&mock.url()), "{error}");
    assert!(
        chunks.next().await.is_none(),
        "the stream ends after the first error"
    );
    drop(chunks);
    let error = fetch(&source, plan).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TransportUnavailable, "{error}");
}
