//! The manifest: the footer's table of the chunks of one store.

use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use segue_error::Result;
use segue_proto::common::{EncoderVersion, StoreKind};
use segue_proto::log_msg::RrdManifest;

use super::columns::{ComponentColumns, TimeColumns};
use super::error::{damaged, located, unsupported};
use super::frame::{Input, MESSAGE_HEADER_LEN, STREAM_HEADER_LEN};
use super::index::{ChunkEntry, StoreIndex};
use crate::ipc::{self, IpcError, IpcErrorKind};
use crate::model::{ChunkId, EntityPath, SegmentId};
use crate::schema::DatasetSchema;
use crate::wire::StoreKey;
use crate::wire::compression;

/// Whether the manifest is of a store with data.
pub(super) fn is_recording(manifest: &RrdManifest) -> bool {
    let kind = manifest.store_id.as_ref().map(|id| id.kind());
    kind != Some(StoreKind::Blueprint)
}

/// The index of the store that `manifest`, part of the footer at `at`, describes.
pub(super) fn read(input: Input<'_>, manifest: &RrdManifest, at: u64) -> Result<StoreIndex> {
    let wrong = |reason: String| damaged(input.name, at, format_args!("footer: {reason}"));
    let store = StoreKey::from_wire(manifest.store_id.clone()).map_err(wrong)?;
    let schema = manifest
        .sorbet_schema
        .as_ref()
        .and_then(|s| s.arrow_schema.clone());
    let schema = schema.ok_or_else(|| wrong("a manifest without a schema".to_owned()))?;
    let schema = ipc::read_schema(&schema).map_err(|e| ipc_error(input, at, &e))?;
    let schema = DatasetSchema::from_arrow(&schema).map_err(|e| located(e, input.name, at))?;
    let batch = table(input, manifest, at)?;
    let table = Table::new(&batch).map_err(wrong)?;
    let times = TimeColumns::new(&batch, &schema.timelines).map_err(wrong)?;
    let mut components = ComponentColumns::new(&batch).map_err(wrong)?;
    let mut chunks = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        let chunk = table.chunk(row, &times, &mut components).map_err(wrong)?;
        let end = chunk.offset.checked_add(chunk.len);
        if chunk.offset < STREAM_HEADER_LEN + MESSAGE_HEADER_LEN || end.is_none_or(|end| end > at) {
            let (id, len, offset) = (chunk.id, chunk.len, chunk.offset);
            return Err(wrong(format!(
                "chunk {id} is said to be {len} bytes at byte {offset}"
            )));
        }
        chunks.push(chunk);
    }
    // The rows of a manifest may be in any order; an index is in the order of the file.
    chunks.sort_by_key(|chunk| chunk.offset);
    Ok(StoreIndex {
        application: store.application,
        segment: SegmentId::from(store.recording),
        schema: Arc::new(schema),
        chunks,
    })
}

/// Decodes the table of `manifest`.
pub(super) fn table(input: Input<'_>, manifest: &RrdManifest, at: u64) -> Result<RecordBatch> {
    let wrong = |reason: &str| damaged(input.name, at, format_args!("footer: {reason}"));
    let data = manifest.data.as_ref();
    let part = data.ok_or_else(|| wrong("a manifest without a table"))?;
    if part.encoder_version() != EncoderVersion::V0 {
        let version = part.encoder_version;
        return Err(unsupported(
            input.name,
            format_args!("a footer encoded as {version}"),
        ));
    }
    let payload = part.payload.as_ref();
    let payload = payload.ok_or_else(|| wrong("an empty table"))?;
    let compression = compression(part.compression()).map_err(|reason| wrong(&reason))?;
    let len = match part.uncompressed_size {
        0 => payload.len() as u64,
        size => size,
    };
    ipc::decompress(compression, len, payload)
        .and_then(ipc::read_batch)
        .map_err(|e| ipc_error(input, at, &e))
}

fn ipc_error(input: Input<'_>, at: u64, error: &IpcError) -> segue_error::Error {
    match error.kind() {
        IpcErrorKind::Malformed => damaged(input.name, at, format_args!("footer: {error}")),
        IpcErrorKind::Unsupported => unsupported(input.name, format_args!("a footer with {error}")),
    }
}

/// The columns that every manifest has.
struct Table<'a> {
    entity: Texts<'a>,
    id: &'a arrow::array::FixedSizeBinaryArray,
    is_static: &'a BooleanArray,
    num_rows: &'a [u64],
    offset: &'a [u64],
    len: &'a [u64],
    uncompressed_len: &'a [u64],
}

type Texts<'a> = &'a arrow::array::StringArray;

impl<'a> Table<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Self, String> {
        let column = |name: &str| column(batch, name);
        let numbers = |name: &str| -> Result<&'a [u64], String> {
            let array = column(name)?.as_primitive_opt::<UInt64Type>();
            Ok(array.ok_or_else(|| mistyped(name))?.values())
        };
        let id = column("chunk_id")?.as_fixed_size_binary_opt();
        Ok(Self {
            entity: column("chunk_entity_path")?
                .as_string_opt()
                .ok_or_else(|| mistyped("chunk_entity_path"))?,
            id: id
                .filter(|ids| ids.value_length() == 16)
                .ok_or_else(|| mistyped("chunk_id"))?,
            is_static: column("chunk_is_static")?
                .as_boolean_opt()
                .ok_or_else(|| mistyped("chunk_is_static"))?,
            num_rows: numbers("chunk_num_rows")?,
            offset: numbers("chunk_byte_offset")?,
            len: numbers("chunk_byte_size")?,
            uncompressed_len: numbers("chunk_byte_size_uncompressed")?,
        })
    }

    /// The chunk of row `row`, which is less than the number of rows.
    fn chunk(
        &self,
        row: usize,
        times: &TimeColumns,
        components: &mut ComponentColumns<'_>,
    ) -> Result<ChunkEntry, String> {
        let id = <[u8; 16]>::try_from(self.id.value(row)).map_err(|e| e.to_string())?;
        let is_static = self.is_static.value(row);
        Ok(ChunkEntry {
            id: ChunkId::from_be_bytes(id),
            entity: EntityPath::from(self.entity.value(row)),
            is_static,
            num_rows: self.num_rows[row],
            offset: self.offset[row],
            len: self.len[row],
            uncompressed_len: self.uncompressed_len[row],
            times: if is_static {
                Vec::new()
            } else {
                times.of(row)?
            },
            components: components.of(row, is_static),
        })
    }
}

/// The column `name`, without a null.
fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array, String> {
    let column = batch.column_by_name(name);
    let column = column.ok_or_else(|| format!("a manifest without the column '{name}'"))?;
    if column.null_count() != 0 {
        return Err(format!("a manifest with a null in '{name}'"));
    }
    Ok(column)
}

fn mistyped(name: &str) -> String {
    format!("the manifest's column '{name}' has another type")
}
