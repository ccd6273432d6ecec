//! Recording files out of chunks.

mod columns;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, FixedSizeBinaryArray, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use prost::Message;
use segue_proto::common::{self, ApplicationId, StoreId, StoreKind, Tuid};
use segue_proto::log_msg::{
    ArrowMsg, BlueprintActivationCommand, Encoding, RrdFooter, RrdManifest, SetStoreInfo, StoreInfo,
};
use xxhash_rust::xxh32::xxh32;

use self::columns::{bounds, component_columns};
use super::schema_of;
use crate::ipc;
use crate::model::{Chunk, RowIds};
use crate::source::{Compression, EncodedChunk};

/// Writes recordings as the SDK does: a store per segment, and a footer unless it is left out.
///
/// A chunk that cannot be written is a mistake in the test that made it: methods panic.
#[derive(Clone, Debug)]
pub struct RecordingWriter {
    application: Option<String>,
    compression: Compression,
    footer: bool,
    bytes: Vec<u8>,
    stores: Vec<Store>,
}

#[derive(Clone, Debug)]
struct Store {
    id: StoreId,
    chunks: Vec<Written>,
}

/// A chunk, and where it was put.
#[derive(Clone, Debug)]
struct Written {
    chunk: Chunk,
    offset: u64,
    len: u64,
    uncompressed_len: u64,
}

impl Default for RecordingWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl RecordingWriter {
    /// A recording without chunks, LZ4 and with a footer, of the application `test`.
    pub fn new() -> Self {
        Self {
            application: Some("test".to_owned()),
            compression: Compression::Lz4,
            footer: true,
            bytes: b"RRF2\x00\x24\x03\x00\x01\x02\x00\x00".to_vec(),
            stores: Vec::new(),
        }
    }

    /// Sets how the chunks after this are compressed.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets the application of the stores after this; `None` leaves it out.
    #[must_use]
    pub fn application(mut self, application: Option<&str>) -> Self {
        self.application = application.map(str::to_owned);
        self
    }

    /// Leaves out the end message and the footer, as a writer does that was stopped.
    #[must_use]
    pub fn without_footer(mut self) -> Self {
        self.footer = false;
        self
    }

    /// Adds a chunk to the store of its segment.
    #[must_use]
    pub fn chunk(mut self, chunk: &Chunk) -> Self {
        let id = self.store_id(StoreKind::Recording, chunk.segment().as_str());
        self.write_chunk(id, chunk);
        self
    }

    /// Adds chunks to the stores of their segments.
    #[must_use]
    pub fn chunks<'a>(self, chunks: impl IntoIterator<Item = &'a Chunk>) -> Self {
        chunks
            .into_iter()
            .fold(self, |writer, chunk| writer.chunk(chunk))
    }

    /// Adds a chunk to the blueprint store `name`, and activates it.
    #[must_use]
    pub fn blueprint(mut self, name: &str, chunk: &Chunk) -> Self {
        let id = self.store_id(StoreKind::Blueprint, name);
        self.write_chunk(id.clone(), chunk);
        let activation = BlueprintActivationCommand {
            blueprint_id: Some(id),
            make_active: true,
            make_default: true,
        };
        self.message(3, &activation);
        self
    }

    /// The bytes of the file.
    pub fn finish(mut self) -> Vec<u8> {
        if !self.footer {
            return self.bytes;
        }
        let manifests = self
            .stores
            .iter()
            .map(|store| manifest(store, self.compression));
        let footer = RrdFooter {
            manifests: manifests.collect(),
        };
        let (offset, len) = self.message(0, &footer);
        let body = footer.encode_to_vec();
        self.bytes.extend(offset.to_le_bytes());
        self.bytes.extend(len.to_le_bytes());
        self.bytes.extend(xxh32(&body, 7_850_921).to_le_bytes());
        self.bytes.extend(b"RRF2FOOT");
        self.bytes.extend(1_u32.to_le_bytes());
        self.bytes
    }

    /// Writes the file to `path`, whose folders are made.
    ///
    /// # Panics
    ///
    /// When that fails.
    pub fn write(self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a test can make folders");
        }
        std::fs::write(path, self.finish()).expect("a test can write files");
    }

    /// The id of a store, which is opened unless it is open.
    fn store_id(&mut self, kind: StoreKind, recording: &str) -> StoreId {
        let application_id = self.application.clone().map(|id| ApplicationId { id });
        let id = StoreId {
            kind: kind.into(),
            recording_id: recording.to_owned(),
            application_id,
        };
        if self.stores.iter().all(|store| store.id != id) {
            let opening = SetStoreInfo {
                row_id: Some(tuid(u128::from(self.bytes.len() as u64))),
                info: Some(StoreInfo {
                    application_id: None,
                    store_id: Some(id.clone()),
                }),
            };
            self.message(1, &opening);
            self.stores.push(Store {
                id: id.clone(),
                chunks: Vec::new(),
            });
        }
        id
    }

    fn write_chunk(&mut self, id: StoreId, chunk: &Chunk) {
        let encoded = EncodedChunk::from_chunk(chunk, self.compression)
            .expect("a chunk of a test can be encoded");
        let message = ArrowMsg {
            store_id: Some(id.clone()),
            chunk_id: Some(tuid(u128::from_be_bytes(chunk.id().to_be_bytes()))),
            compression: wire(self.compression).into(),
            uncompressed_size: encoded.uncompressed_len,
            encoding: Encoding::ArrowIpc.into(),
            payload: encoded.payload,
            is_static: Some(chunk.is_static()),
        };
        let (offset, len) = self.message(2, &message);
        let written = Written {
            chunk: chunk.clone(),
            offset,
            len,
            uncompressed_len: encoded.uncompressed_len,
        };
        let store = self.stores.iter_mut().find(|store| store.id == id);
        store.expect("the store was opened").chunks.push(written);
    }

    /// Adds a message; where its body stands and how long it is.
    fn message(&mut self, kind: u64, message: &impl Message) -> (u64, u64) {
        let body = message.encode_to_vec();
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend((body.len() as u64).to_le_bytes());
        let offset = self.bytes.len() as u64;
        self.bytes.extend(&body);
        (offset, body.len() as u64)
    }
}

