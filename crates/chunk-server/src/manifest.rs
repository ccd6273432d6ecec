//! Manifests of layers, as clients get them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow::array::{
    Array as _, ArrayRef, AsArray as _, BinaryArray, BooleanArray, FixedSizeBinaryBuilder,
    Int64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use segue_chunk::local::Layer;
use segue_chunk::rrd::ChunkEntry;
use segue_chunk::schema::keys;
use segue_chunk::wire::{decode_table, encode_schema, encode_table};
use segue_chunk::{ChunkId, ComponentName, Timeline};
use segue_error::{Error, ErrorCode, Result};
use segue_proto::common::{ApplicationId, StoreId, StoreKind};
use segue_proto::log_msg::RrdManifest;

use crate::entry::EntryId;
use crate::key::ChunkKey;

/// The manifest `own` that the recording of `layer` has, with the keys that fetch its chunks. Where it has none,
/// one is made of the index, which knows no times of single components.
pub(crate) fn of_layer(
    layer: &Layer,
    own: Option<RrdManifest>,
    entry: EntryId,
) -> Result<RrdManifest> {
    let (mut manifest, table) = match own {
        Some(own) => {
            let data = own.data.as_ref().ok_or_else(|| damaged(layer))?;
            let table = decode_table(data).map_err(|error| damaged(layer).with_source(error))?;
            (own, table)
        }
        None => (described(layer)?, table(layer)?),
    };
    manifest.data = Some(encode_table(&with_keys(&table, layer, entry)?)?);
    Ok(manifest)
}

fn damaged(layer: &Layer) -> Error {
    let file = layer.path().display();
    let message = format!("recording '{file}' has a manifest that cannot be read");
    Error::new(ErrorCode::ChunkCorrupt, "server.manifest", message)
}

/// `table` with a column of keys; the key of a chunk that is not in the layer is null.
fn with_keys(table: &RecordBatch, layer: &Layer, entry: EntryId) -> Result<RecordBatch> {
    let chunks = layer.store().chunks.iter();
    let chunks: HashMap<ChunkId, &ChunkEntry> = chunks.map(|chunk| (chunk.id, chunk)).collect();
    let ids = table.column_by_name("chunk_id");
    let ids = ids.and_then(|ids| ids.as_fixed_size_binary_opt());
    let ids = ids.ok_or_else(|| damaged(layer))?;
    let keys = ids.iter().map(|id| {
        let id = ChunkId::from_be_bytes(id?.try_into().ok()?);
        let info = layer.chunk_info(chunks.get(&id)?, None);
        Some(ChunkKey::new(entry, &info).encode())
    });
    let keys: BinaryArray = keys.collect();
    let schema = table.schema_ref();
    let own = schema.fields().iter().zip(table.columns());
    let own = own.filter(|(field, _)| field.name() != "chunk_key");
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = own
        // Servers let every column be null, and clients may go by that.
        .map(|(field, array)| {
            (
                field.as_ref().clone().with_nullable(true),
                Arc::clone(array),
            )
        })
        .unzip();
    fields.push(Field::new("chunk_key", DataType::Binary, true));
    arrays.push(Arc::new(keys));
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    RecordBatch::try_new(Arc::new(schema), arrays).map_err(internal)
}

/// A manifest of `layer` without its table.
fn described(layer: &Layer) -> Result<RrdManifest> {
    let store = layer.store();
    let application = store.application.as_ref();
    Ok(RrdManifest {
        store_id: Some(StoreId {
            kind: StoreKind::Recording.into(),
            recording_id: store.segment.to_string(),
            application_id: application.map(|id| ApplicationId { id: id.to_string() }),
        }),
        sorbet_schema: Some(encode_schema(&store.schema.to_arrow())?),
        sorbet_schema_sha256: None,
        data: None,
    })
}

/// The table of the chunks of `layer`.
fn table(layer: &Layer) -> Result<RecordBatch> {
    let store = layer.store();
    let chunks = &store.chunks;
    let mut columns = chunk_columns(chunks)?;
    let components: BTreeSet<&ComponentName> = store
        .schema
        .components
        .iter()
        .map(|column| &column.component)
        .collect();
    for component in components {
        let has = chunks.iter().map(|chunk| {
            let names = chunk.components.as_deref()?;
            Some(chunk.is_static && names.contains(component))
        });
        let metadata = [(keys::INDEX, "rerun:static"), (keys::COMPONENT, component)];
        let has: BooleanArray = has.collect();
        let name = format!("{component}:has_static_data");
        columns.push(column(&name, Arc::new(has), &metadata));
    }
    for timeline in &store.schema.timelines {
        columns.push(bound(chunks, timeline, "start")?);
        columns.push(bound(chunks, timeline, "end")?);
    }
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(internal)
}

type Column = (Field, ArrayRef);

fn chunk_columns(chunks: &[ChunkEntry]) -> Result<Vec<Column>> {
    let numbers = |of: fn(&ChunkEntry) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(chunks.iter().map(of)))
    };
    let mut ids = FixedSizeBinaryBuilder::with_capacity(chunks.len(), 16);
    for chunk in chunks {
        ids.append_value(chunk.id.to_be_bytes()).map_err(internal)?;
    }
    let entities = chunks.iter().map(|chunk| chunk.entity.as_str());
    let entities = StringArray::from_iter_values(entities);
    let statics: BooleanArray = chunks.iter().map(|chunk| Some(chunk.is_static)).collect();
    let columns: [(&str, ArrayRef); 7] = [
        ("chunk_entity_path", Arc::new(entities)),
        ("chunk_id", Arc::new(ids.finish())),
        ("chunk_is_static", Arc::new(statics)),
        ("chunk_num_rows", numbers(|chunk| chunk.num_rows)),
        ("chunk_byte_offset", numbers(|chunk| chunk.offset)),
        ("chunk_byte_size", numbers(|chunk| chunk.len)),
        (
            "chunk_byte_size_uncompressed",
            numbers(|chunk| chunk.uncompressed_len),
        ),
    ];
    let columns = columns.into_iter();
    Ok(columns
        .map(|(name, array)| column(name, array, &[]))
        .collect())
}

fn bound(chunks: &[ChunkEntry], timeline: &Timeline, bound: &str) -> Result<Column> {
    let times = chunks.iter().map(|chunk| {
        let range = chunk.span(&timeline.name)?.range?;
        Some(if bound == "start" {
            range.start
        } else {
            range.end
        })
    });
    let times = cast(&times.collect::<Int64Array>(), &timeline.kind.data_type());
    let name = format!("{}:{bound}", timeline.name);
    let metadata = [(keys::INDEX, &*timeline.name)];
    Ok(column(&name, times.map_err(internal)?, &metadata))
}

fn column(name: &str, array: ArrayRef, metadata: &[(&str, &str)]) -> Column {
    let metadata = metadata
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    let field = Field::new(name, array.data_type().clone(), true);
    (field.with_metadata(metadata.collect()), array)
}

fn internal(error: ArrowError) -> Error {
    let message = format!("arrow could not build a manifest: {error}");
    Error::new(ErrorCode::Internal, "server.manifest", message).with_source(error)
}
