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

/// How the answer to one call has ended. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Observer(Arc<AtomicU8>);

impl Observer {
    /// What has been seen so far.
    pub(super) fn ending(&self) -> Ending {
        match self.0.load(Ordering::Relaxed) {
            BEGUN => Ending::Unfinished,
            SAID => Ending::Said,
            CUT => Ending::Cut,
            _ => Ending::NotBegun,
        }
    }

    fn saw(&self, state: u8) {
        self.0.store(state, Ordering::Relaxed);
    }
}

const BEGUN: u8 = 1;
const SAID: u8 = 2;
const CUT: u8 = 3;

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
            let response = response.await?;
            let headers = response.headers();
            let said = headers.contains_key(STATUS);
            if !said && !is_grpc(headers) {
                let status = response.status().as_u16();
                return Err(NotGrpc { status }.into());
            }
            observer.saw(if said { SAID } else { BEGUN });
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
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                let trailers = frame.trailers_ref();
                if trailers.is_some_and(|trailers| trailers.contains_key(STATUS)) {
                    self.observer.saw(SAID);
                }
            }
            None if self.observer.ending() == Ending::Unfinished => self.observer.saw(CUT),
            None | Some(Err(_)) => {}
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
