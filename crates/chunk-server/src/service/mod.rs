//! The methods of the catalog service.

mod fetch;
mod tables;

use std::path::PathBuf;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use segue_chunk::LocalSource;
use segue_chunk::local::DatasetContents;
use segue_chunk::wire::encode_table;
use segue_error::Error;
use segue_proto::cloud::rerun_cloud_service_server::RerunCloudService;
use segue_proto::cloud::*;
use segue_proto::common::{BuildInfo, DataframePart, SemanticVersion};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status, async_trait};

use crate::entry::{Entries, Entry};
use crate::http::VERSION;
use crate::infos::{Starts, tables};
use crate::plan::{ChunkQuery, plan};
use crate::{request, status};

pub(crate) use fetch::Reads;

/// What the server can do beyond the first version of the protocol, as version 0.36 tells it.
const FEATURES: [&str; 1] = ["per_segment_index_values"];
/// The same, as version 0.41 tells it.
const CAPABILITIES: [&str; 1] = ["dataset:find_chunks"];

/// The service over a folder.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) source: LocalSource,
    pub(crate) entries: Entries,
    pub(crate) reads: Reads,
}

type Answer<T> = Result<Response<T>, Status>;
type Stream<T> = BoxStream<'static, Result<T, Status>>;

impl Service {
    /// The status for an error about a dataset.
    fn status(&self, entry: &Entry, error: &Error) -> Status {
        let files: &[PathBuf] = self.source.files(&entry.name).unwrap_or_default();
        status::of(error, files)
    }

    /// The dataset that a request names, and what it holds.
    async fn contents(
        &self,
        headers: &MetadataMap,
    ) -> Result<(&Entry, Arc<DatasetContents>), Status> {
        let entry = self.entries.of_request(headers)?;
        let contents = self.source.contents(&entry.name).await;
        Ok((entry, contents.map_err(|error| self.status(entry, &error))?))
    }

    /// The tables that answer `query`.
    async fn answer(
        &self,
        headers: &MetadataMap,
        query: ChunkQuery,
        starts: Option<Starts>,
    ) -> Result<Stream<DataframePart>, Status> {
        let (entry, contents) = self.contents(headers).await?;
        let planned = {
            let contents = Arc::clone(&contents);
            // Planning reads all of an index, which may be large.
            let work = Handle::current().spawn_blocking(move || plan(&contents, &query));
            AbortOnDropHandle::new(work).await
        };
        let plans =
            planned.map_err(|error| Status::internal(format!("planning ended: {error}")))?;
        let plans = plans.map_err(|error| self.status(entry, &error))?;
        let starts = starts.unwrap_or_else(|| Starts::of(&contents, &plans));
        let tables = tables(contents, entry.id, plans, starts).map(|table| {
            let part = table.and_then(|table| encode_table(&table));
            part.map_err(|error| status::of(&error, &[]))
        });
        Ok(stream::iter(tables).boxed())
    }
}

#[async_trait]
impl RerunCloudService for Service {
    async fn version(&self, _: Request<VersionRequest>) -> Answer<VersionResponse> {
        let mut numbers = VERSION.split('.').map(|number| number.parse().ok());
        let mut number = || numbers.next().flatten();
        Ok(Response::new(VersionResponse {
            build_info: Some(BuildInfo {
                crate_name: Some(env!("CARGO_PKG_NAME").to_owned()),
                version: Some(SemanticVersion {
                    major: number(),
                    minor: number(),
                    patch: number(),
                }),
            }),
            version: VERSION.to_owned(),
            features: FEATURES.map(str::to_owned).to_vec(),
        }))
    }

    async fn who_am_i(&self, _: Request<WhoAmIRequest>) -> Answer<WhoAmIResponse> {
        Ok(Response::new(WhoAmIResponse {
            user_id: None,
            can_read: true,
            can_write: false,
            capabilities: Some(ServerCapabilities {
                capabilities: CAPABILITIES.map(str::to_owned).to_vec(),
            }),
        }))
    }

    async fn find_entries(
        &self,
        request: Request<FindEntriesRequest>,
    ) -> Answer<FindEntriesResponse> {
        let filter = request.into_inner().filter.unwrap_or_default();
        let entries = self.entries.find(&filter)?;
        Ok(Response::new(FindEntriesResponse { entries }))
    }

