//! A catalog server that answers as a real one once did, and fails as it is told to.

pub(crate) mod http2;
mod recorded;
mod service;

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use segue_chunk::{
    ChunkInfo, ChunkSource, EncodedChunk, EntitySelection, Fill, PlanRequest, TimeRange,
    TimeSelection,
};
use segue_chunk_client::{RemoteSource, RemoteSourceBuilder, RetryPolicy};
use segue_proto::cloud::rerun_cloud_service_server::RerunCloudServiceServer;
use segue_proto::log_msg::ArrowMsg;
use tokio::runtime::{self, Runtime};
use tokio::sync::{Semaphore, mpsc};
use tonic::Status;
use tonic::metadata::MetadataMap;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Server, ServerTlsConfig};

pub(crate) use recorded::{Recorded, VERSIONS, raw};

/// Name of the dataset that was recorded.
pub(crate) const DATASET: &str = "golden";

/// What the next call of a method does in place of answering as recorded.
pub(crate) enum Fault {
    /// Ends with this status at once.
    Status(Status),
    /// Sends these chunks in place of those that were asked for, and then the status, if there is one.
    Chunks(fn(Vec<ArrowMsg>) -> Vec<ArrowMsg>, Option<Status>),
}

/// What a test and its server share.
pub(crate) struct State {
    pub(crate) recorded: Recorded,
    faults: Mutex<VecDeque<(&'static str, Fault)>>,
    calls: Mutex<Vec<(&'static str, MetadataMap)>>,
    /// Chunks are sent as there are permits.
    pub(crate) gate: Arc<Semaphore>,
    /// Told when a response of chunks is dropped.
    pub(crate) dropped: mpsc::UnboundedSender<()>,
}

/// A running server, stopped when dropped.
pub(crate) struct Mock {
    pub(crate) address: SocketAddr,
    pub(crate) state: Arc<State>,
    pub(crate) dropped: mpsc::UnboundedReceiver<()>,
    /// The server's own, so that its end is the end of every connection.
    runtime: Option<Runtime>,
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Mock {
    pub(crate) async fn start(recorded: Recorded) -> Self {
        Self::start_with(recorded, Semaphore::MAX_PERMITS, None).await
    }

    /// A server that sends no chunk before `state.gate` gets permits.
    pub(crate) async fn gated(recorded: Recorded) -> Self {
        Self::start_with(recorded, 0, None).await
    }

    pub(crate) async fn start_with(
        recorded: Recorded,
        permits: usize,
        tls: Option<ServerTlsConfig>,
    ) -> Self {
        let (sender, dropped) = mpsc::unbounded_channel();
        let state = Arc::new(State {
            recorded,
            faults: Mutex::default(),
            calls: Mutex::default(),
            gate: Arc::new(Semaphore::new(permits)),
            dropped: sender,
        });
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let entered = runtime.enter();
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = incoming.local_addr().unwrap();
        let service = RerunCloudServiceServer::from_arc(Arc::clone(&state))
            .max_decoding_message_size(usize::MAX);
        let mut server = Server::builder();
        if let Some(tls) = tls {
            server = server.tls_config(tls).unwrap();
        }
        let serving = server.add_service(service).serve_with_incoming(incoming);
        runtime.spawn(serving);
        drop(entered);
        Self {
            address,
            state,
            dropped,
            runtime: Some(runtime),
        }
    }

    /// Breaks every connection.
    pub(crate) fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("rerun+http://{}", self.address)
    }

    pub(crate) fn builder(&self) -> RemoteSourceBuilder {
        RemoteSource::builder(&self.url()).connect_retries(RetryPolicy::NEVER)
    }

    pub(crate) async fn source(&self) -> RemoteSource {
        self.builder().connect().await.unwrap()
    }

    /// The next call of `method` fails in this way.
    pub(crate) fn fail(&self, method: &'static str, fault: Fault) {
        self.state.faults.lock().unwrap().push_back((method, fault));
    }

    /// The next call of `method` ends with `status`.
    pub(crate) fn refuse(&self, method: &'static str, status: Status) {
        self.fail(method, Fault::Status(status));
    }

    /// How often `method` was called.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.headers(method).len()
    }

    /// The headers of each call of `method`.
    pub(crate) fn headers(&self, method: &str) -> Vec<MetadataMap> {
        let calls = self.state.calls.lock().unwrap();
        let of_method = calls.iter().filter(|(name, _)| *name == method);
        of_method.map(|(_, headers)| headers.clone()).collect()
    }
}

impl State {
    /// Takes note of a call, and gives the fault that is planned for it.
    fn called(&self, method: &'static str, headers: &MetadataMap) -> Option<Fault> {
        self.calls.lock().unwrap().push((method, headers.clone()));
        let mut faults = self.faults.lock().unwrap();
        let at = faults.iter().position(|(name, _)| *name == method)?;
        faults.remove(at).map(|(_, fault)| fault)
    }
}

/// Asks for all entities of the dataset that `source` has, within what was recorded.
pub(crate) async fn request(source: &RemoteSource) -> PlanRequest {
    let schema = source.schema(DATASET).await.unwrap();
    let mut entities: Vec<EntitySelection> = Vec::new();
    for column in &schema.components {
        entities.push(EntitySelection {
            entity: column.entity.clone(),
            components: BTreeSet::from([Arc::clone(&column.component)]),
        });
    }
    PlanRequest {
        dataset: DATASET.into(),
        entities,
        segments: None,
        time: TimeSelection::Index {
            index: "frame_nr".into(),
            range: TimeRange::new(10, 20),
            fill: Fill::None,
        },
    }
}

/// All chunks of a plan, or the first error.
pub(crate) async fn fetch(
    source: &RemoteSource,
    chunks: Vec<ChunkInfo>,
) -> segue_error::Result<Vec<EncodedChunk>> {
    use futures::TryStreamExt as _;
    source.fetch(DATASET, chunks).try_collect().await
}
