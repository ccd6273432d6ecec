//! The service itself.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;

use arrow::array::AsArray;
use futures::{Stream, StreamExt as _, stream};
use segue_chunk::ChunkId;
use segue_chunk::wire::decode_table;
use segue_proto::cloud::rerun_cloud_service_server::RerunCloudService;
use segue_proto::cloud::*;
use segue_proto::log_msg::ArrowMsg;
use tokio::sync::mpsc;
use tonic::{Request, Response, Status};

use super::{Fault, State};

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;
type Streamed<T> = Result<Response<Answers<T>>, Status>;

impl State {
    fn refused<T>(&self, method: &'static str, request: &Request<T>) -> Result<(), Status> {
        match self.called(method, request.metadata()) {
            Some(Fault::Status(status)) => Err(status),
            _ => Ok(()),
        }
    }

    /// The recorded chunks whose ids `request` names.
    fn asked(&self, request: &FetchChunksRequest) -> Vec<ArrowMsg> {
        let mut ids = HashSet::new();
        for part in &request.chunk_infos {
            let table = decode_table(part).unwrap();
            let column = table.column_by_name("chunk_id").unwrap();
            for id in column.as_fixed_size_binary().iter().flatten() {
                ids.insert(ChunkId::from_be_bytes(id.try_into().unwrap()));
            }
        }
        let all = self
            .recorded
            .fetched
            .iter()
            .flat_map(|answer| &answer.chunks);
        let id = |chunk: &ArrowMsg| {
            let id = chunk.chunk_id.unwrap();
            ChunkId::from_parts(id.time_ns(), id.inc())
        };
        all.filter(|chunk| ids.contains(&id(chunk)))
            .cloned()
            .collect()
    }
}

/// Says that it is dropped.
struct OnDrop(mpsc::UnboundedSender<()>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        // The test may be over.
        let _ = self.0.send(());
    }
}

fn answers<T: Send + 'static>(all: Vec<T>) -> Response<Answers<T>> {
    Response::new(stream::iter(all.into_iter().map(Ok)).boxed())
}

fn traced<T>(mut response: Response<T>) -> Response<T> {
    let id = "0123456789abcdef".parse().unwrap();
    response.metadata_mut().insert("x-request-trace-id", id);
    response
}

#[tonic::async_trait]
impl RerunCloudService for State {
    type ScanSegmentTableStream = Answers<ScanSegmentTableResponse>;
    type ScanDatasetManifestStream = Answers<ScanDatasetManifestResponse>;
    type GetRrdManifestStream = Answers<GetRrdManifestResponse>;
    type QueryDatasetStream = Answers<QueryDatasetResponse>;
    type FindChunksStream = Answers<FindChunksResponse>;
    type FetchChunksStream = Answers<FetchChunksResponse>;

    async fn version(
        &self,
        request: Request<VersionRequest>,
    ) -> Result<Response<VersionResponse>, Status> {
        self.refused("Version", &request)?;
        Ok(Response::new(VersionResponse::default()))
    }

    async fn who_am_i(
        &self,
        request: Request<WhoAmIRequest>,
    ) -> Result<Response<WhoAmIResponse>, Status> {
        self.refused("WhoAmI", &request)?;
        Ok(traced(Response::new(self.recorded.who_am_i.clone())))
    }

    async fn find_entries(
        &self,
        request: Request<FindEntriesRequest>,
    ) -> Result<Response<FindEntriesResponse>, Status> {
        self.refused("FindEntries", &request)?;
        Ok(traced(Response::new(self.recorded.entries.clone())))
    }

    async fn read_dataset_entry(
        &self,
        _: Request<ReadDatasetEntryRequest>,
    ) -> Result<Response<ReadDatasetEntryResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_dataset_schema(
        &self,
        request: Request<GetDatasetSchemaRequest>,
    ) -> Result<Response<GetDatasetSchemaResponse>, Status> {
        self.refused("GetDatasetSchema", &request)?;
        Ok(Response::new(self.recorded.schema.clone()))
    }

    async fn get_segment_table_schema(
        &self,
        _: Request<GetSegmentTableSchemaRequest>,
    ) -> Result<Response<GetSegmentTableSchemaResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn scan_segment_table(
        &self,
        request: Request<ScanSegmentTableRequest>,
    ) -> Streamed<ScanSegmentTableResponse> {
        self.refused("ScanSegmentTable", &request)?;
        Ok(answers(self.recorded.segments.clone()))
    }

    async fn get_dataset_manifest_schema(
        &self,
        _: Request<GetDatasetManifestSchemaRequest>,
    ) -> Result<Response<GetDatasetManifestSchemaResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn scan_dataset_manifest(
        &self,
        _: Request<ScanDatasetManifestRequest>,
    ) -> Streamed<ScanDatasetManifestResponse> {
        Err(Status::unimplemented(""))
    }

    async fn get_rrd_manifest(
        &self,
        _: Request<GetRrdManifestRequest>,
    ) -> Streamed<GetRrdManifestResponse> {
        Err(Status::unimplemented(""))
    }

    async fn query_dataset(
        &self,
        request: Request<QueryDatasetRequest>,
    ) -> Streamed<QueryDatasetResponse> {
        self.refused("QueryDataset", &request)?;
        let plan = self.recorded.plan.iter().cloned();
        let plan =
            plan.map(|FindChunksResponse { data, meta }| QueryDatasetResponse { data, meta });
        Ok(traced(answers(plan.collect())))
    }

    async fn find_chunks(
        &self,
        request: Request<FindChunksRequest>,
    ) -> Streamed<FindChunksResponse> {
        self.refused("FindChunks", &request)?;
        Ok(traced(answers(self.recorded.plan.clone())))
    }

    async fn fetch_chunks(
        &self,
        request: Request<FetchChunksRequest>,
    ) -> Streamed<FetchChunksResponse> {
        let fault = self.called("FetchChunks", request.metadata());
        let mut chunks = self.asked(request.get_ref());
        let mut end = None;
        match fault {
            Some(Fault::Status(status)) => return Err(status),
            Some(Fault::Chunks(change, status)) => {
                chunks = change(chunks);
                end = status;
            }
            None => {}
        }
        let messages = chunks.into_iter().map(|chunk| FetchChunksResponse {
            chunks: vec![chunk],
        });
        let guard = OnDrop(self.dropped.clone());
        let gate = Arc::clone(&self.gate);
        let items = stream::iter(messages.map(Ok).chain(end.map(Err)));
        let items = items.then(move |item| {
            let _lives_as_long = &guard;
            let gate = Arc::clone(&gate);
            async move {
                gate.acquire().await.unwrap().forget();
                item
            }
        });
        Ok(traced(Response::new(items.boxed())))
    }
}
