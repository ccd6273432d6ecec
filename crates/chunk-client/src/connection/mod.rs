//! Calls to one server: headers, deadlines, limits, errors.

mod limits;
mod observed;
mod trace;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use segue_error::{Error, Result};
use segue_proto::cloud::rerun_cloud_service_client::RerunCloudServiceClient;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};

use crate::address::Address;
use crate::error::Failure;
pub(crate) use limits::limit;
use observed::{Observed, Observer};
pub(crate) use trace::TraceContext;

/// The generated client.
pub(crate) type Client = RerunCloudServiceClient<Observed>;

/// Response header with the id of the server's trace.
const TRACE_ID: &str = "x-request-trace-id";

/// Largest message of a catalog or a plan.
const MAX_METADATA_MESSAGE: usize = 256 * 1024 * 1024;

/// How long calls may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    /// Of a call about metadata, to its end.
    pub(crate) metadata: Duration,
    /// Of a call that fetches chunks, to its end.
    pub(crate) fetch: Duration,
}

/// A connection to a server. Clones share it.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Inner>);

struct Inner {
    address: Address,
    channel: Channel,
    /// Sent with every call; secrets are marked as such.
    headers: MetadataMap,
    deadlines: Deadlines,
    permits: Arc<Semaphore>,
}

impl Connection {
    pub(crate) fn new(
        address: Address,
        channel: Channel,
        headers: MetadataMap,
        deadlines: Deadlines,
        permits: Arc<Semaphore>,
    ) -> Self {
        Self(Arc::new(Inner {
            address,
            channel,
            headers,
            deadlines,
            permits,
        }))
    }

    /// The server.
    pub(crate) fn address(&self) -> &Address {
        &self.0.address
    }

    /// Starts to describe a call. `doing` completes "cannot …" in errors.
    pub(crate) fn call<'a>(&'a self, doing: &'a str) -> Call<'a> {
        Call {
            connection: self,
            doing,
            headers: Vec::new(),
            trace: None,
            limit: MAX_METADATA_MESSAGE,
            deadline: self.0.deadlines.metadata,
        }
    }

    /// A description of a call that fetches chunks, whose messages have at most `limit` bytes.
    pub(crate) fn fetch_call<'a>(&'a self, doing: &'a str, limit: usize) -> Call<'a> {
        Call {
            limit,
            deadline: self.0.deadlines.fetch,
            ..self.call(doing)
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.0.address.to_string();
        f.debug_tuple("Connection").field(&address).finish()
    }
}

/// One call, before it is made.
pub(crate) struct Call<'a> {
    connection: &'a Connection,
    doing: &'a str,
    headers: Vec<(&'static str, AsciiMetadataValue)>,
    trace: Option<TraceContext>,
    limit: usize,
    deadline: Duration,
}

impl<'a> Call<'a> {
    /// Sends `value` as the header `name`, too.
    pub(crate) fn header(mut self, name: &'static str, value: AsciiMetadataValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// May not take longer than `most`, even if other calls like it may.
    pub(crate) fn within(mut self, most: Duration) -> Self {
        self.deadline = self.deadline.min(most);
        self
    }

    /// Belongs to the trace `trace`, instead of the one of the current span.
    pub(crate) fn trace(mut self, trace: TraceContext) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Makes a call with one answer, of which `read` makes sense.
    pub(crate) async fn unary<Q, A, F, T>(
        self,
        message: Q,
        make: impl FnOnce(Client, Request<Q>) -> F,
        read: impl FnOnce(A) -> Result<T>,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let begun = self.begin(message, make).await?;
        let answer = begun.response.into_inner();
        read(answer).map_err(|error| begun.context.rejected(error))
    }

    /// Makes a call with a stream of answers.
    pub(crate) async fn stream<Q, A, F>(
        self,
        message: Q,
        make: impl FnOnce(Client, Request<Q>) -> F,
    ) -> Result<Answers<'a, A>, Failure>
    where
        F: Future<Output = Result<Response<Streaming<A>>, Status>>,
    {
        let begun = self.begin(message, make).await?;
        Ok(Answers {
            stream: begun.response.into_inner(),
            context: begun.context,
            until: begun.until,
            _permit: begun.permit,
        })
    }

    async fn begin<Q, A, F>(
        self,
        message: Q,
        make: impl FnOnce(Client, Request<Q>) -> F,
    ) -> Result<Begun<'a, A>, Failure>
    where
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let inner = &*self.connection.0;
        let mut request = Request::new(message);
        *request.metadata_mut() = inner.headers.clone();
        for (name, value) in self.headers {
            let name = AsciiMetadataKey::from_static(name);
            request.metadata_mut().insert(name, value);
        }
        let trace = self.trace.unwrap_or_else(TraceContext::current);
        trace.write(request.metadata_mut());
        request.set_timeout(self.deadline);
        let mut context = Context {
            address: &inner.address,
            doing: self.doing,
            deadline: self.deadline,
            observer: Observer::default(),
            trace_id: None,
        };
        let permit = Arc::clone(&inner.permits).acquire_owned().await;
        // Waiting for others does not count.
        let until = Instant::now() + self.deadline;
        let channel = Observed::new(inner.channel.clone(), context.observer.clone());
        let client = Client::new(channel).max_decoding_message_size(self.limit);
        let response = match timeout_at(until, make(client, request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(status)) => return Err(context.failed(status)),
            Err(_) => return Err(context.too_late()),
        };
        context.trace_id = trace_id(response.metadata());
        Ok(Begun {
            response,
            context,
            until,
            // The semaphore is never closed.
            permit: permit.ok(),
        })
    }
}

struct Begun<'a, A> {
    response: Response<A>,
    context: Context<'a>,
    until: Instant,
    permit: Option<OwnedSemaphorePermit>,
}

/// The answers to a call that has begun. Holds the place of the call among those of the server.
pub(crate) struct Answers<'a, A> {
    stream: Streaming<A>,
    context: Context<'a>,
    until: Instant,
    _permit: Option<OwnedSemaphorePermit>,
}

impl<A> Answers<'_, A> {
    /// The next answer; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<A>, Failure> {
        match timeout_at(self.until, self.stream.message()).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(status)) => Err(self.context.failed(status)),
            Err(_) => Err(self.context.too_late()),
        }
    }

    /// The failure of a call whose answers make no sense, for the reason `error`.
    pub(crate) fn rejected(&self, error: Error) -> Failure {
        self.context.rejected(error)
    }
}

/// What an error of a call says beside what happened.
struct Context<'a> {
    address: &'a Address,
    doing: &'a str,
    deadline: Duration,
    observer: Observer,
    trace_id: Option<String>,
}

impl Context<'_> {
    fn failed(&self, status: Status) -> Failure {
        // The transport keeps the same deadline: either may be first to see it pass.
        if Failure::is_late(&status) {
            return self.too_late();
        }
        let trace_id = trace_id(status.metadata()).or_else(|| self.trace_id.clone());
        let status = (status, self.observer.ending());
        Failure::of_status(self.address, self.doing, status, trace_id)
    }

    fn rejected(&self, error: Error) -> Failure {
        Failure::of_answer(self.address, self.doing, error, self.trace_id.clone())
    }

    fn too_late(&self) -> Failure {
        let trace_id = self.trace_id.clone();
        Failure::of_deadline(self.address, self.doing, self.deadline, trace_id)
    }
}

fn trace_id(metadata: &MetadataMap) -> Option<String> {
    let id = metadata.get(TRACE_ID)?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}
