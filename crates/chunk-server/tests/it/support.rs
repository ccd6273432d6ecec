//! What several of these tests need.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use futures::TryStreamExt as _;
use segue_chunk::{ChunkSource as _, LocalSource};
use segue_chunk_server::ChunkServer;
use segue_error::Result;
use segue_proto::cloud::rerun_cloud_service_client::RerunCloudServiceClient;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};

pub(crate) type Client = RerunCloudServiceClient<Channel>;

/// A server that runs until it is dropped or stopped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinSet<Result<()>>,
}

impl Running {
    pub(crate) async fn start(server: ChunkServer) -> Self {
        let server = server.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel();
        let mut task = JoinSet::new();
        task.spawn(server.serve(async {
            // Dropped or sent, it is over.
            stopped.await.ok();
        }));
        Self {
            address,
            stop,
            task,
        }
    }

    /// A server of the recordings in `folder`, as the dataset `d`.
    pub(crate) async fn of(folder: &Path) -> Self {
        Self::start(ChunkServer::builder(source(folder))).await
    }

    pub(crate) async fn client(&self) -> Client {
        let channel = Channel::from_shared(format!("http://{}", self.address));
        let channel = channel.unwrap().connect().await.unwrap();
        RerunCloudServiceClient::new(channel).max_decoding_message_size(usize::MAX)
    }

    /// Asks the server to stop; what is returned is done when it has.
    pub(crate) fn stop(self) -> JoinSet<Result<()>> {
        self.stop.send(()).unwrap();
        self.task
    }
}

/// The recordings in `folder` as the dataset `d`.
pub(crate) fn source(folder: &Path) -> LocalSource {
    LocalSource::builder().dataset("d", folder).build().unwrap()
}

/// The folder of the small example recordings.
pub(crate) fn robots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/recordings/robots")
}

/// A request about the dataset `name`.
pub(crate) fn about<T>(name: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let value = MetadataValue::from_bytes(name.as_bytes());
    let headers = request.metadata_mut();
    headers.insert_bin("x-rerun-entry-name-bin", value);
    request
}

/// All messages of an answer.
pub(crate) async fn all<T>(
    answer: std::result::Result<Response<Streaming<T>>, Status>,
) -> std::result::Result<Vec<T>, Status> {
    answer?.into_inner().try_collect().await
}

/// How many chunks there are in the dataset `d` of `folder`.
pub(crate) async fn chunk_count(folder: &Path) -> usize {
    let contents = source(folder).contents("d").await.unwrap();
    assert_eq!(source(folder).datasets().await.unwrap(), ["d"]);
    contents
        .layers()
        .iter()
        .map(|l| l.store().chunks.len())
        .sum()
}
