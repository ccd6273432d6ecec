//! Schemas, tables and manifests.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use futures::StreamExt as _;
use futures::stream;
use segue_chunk::wire::{encode_schema, encode_table};
use segue_chunk::{ChunkSource as _, SegmentId, TextSet};
use segue_proto::cloud::{
    GetRrdManifestRequest, GetRrdManifestResponse, ScanDatasetManifestRequest,
    ScanSegmentTableRequest,
};
use segue_proto::common::{self, DataframePart};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::{Service, Stream};
use crate::entry::Entry;
use crate::{layers, manifest, scan, status};

impl Service {
    pub(super) async fn dataset_schema(
        &self,
        headers: &MetadataMap,
    ) -> Result<common::Schema, Status> {
        let (_, contents) = self.contents(headers).await?;
        schema(&contents.schema().to_arrow())
    }

    pub(super) async fn segment_table_schema(
        &self,
        headers: &MetadataMap,
    ) -> Result<common::Schema, Status> {
        let entry = self.entries.of_request(headers)?;
        schema(&self.segments(entry, &TextSet::empty()).await?.schema())
    }

    pub(super) async fn segment_table(
        &self,
        headers: &MetadataMap,
        request: ScanSegmentTableRequest,
    ) -> Result<DataframePart, Status> {
        let entry = self.entries.of_request(headers)?;
        let segments = scan::segments(request.segment_id_filter);
        let table = self.segments(entry, &segments).await?;
        part(&scan::columns(&table, &request.columns)?)
    }

    async fn segments(&self, entry: &Entry, segments: &TextSet) -> Result<RecordBatch, Status> {
        let table = self.source.segment_table(&entry.name, segments).await;
        table.map_err(|error| self.status(entry, &error))
    }

    pub(super) async fn layer_table_schema(
        &self,
        headers: &MetadataMap,
    ) -> Result<common::Schema, Status> {
        schema(&self.all_layers(headers).await?.schema())
    }

    pub(super) async fn layer_table(
        &self,
        headers: &MetadataMap,
        request: ScanDatasetManifestRequest,
    ) -> Result<DataframePart, Status> {
        let table = self.all_layers(headers).await?;
        let segments = scan::segments(request.segment_id_filter);
        let table = scan::rows(&table, layers::SEGMENT, &segments)?;
        let names = scan::layers(request.layer_name_filter);
        let table = scan::rows(&table, layers::LAYER, &names)?;
        part(&scan::columns(&table, &request.columns)?)
    }

    async fn all_layers(&self, headers: &MetadataMap) -> Result<RecordBatch, Status> {
        let (entry, contents) = self.contents(headers).await?;
        layers::table(&contents).map_err(|error| self.status(entry, &error))
    }

    /// The manifests of the layers of a segment, one after the other.
    pub(super) async fn manifests(
        &self,
        headers: &MetadataMap,
        request: GetRrdManifestRequest,
    ) -> Result<Stream<GetRrdManifestResponse>, Status> {
        let (entry, contents) = self.contents(headers).await?;
        let segment = request.segment_id.and_then(|id| id.id);
        let segment = segment.ok_or_else(|| Status::invalid_argument("no segment is named"))?;
        let segment = SegmentId::from(segment);
        let layers = contents.segment(&segment).to_vec();
        if layers.is_empty() {
            let name = &entry.name;
            let message = format!("dataset '{name}' has no segment '{segment}'");
            return Err(Status::not_found(message));
        }
        let (source, id) = (self.source.clone(), entry.id);
        let files: Arc<[_]> = layers.iter().map(|layer| layer.path().to_owned()).collect();
        let manifests = stream::iter(layers).then(move |layer| {
            let (source, files) = (source.clone(), Arc::clone(&files));
            async move {
                let own = source.manifest(&layer).await;
                let manifest = own.and_then(|own| manifest::of_layer(&layer, own, id));
                let manifest = manifest.map_err(|error| status::of(&error, &files))?;
                Ok(GetRrdManifestResponse {
                    rrd_manifest: Some(manifest),
                    meta: None,
                })
            }
        });
        Ok(manifests.boxed())
    }
}

fn schema(schema: &Schema) -> Result<common::Schema, Status> {
    encode_schema(schema).map_err(|error| status::of(&error, &[]))
}

fn part(table: &RecordBatch) -> Result<DataframePart, Status> {
    encode_table(table).map_err(|error| status::of(&error, &[]))
}
