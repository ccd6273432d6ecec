//! What answers, but not as a catalog server does.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use http::Response;
use segue_chunk::ChunkSource as _;
use segue_chunk_client::{RemoteSource, RetryPolicy};
use segue_error::{Error, ErrorCode};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::support::http2::{begin, fine, serve};

type Answer = fn(SendResponse<Bytes>);

/// A server that answers every request in one way.
async fn http2(answer: Answer) -> (String, JoinSet<()>) {
    serve(Arc::new(move |_: &str, respond| answer(respond))).await
}

async fn refused(url: &str) -> Error {
    let builder = RemoteSource::builder(url).connect_retries(RetryPolicy::NEVER);
    let error = builder.connect().await.unwrap_err();
    assert!(error.message().contains(url), "{error}");
    error
}

/// The frame of an empty message.
const EMPTY: &[u8] = &[0, 0, 0, 0, 0];

#[tokio::test]
async fn a_web_server_is_no_catalog() {
    fn page(mut respond: SendResponse<Bytes>, status: u16) {
        let response = Response::builder().status(status);
        let response = response.header("content-type", "text/html");
        let sent = respond.send_response(response.body(()).unwrap(), false);
        sent.unwrap()
            .send_data(Bytes::from_static(b"<html>"), true)
            .unwrap();
    }
    let cases: [(Answer, ErrorCode, &str); 3] = [
        (
            |respond| page(respond, 404),
            ErrorCode::InvalidResponse,
            "no catalog server (HTTP status 404)",
        ),
        (
            |respond| page(respond, 200),
            ErrorCode::InvalidResponse,
            "no catalog server",
        ),
        (
            |respond| page(respond, 503),
            ErrorCode::TransportUnavailable,
            "HTTP status 503",
        ),
    ];
    for (answer, code, words) in cases {
        let (url, _tasks) = http2(answer).await;
        let error = refused(&url).await;
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(words), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_message_does_not_follow_the_protocol() {
    let cases: [Answer; 3] = [
        // A field of an unknown wire type.
        |respond| {
            let mut stream = begin(respond, &[0, 0, 0, 0, 1, 0xff]);
            stream.send_trailers(fine()).unwrap();
        },
        // A message that is compressed in no known way.
        |respond| {
            let mut stream = begin(respond, &[9, 0, 0, 0, 0]);
            stream.send_trailers(fine()).unwrap();
        },
        // A message of four gigabytes.
        |respond| {
            let mut stream = begin(respond, &[0, 0xff, 0xff, 0xff, 0xff]);
            stream.send_trailers(fine()).unwrap();
        },
    ];
    for answer in cases {
        let (url, _tasks) = http2(answer).await;
        let error = refused(&url).await;
        assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
        let words = "does not follow the protocol";
        assert!(error.message().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_status_whose_details_are_rubbish_is_a_status() {
    let cases: [Answer; 2] = [
        |mut respond| {
            let response = Response::builder().header("grpc-status", "13");
            let response = response.header("grpc-status-details-bin", "!!!");
            respond
                .send_response(response.body(()).unwrap(), true)
                .unwrap();
        },
        |respond| {
            let mut trailers = fine();
            trailers.insert("grpc-status", "13".parse().unwrap());
            trailers.insert("grpc-status-details-bin", "!!!".parse().unwrap());
            begin(respond, &[]).send_trailers(trailers).unwrap();
        },
    ];
    for answer in cases {
        let (url, _tasks) = http2(answer).await;
        let error = refused(&url).await;
        assert_eq!(error.code(), ErrorCode::ServerError, "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_short_is_a_broken_connection() {
    let cases: [Answer; 4] = [
        |respond| {
            let mut stream = begin(respond, EMPTY);
            stream.send_data(Bytes::new(), true).unwrap();
        },
        |respond| {
            let mut stream = begin(respond, &[0, 0, 0, 0, 9, 1]);
            stream.send_data(Bytes::new(), true).unwrap();
        },
        |respond| {
            let mut stream = begin(respond, &[0, 0, 0, 0, 9, 1]);
            stream.send_reset(h2::Reason::INTERNAL_ERROR);
        },
        |respond| {
            let mut stream = begin(respond, &[0, 0, 0, 0, 9, 1]);
            stream.send_reset(h2::Reason::PROTOCOL_ERROR);
        },
    ];
    for answer in cases {
        let (url, _tasks) = http2(answer).await;
        let error = refused(&url).await;
        assert_eq!(error.code(), ErrorCode::TransportUnavailable, "{error}");
    }
}

#[tokio::test]
async fn who_does_not_answer_is_not_waited_for_any_longer() {
    // Takes connections, and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    for (scheme, words) in [
        ("rerun+http", "did not answer in time (0.02 s)"),
        ("rerun+https", "time"),
    ] {
        let url = format!("{scheme}://{address}");
        let builder = RemoteSource::builder(&url)
            .connect_timeout(Duration::from_millis(20))
            .connect_retries(RetryPolicy::NEVER);
        let error = builder.connect().await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::TransportUnavailable, "{error}");
        let message = error.message();
        assert!(message.contains(&url) && message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn who_does_not_answer_a_question_is_given_up() {
    let (url, _tasks) = serve(Arc::new(|path: &str, respond| {
        let mut stream = match path.ends_with("/WhoAmI") {
            true => begin(respond, EMPTY),
            // Begins, and never ends.
            false => return held(begin(respond, &[])),
        };
        stream.send_trailers(fine()).unwrap();
    }))
    .await;
    let builder = RemoteSource::builder(&url).metadata_timeout(Duration::from_millis(20));
    let error = builder.connect().await.unwrap().datasets().await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TransportUnavailable, "{error}");
    let words = "did not answer in time (0.02 s)";
    assert!(error.message().contains(words), "{error}");
}

/// Keeps an answer open for as long as the process lives.
fn held(stream: h2::SendStream<Bytes>) {
    std::mem::forget(stream);
}

#[tokio::test]
async fn a_timeout_may_be_as_long_as_one_likes() {
    let (url, _tasks) = http2(|respond| {
        let mut stream = begin(respond, EMPTY);
        stream.send_trailers(fine()).unwrap();
    })
    .await;
    let builder = RemoteSource::builder(&url)
        .connect_timeout(Duration::MAX)
        .metadata_timeout(Duration::MAX)
        .fetch_timeout(Duration::MAX);
    assert_eq!(
        builder.connect().await.unwrap().datasets().await.unwrap(),
        [""; 0]
    );
}
