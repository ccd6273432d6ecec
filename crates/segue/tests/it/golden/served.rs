//! Folders, read through a catalog server in the same process.

use std::future::pending;
use std::sync::Arc;

use segue::chunk::{ChunkSource, LocalSource};
use segue::client::RemoteSource;
use segue::server::ChunkServer;
use tokio::task::JoinSet;

/// How the client plans.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    QueryDataset,
    FindChunks,
}

pub(crate) const FORMS: [Form; 2] = [Form::QueryDataset, Form::FindChunks];

/// A client, and the server that it reads from.
pub(crate) struct Served {
    pub(crate) source: Arc<dyn ChunkSource>,
    /// Serves until it is dropped.
    _serving: JoinSet<segue::Result<()>>,
}

impl Served {
    pub(crate) async fn start(folders: LocalSource, form: Form) -> Self {
        let server = ChunkServer::builder(folders);
        let server = server.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let url = format!("rerun+http://{}", server.local_addr());
        let mut serving = JoinSet::new();
        serving.spawn(server.serve(pending()));
        let mut client = RemoteSource::builder(&url);
        if matches!(form, Form::QueryDataset) {
            client = client.plan_by_query_dataset();
        }
        Self {
            source: Arc::new(client.connect().await.unwrap()),
            _serving: serving,
        }
    }
}
