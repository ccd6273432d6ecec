//! Chunks, batches and schemas as bytes.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, FixedSizeBinaryArray, make_array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use bytes::Bytes;
use segue_error::{Error, ErrorCode, Result};

use crate::model::{Chunk, TimeColumn};
use crate::schema::keys;
use crate::source::{Compression, EncodedChunk};

/// Version of the chunk encoding that is written.
pub(crate) const WRITTEN_VERSION: &str = "0.1.3";

/// A stream of the one batch `batch`.
///
/// `unsupported` when the format cannot hold it.
pub(crate) fn write_batch(batch: &RecordBatch) -> Result<Vec<u8>> {
    stream(&batch.schema(), Some(batch), IpcWriteOptions::default())
}

/// A stream of the schema `schema` and no batch.
///
/// `unsupported` when the format cannot hold it.
pub(crate) fn write_schema(schema: &Schema) -> Result<Vec<u8>> {
    stream(schema, None, IpcWriteOptions::default())
}

fn stream(
    schema: &Schema,
    batch: Option<&RecordBatch>,
    options: IpcWriteOptions,
) -> Result<Vec<u8>> {
    let write = || {
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), schema, options)?;
        if let Some(batch) = batch {
            writer.write(batch)?;
        }
        writer.finish()?;
        writer.into_inner()
    };
    write().map_err(|error| {
        Error::new(
            ErrorCode::Unsupported,
            "ipc.write",
            format!("the batch cannot be written as an Arrow stream: {error}"),
        )
    })
}

impl EncodedChunk {
    /// Encodes `chunk` as the SDK does.
    pub fn from_chunk(chunk: &Chunk, compression: Compression) -> Result<Self> {
        let stream = write_batch(&batch(chunk)?)?;
        let uncompressed_len = stream.len() as u64;
        let payload = match compression {
            Compression::None => stream,
            Compression::Lz4 => lz4_flex::block::compress(&stream),
        };
        Ok(Self {
            segment: chunk.segment().clone(),
            id: chunk.id(),
            compression,
            uncompressed_len,
            payload: Bytes::from(payload),
        })
    }
}

/// The record batch that stands for `chunk` on the wire: row ids, timelines, components.
fn batch(chunk: &Chunk) -> Result<RecordBatch> {
    let mut fields = vec![row_id_field()];
    let mut columns: Vec<ArrayRef> = vec![Arc::new(FixedSizeBinaryArray::clone(chunk.row_ids()))];
    for column in chunk.timelines() {
        fields.push(time_field(column));
        columns.push(time_array(column)?);
    }
    for column in chunk.components() {
        let metadata = [(keys::KIND, "data"), (keys::COMPONENT, &*column.component)];
        let data_type = column.values.data_type().clone();
        fields.push(field(&column.component, data_type, true, &metadata));
        columns.push(Arc::new(column.values.clone()));
    }
    let metadata = [
        (keys::SORBET_VERSION, WRITTEN_VERSION.to_owned()),
        (keys::CHUNK_ID, format!("chunk_{}", chunk.id())),
        (keys::ENTITY_PATH, chunk.entity().to_string()),
    ];
    let metadata: HashMap<_, _> = metadata.map(|(k, v)| (k.to_owned(), v)).into();
    let options = RecordBatchOptions::new().with_row_count(Some(chunk.num_rows()));
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(|error| broken(&error))
}

fn row_id_field() -> Field {
    let metadata = [
        (keys::KIND, "control"),
        ("ARROW:extension:name", "rerun.datatypes.TUID"),
        ("ARROW:extension:metadata", r#"{"namespace":"row"}"#),
    ];
    field(
        keys::ROW_ID_COLUMN,
        DataType::FixedSizeBinary(16),
        false,
        &metadata,
    )
}

fn time_field(column: &TimeColumn) -> Field {
    let timeline = &column.timeline;
    let mut metadata = vec![(keys::KIND, "index"), (keys::INDEX_NAME, &*timeline.name)];
    if column.times.is_sorted() {
        metadata.push((keys::IS_SORTED, "true"));
    }
    field(&timeline.name, timeline.kind.data_type(), true, &metadata)
}

fn time_array(column: &TimeColumn) -> Result<ArrayRef> {
    ArrayData::builder(column.timeline.kind.data_type())
        .len(column.times.len())
        .add_buffer(column.times.inner().clone())
        .build()
        .map(make_array)
        .map_err(|error| broken(&error))
}

fn field(name: &str, data_type: DataType, nullable: bool, metadata: &[(&str, &str)]) -> Field {
    let metadata = metadata
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    Field::new(name, data_type, nullable).with_metadata(metadata.collect())
}

/// A chunk's parts fit together, or it would not have been made.
fn broken(error: &dyn std::error::Error) -> Error {
    Error::new(
        ErrorCode::Invariant,
        "chunk.encode",
        format!("the columns of a chunk make no batch: {error}"),
    )
}
