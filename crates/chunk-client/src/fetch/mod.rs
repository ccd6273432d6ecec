//! From chunk infos to chunks.

mod expected;
mod request;
mod runs;

use std::collections::VecDeque;
use std::fmt::Debug;

use futures::stream::{StreamExt as _, try_unfold};
use segue_chunk::{ChunkInfo, ChunkStream, EncodedChunk};
use segue_error::{Error, ErrorCode, Result};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use tonic::Code;

use crate::connection::{Connection, TraceContext};
use crate::error::Failure;
use expected::Expected;
use runs::runs;

/// Requests of one fetch that are under way at once.
const IN_FLIGHT: usize = 4;

/// A way to get chunks that a server has planned.
///
/// The contract is that of [`ChunkSource::fetch`](segue_chunk::ChunkSource::fetch): each chunk comes once, in
/// any order; nothing starts before the first poll; dropping the stream stops the work; the stream ends
/// after the first error. [`layer_fetch`](crate::RemoteSourceBuilder::layer_fetch) puts one around another.
pub trait Fetch: Debug + Send + Sync + 'static {
    /// Fetches `chunks`.
    fn fetch(&self, chunks: Vec<ChunkInfo>) -> ChunkStream;
}

/// Fetches by `FetchChunks`.
#[derive(Debug)]
pub(crate) struct GrpcFetch {
    connection: Connection,
}

impl GrpcFetch {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }
}

impl Fetch for GrpcFetch {
    /// Consecutive chunks are asked for together, several requests at a time.
    ///
    /// Every response that has begun is read to its end by a task, into a queue without a bound: what comes
    /// is bounded by what was asked for, for which the caller has room. A response that waited for its
    /// reader would fill the window of the connection, and hold up all others.
    fn fetch(&self, chunks: Vec<ChunkInfo>) -> ChunkStream {
        let connection = self.connection.clone();
        let start = move || State {
            connection,
            // That of whoever polls first.
            trace: TraceContext::current(),
            waiting: runs(chunks).into(),
            running: VecDeque::new(),
        };
        enum Step<S> {
            Start(S),
            Running(State),
        }
        try_unfold(Step::Start(start), |step| async move {
            let state = match step {
                Step::Start(start) => start(),
                Step::Running(state) => state,
            };
            let next = state.next().await?;
            Ok(next.map(|(chunk, state)| (chunk, Step::Running(state))))
        })
        .boxed()
    }
}

/// A fetch under way. Dropping it stops its tasks.
struct State {
    connection: Connection,
    trace: TraceContext,
    /// Chunks of requests that are not made yet.
    waiting: VecDeque<Vec<ChunkInfo>>,
    running: VecDeque<Running>,
}

/// A request under way.
struct Running {
    chunks: mpsc::UnboundedReceiver<EncodedChunk>,
    task: AbortOnDropHandle<Result<()>>,
}

impl State {
    async fn next(mut self) -> Result<Option<(EncodedChunk, Self)>> {
        loop {
            self.fill()?;
            let Some(first) = self.running.front_mut() else {
                return Ok(None);
            };
            if let Some(chunk) = first.chunks.recv().await {
                return Ok(Some((chunk, self)));
            }
            // All that came was taken: the task has ended, or is about to.
            if let Some(done) = self.running.pop_front() {
                done.task.await.unwrap_or_else(|error| {
                    let message = format!("fetching chunks ended early: {error}");
                    Err(Error::new(ErrorCode::Internal, "client.fetch", message).with_source(error))
                })?;
            }
        }
    }

    /// Makes requests until enough are under way. `invalid_argument` outside a Tokio runtime.
    fn fill(&mut self) -> Result<()> {
        while self.running.len() < IN_FLIGHT {
            let Some(run) = self.waiting.pop_front() else {
                return Ok(());
            };
            let runtime = Handle::try_current().map_err(|error| {
                let message = "chunks can be fetched only within a Tokio runtime";
                Error::new(ErrorCode::InvalidArgument, "client.fetch", message).with_source(error)
            })?;
            let (sender, chunks) = mpsc::unbounded_channel();
            let (connection, trace) = (self.connection.clone(), self.trace.clone());
            let task = runtime.spawn(async move { drain(&connection, trace, run, &sender).await });
            let task = AbortOnDropHandle::new(task);
            self.running.push_back(Running { chunks, task });
        }
        Ok(())
    }
}

/// Asks for the chunks of `run`, and hands all that come to `sender`. An error unless each came once.
async fn drain(
    connection: &Connection,
    trace: TraceContext,
    run: Vec<ChunkInfo>,
    sender: &mpsc::UnboundedSender<EncodedChunk>,
) -> Result<()> {
    let message = request::message(&run)?;
    let mut expected = Expected::new(run);
    let call = connection.fetch_call("fetch chunks", expected.largest_message());
    let answers = call
        .trace(trace)
        .stream(message, async |mut client, request| {
            client.fetch_chunks(request).await
        })
        .await;
    let mut answers = answers.map_err(changed)?;
    while let Some(answer) = answers.next().await.map_err(changed)? {
        for chunk in answer.chunks {
            let chunk = EncodedChunk::from_wire(chunk);
            let chunk = chunk.and_then(|chunk| expected.take(chunk));
            let chunk = chunk.map_err(|error| answers.rejected(error))?;
            if sender.send(chunk).is_err() {
                return Ok(());
            }
        }
    }
    let outcome = expected.finish();
    Ok(outcome.map_err(|error| answers.rejected(error))?)
}

/// A chunk that was planned and is not found any more has changed.
fn changed(failure: Failure) -> Error {
    if failure.is(Code::NotFound) || failure.is(Code::FailedPrecondition) {
        failure.into_code(ErrorCode::SourceChanged)
    } else {
        failure.into()
    }
}
