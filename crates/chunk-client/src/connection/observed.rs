//! A channel that remembers how answers end, and lets none pass that is not of gRPC.
//!
//! A status alone does not tell whether the server sent it, or the client made it of an answer that it could
//! not read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, StdError};
use tonic::transport::Channel;

use crate::error::{Ending, NotGrpc};

/// Header or trailer in which a server says how a call ended.
const STATUS: &str = "grpc-status";
/// Header or trailer with more on that, which tonic panics at where it is rubbish, and nobody here reads.
const DETAILS: &str = "grpc-status-details-bin";

/// How the answer to one call has ended. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Observer(Arc<AtomicU8>);

impl Observer {
    /// What has been seen so far.
    pub(super) fn ending(&self) -> Ending {
        match self.0.load(Ordering::Relaxed) {
            BEGUN | WELL => Ending::NoError,
            FAILED => Ending::Failed,
            CUT => Ending::Cut,
            _ => Ending::NotBegun,
        }
    }

    fn saw(&self, state: u8) {
        self.0.store(state, Ordering::Relaxed);
    }

    /// Takes note of the status, if it is among `headers`. Whether it is.
    fn saw_status(&self, headers: &HeaderMap) -> bool {
        let status = headers.get(STATUS);
        if let Some(status) = status {
            let well = status.as_bytes() == b"0";
            self.saw(if well { WELL } else { FAILED });
        }
        status.is_some()
    }

    /// Takes note of the end of the body.
    fn saw_end(&self) {
        // Not where a status came before.
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.0.compare_exchange(BEGUN, CUT, success, failure);
    }
}

/// The answer has begun.
const BEGUN: u8 = 1;
/// It ended well, as the server says.
const WELL: u8 = 2;
/// The server says that the call failed.
const FAILED: u8 = 3;
/// It ended without a status.
const CUT: u8 = 4;

/// A channel for one call.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    channel: Channel,
    observer: Observer,
}

impl Observed {
    pub(super) fn new(channel: Channel, observer: Observer) -> Self {
        Self { channel, observer }
    }
}

impl Service<Request<Body>> for Observed {
    type Response = Response<ObservedBody>;
    type Error = StdError;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        self.channel.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let observer = self.observer.clone();
        let response = self.channel.call(request);
        Box::pin(async move {
            let mut response = response.await?;
            response.headers_mut().remove(DETAILS);
            let headers = response.headers();
            if !observer.saw_status(headers) {
                if !is_grpc(headers) {
                    let status = response.status().as_u16();
                    return Err(NotGrpc { status }.into());
                }
                observer.saw(BEGUN);
            }
            Ok(response.map(|body| ObservedBody { body, observer }))
        })
    }
}

fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct ObservedBody {
    body: Body,
    observer: Observer,
}

impl HttpBody for ObservedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &mut frame {
            Some(Ok(frame)) => {
                if let Some(trailers) = frame.trailers_mut() {
                    trailers.remove(DETAILS);
                    self.observer.saw_status(trailers);
                }
            }
            Some(Err(_)) => {}
            None => self.observer.saw_end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