/// Where the messages of the recording `bytes` start, and where the last one ends.
///
/// # Panics
///
/// When `bytes` is no whole recording.
pub fn message_borders(bytes: &[u8]) -> Vec<usize> {
    let number = |at: usize| {
        let bytes = bytes[at..at + 8]
            .try_into()
            .expect("eight bytes were cut out");
        u64::from_le_bytes(bytes)
    };
    let mut borders = vec![12];
    let mut at = 12;
    while at < bytes.len() {
        let is_end = number(at) == 0;
        at += 16 + usize::try_from(number(at + 8)).expect("the file is in memory");
        borders.push(at);
        if is_end {
            break;
        }
    }
    borders
}

/// The recording `bytes` without end message and footer.
///
/// # Panics
///
/// When `bytes` is no whole recording with a footer.
pub fn without_footer(bytes: &[u8]) -> &[u8] {
    let borders = message_borders(bytes);
    &bytes[..borders[borders.len() - 2]]
}

fn tuid(id: u128) -> Tuid {
    Tuid {
        time_ns: Some((id >> 64) as u64),
        inc: Some(id as u64),
    }
}

fn wire(compression: Compression) -> common::Compression {
    match compression {
        Compression::None => common::Compression::None,
        Compression::Lz4 => common::Compression::Lz4,
    }
}

fn manifest(store: &Store, compression: Compression) -> RrdManifest {
    let written = &store.chunks;
    let chunks: Vec<Chunk> = written.iter().map(|w| w.chunk.clone()).collect();
    let dataset = schema_of(&chunks);
    let row_id = Field::new("rerun.controls.RowId", DataType::FixedSizeBinary(16), false)
        .with_metadata([("rerun:kind".to_owned(), "control".to_owned())].into());
    let timelines = dataset.timelines.iter().map(|timeline| {
        let metadata = [
            ("rerun:kind", "index"),
            ("rerun:index_name", &*timeline.name),
        ];
        let metadata = metadata.map(|(k, v)| (k.to_owned(), v.to_owned()));
        Field::new(&*timeline.name, timeline.kind.data_type(), true).with_metadata(metadata.into())
    });
    let components = dataset.components.iter().map(|column| column.field());
    let fields: Vec<Field> = [row_id]
        .into_iter()
        .chain(timelines)
        .chain(components)
        .collect();
    let schema = ipc::write_schema(&Schema::new(fields)).expect("a schema can be written");

    let mut columns = chunk_columns(written);
    let names = chunks.iter().flat_map(|chunk| chunk.components());
    let names: BTreeSet<_> = names.map(|column| Arc::clone(&column.component)).collect();
    for component in &names {
        columns.extend(component_columns(None, component, written));
    }
    for timeline in &dataset.timelines {
        columns.extend(bounds(timeline, None, written));
        for component in &names {
            columns.extend(component_columns(Some(timeline), component, written));
        }
    }
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .expect("the columns of a manifest are of one length");
    let stream = ipc::write_batch(&batch).expect("a manifest can be written");
    let uncompressed_size = stream.len() as u64;
    let payload = match compression {
        Compression::None => stream,
        Compression::Lz4 => lz4_flex::block::compress(&stream),
    };
    RrdManifest {
        store_id: Some(store.id.clone()),
        sorbet_schema: Some(common::Schema {
            arrow_schema: Some(schema.into()),
        }),
        sorbet_schema_sha256: Some(Bytes::from_static(&[0; 32])),
        data: Some(common::DataframePart {
            encoder_version: common::EncoderVersion::V0.into(),
            payload: Some(payload.into()),
            compression: wire(compression).into(),
            uncompressed_size,
        }),
    }
}

fn chunk_columns(written: &[Written]) -> Vec<(Field, ArrayRef)> {
    let numbers = |value: fn(&Written) -> u64| -> ArrayRef {
        Arc::new(
            written
                .iter()
                .map(|w| Some(value(w)))
                .collect::<UInt64Array>(),
        )
    };
    let entities = written.iter().map(|w| w.chunk.entity().to_string());
    let ids = written.iter().map(|w| w.chunk.id().to_be_bytes());
    let ids: RowIds = ids.map(crate::model::RowId::from_be_bytes).collect();
    let ids: FixedSizeBinaryArray = ids.0;
    let statics = written.iter().map(|w| Some(w.chunk.is_static()));
    let columns: [(&str, ArrayRef); 7] = [
        (
            "chunk_entity_path",
            Arc::new(StringArray::from_iter_values(entities)),
        ),
        ("chunk_id", Arc::new(ids)),
        (
            "chunk_is_static",
            Arc::new(statics.collect::<BooleanArray>()),
        ),
        ("chunk_num_rows", numbers(|w| w.chunk.num_rows() as u64)),
        ("chunk_byte_offset", numbers(|w| w.offset)),
        ("chunk_byte_size", numbers(|w| w.len)),
        (
            "chunk_byte_size_uncompressed",
            numbers(|w| w.uncompressed_len),
        ),
    ];
    columns
        .into_iter()
        .map(|(name, array)| (Field::new(name, array.data_type().clone(), false), array))
        .collect()
}
