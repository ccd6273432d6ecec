//! A catalog server as a chunk source.

use std::sync::Arc;

use arrow::array::RecordBatch;
use async_trait::async_trait;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use segue_chunk::wire::decode_schema;
use segue_chunk::{ChunkInfo, ChunkSource, ChunkStream, DatasetSchema, PlanRequest, TextSet};
use segue_error::{Error, ErrorCode, Result};
use segue_proto::cloud::{GetDatasetSchemaRequest, GetDatasetSchemaResponse};

use crate::address::Address;
use crate::builder::RemoteSourceBuilder;
use crate::catalog::Catalog;
use crate::connection::{Client, Connection};
use crate::fetch::Fetch;
use crate::plan::{self, Form};
use crate::segments;

/// The datasets of a catalog server.
///
/// Nothing is cached but the ids of datasets; each call asks the server. Every error names the server. Methods
/// must be called within a Tokio runtime.
#[derive(Debug)]
pub struct RemoteSource {
    address: Address,
    connection: Connection,
    catalog: Arc<Catalog>,
    form: Form,
    fetch: Arc<dyn Fetch>,
}

impl RemoteSource {
    /// Starts to describe a connection to the server at `address`; see [`Address`] for how to write it.
    pub fn builder(address: &str) -> RemoteSourceBuilder {
        RemoteSourceBuilder::new(address)
    }

    pub(crate) fn new(
        address: Address,
        connection: Connection,
        form: Form,
        fetch: Arc<dyn Fetch>,
    ) -> Self {
        Self {
            address,
            catalog: Arc::new(Catalog::new(connection.clone())),
            connection,
            form,
            fetch,
        }
    }

    /// Where the server listens.
    pub fn address(&self) -> &Address {
        &self.address
    }
}

#[async_trait]
impl ChunkSource for RemoteSource {
    async fn datasets(&self) -> Result<Vec<String>> {
        self.catalog.datasets().await
    }

    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        let connection = &self.connection;
        let read = |entry: Arc<crate::catalog::Entry>| async move {
            let call = entry.scope(connection.call("read the columns of a dataset"));
            let ask = async |mut client: Client, request| client.get_dataset_schema(request).await;
            let read = |answer: GetDatasetSchemaResponse| {
                entry.saw(answer.meta);
                let schema = answer.schema.ok_or_else(|| {
                    let message = "the server's answer does not follow the protocol: no schema";
                    Error::new(ErrorCode::InvalidResponse, "client.schema", message)
                })?;
                DatasetSchema::from_arrow(&decode_schema(&schema)?)
            };
            call.unary(GetDatasetSchemaRequest {}, ask, read).await
        };
        let schema = self.catalog.read(dataset, read).await?;
        Ok(Arc::new(schema))
    }

    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
        let connection = &self.connection;
        let read = |entry| segments::scan(connection, entry, segments);
        self.catalog.read(dataset, read).await
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
        let (connection, form) = (&self.connection, self.form);
        let read = |entry| plan::plan(connection, form, entry, request);
        self.catalog.read(&request.dataset, read).await
    }

    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
        let (catalog, fetch) = (Arc::clone(&self.catalog), Arc::clone(&self.fetch));
        let dataset = dataset.to_owned();
        stream::once(async move {
            // A chunk key says all there is to say; who has one knows the dataset, and it costs no request.
            catalog.check(&dataset).await?;
            Ok::<_, Error>(fetch.fetch(chunks))
        })
        .try_flatten()
        .boxed()
    }
}