    async fn read_dataset_entry(
        &self,
        request: Request<ReadDatasetEntryRequest>,
    ) -> Answer<ReadDatasetEntryResponse> {
        let entry = self.entries.of_request(request.metadata())?;
        let dataset = Some(self.entries.dataset(entry));
        Ok(Response::new(ReadDatasetEntryResponse { dataset }))
    }

    async fn get_dataset_schema(
        &self,
        request: Request<GetDatasetSchemaRequest>,
    ) -> Answer<GetDatasetSchemaResponse> {
        let schema = Some(self.dataset_schema(request.metadata()).await?);
        Ok(Response::new(GetDatasetSchemaResponse {
            schema,
            meta: None,
        }))
    }

    async fn get_segment_table_schema(
        &self,
        request: Request<GetSegmentTableSchemaRequest>,
    ) -> Answer<GetSegmentTableSchemaResponse> {
        let schema = Some(self.segment_table_schema(request.metadata()).await?);
        Ok(Response::new(GetSegmentTableSchemaResponse {
            schema,
            meta: None,
        }))
    }

    type ScanSegmentTableStream = Stream<ScanSegmentTableResponse>;

    async fn scan_segment_table(
        &self,
        request: Request<ScanSegmentTableRequest>,
    ) -> Answer<Self::ScanSegmentTableStream> {
        let (headers, _, request) = request.into_parts();
        let data = Some(self.segment_table(&headers, request).await?);
        Ok(once(ScanSegmentTableResponse { data, meta: None }))
    }

    async fn get_dataset_manifest_schema(
        &self,
        request: Request<GetDatasetManifestSchemaRequest>,
    ) -> Answer<GetDatasetManifestSchemaResponse> {
        let schema = Some(self.layer_table_schema(request.metadata()).await?);
        Ok(Response::new(GetDatasetManifestSchemaResponse {
            schema,
            meta: None,
        }))
    }

    type ScanDatasetManifestStream = Stream<ScanDatasetManifestResponse>;

    async fn scan_dataset_manifest(
        &self,
        request: Request<ScanDatasetManifestRequest>,
    ) -> Answer<Self::ScanDatasetManifestStream> {
        let (headers, _, request) = request.into_parts();
        let data = Some(self.layer_table(&headers, request).await?);
        Ok(once(ScanDatasetManifestResponse { data, meta: None }))
    }

    type GetRrdManifestStream = Stream<GetRrdManifestResponse>;

    async fn get_rrd_manifest(
        &self,
        request: Request<GetRrdManifestRequest>,
    ) -> Answer<Self::GetRrdManifestStream> {
        let (headers, _, request) = request.into_parts();
        Ok(Response::new(self.manifests(&headers, request).await?))
    }

    type QueryDatasetStream = Stream<QueryDatasetResponse>;

    async fn query_dataset(
        &self,
        request: Request<QueryDatasetRequest>,
    ) -> Answer<Self::QueryDatasetStream> {
        let (headers, _, request) = request.into_parts();
        let query = request::query_dataset(request)?;
        let tables = self.answer(&headers, query, None).await?;
        let messages = tables.map(|part| {
            part.map(|data| QueryDatasetResponse {
                data: Some(data),
                meta: None,
            })
        });
        Ok(Response::new(messages.boxed()))
    }

    type FindChunksStream = Stream<FindChunksResponse>;

    async fn find_chunks(
        &self,
        request: Request<FindChunksRequest>,
    ) -> Answer<Self::FindChunksStream> {
        let (headers, _, request) = request.into_parts();
        let (query, timeline) = request::find_chunks(request)?;
        let starts = Some(Starts::Fixed(timeline));
        let tables = self.answer(&headers, query, starts).await?;
        let messages = tables.map(|part| {
            part.map(|data| FindChunksResponse {
                data: Some(data),
                meta: None,
            })
        });
        Ok(Response::new(messages.boxed()))
    }

    type FetchChunksStream = Stream<FetchChunksResponse>;

    async fn fetch_chunks(
        &self,
        request: Request<FetchChunksRequest>,
    ) -> Answer<Self::FetchChunksStream> {
        let chunks = self.fetch(request.into_inner())?;
        Ok(Response::new(chunks))
    }
}

/// A stream of the one message `message`.
fn once<T: Send + 'static>(message: T) -> Response<Stream<T>> {
    Response::new(stream::iter([Ok(message)]).boxed())
}
