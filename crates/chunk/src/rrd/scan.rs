//! The index of a file without a footer, made by reading it once.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::Array as _;
use bytes::Bytes;
use prost::Message as _;
use segue_error::{Error, Result};
use segue_proto::log_msg::{BlueprintActivationCommand, SetStoreInfo};

use super::error::{damaged, located};
use super::frame::{Input, MESSAGE_HEADER_LEN, MessageKind, STREAM_HEADER_LEN};
use super::index::{ChunkEntry, RecordingIndex, StoreIndex, TimeSpan};
use super::{footer, manifest};
use crate::decode::decode_unannounced;
use crate::model::{Chunk, ComponentName, SegmentId, TimeRange};
use crate::schema::SchemaMerger;
use crate::wire::ArrowMessage;
use crate::wire::StoreKey;

/// Reads every message. Of each only what the index needs is kept, so that no more than one message is
/// in memory at a time.
pub(super) fn scan(input: Input<'_>) -> Result<RecordingIndex> {
    let mut scan = Scan {
        input,
        stores: Vec::new(),
        listed: 0,
    };
    let mut offset = STREAM_HEADER_LEN;
    while let Some((kind, body)) = input.message(offset)? {
        let next = offset + MESSAGE_HEADER_LEN + body.len() as u64;
        match kind {
            MessageKind::SetStoreInfo => scan.open_store(offset, body)?,
            MessageKind::ArrowMsg => scan.add_chunk(offset, body)?,
            MessageKind::BlueprintActivation => scan.check_activation(offset, body)?,
            MessageKind::End => {
                scan.check_footer(offset, body)?;
                match footer::next_recording(input, next)? {
                    Some(start) => {
                        input.check_stream_header(start)?;
                        offset = start + STREAM_HEADER_LEN;
                        continue;
                    }
                    None => break,
                }
            }
        }
        offset = next;
    }
    let stores = scan
        .stores
        .into_iter()
        .filter(|store| !store.chunks.is_empty());
    Ok(RecordingIndex {
        stores: stores.map(StoreScan::finish).collect(),
    })
}

struct Scan<'a> {
    input: Input<'a>,
    stores: Vec<StoreScan>,
    /// Chunks that the footers so far list.
    listed: usize,
}

/// What was found of a store so far.
struct StoreScan {
    key: StoreKey,
    schema: SchemaMerger,
    chunks: Vec<ChunkEntry>,
}

impl StoreScan {
    fn finish(self) -> StoreIndex {
        StoreIndex {
            application: self.key.application,
            segment: SegmentId::from(self.key.recording),
            schema: Arc::new(self.schema.finish()),
            chunks: self.chunks,
        }
    }
}

impl<'a> Scan<'a> {
    fn wrong(&self, offset: u64) -> impl Fn(String) -> Error + use<'a> {
        let name = self.input.name;
        move |reason| damaged(name, offset, reason)
    }

    fn open_store(&mut self, offset: u64, body: Bytes) -> Result<()> {
        let wrong = self.wrong(offset);
        let message = SetStoreInfo::decode(body).map_err(|e| wrong(format!("store info: {e}")))?;
        let info = message.info.unwrap_or_default();
        let mut key = StoreKey::from_wire(info.store_id).map_err(&wrong)?;
        if key.application.is_none() {
            key.application = info.application_id.map(|application| application.id.into());
        }
        if self.stores.iter().all(|store| store.key != key) {
            self.stores.push(StoreScan {
                key,
                schema: SchemaMerger::default(),
                chunks: Vec::new(),
            });
        }
        Ok(())
    }

    /// The store that `key` names. One that was never opened is a sign of damage: taken for another
    /// store, a chunk would vanish from its own.
    fn store(&mut self, offset: u64, key: &StoreKey) -> Result<&mut StoreScan> {
        let name = self.input.name;
        let store = self.stores.iter_mut().find(|store| key.names(&store.key));
        store.ok_or_else(|| {
            let reason = format!(
                "a message of store '{}', which was never opened",
                key.recording
            );
            damaged(name, offset, reason)
        })
    }

    fn add_chunk(&mut self, offset: u64, body: Bytes) -> Result<()> {
        let name = self.input.name;
        let len = body.len() as u64;
        let message = ArrowMessage::decode(body).map_err(self.wrong(offset))?;
        let store = self.store(offset, &message.store)?;
        if store.key.is_blueprint {
            return Ok(());
        }
        let encoded = &message.encoded;
        let (chunk, schema) = decode_unannounced(encoded).map_err(|e| located(e, name, offset))?;
        if message
            .is_static
            .is_some_and(|is_static| is_static != chunk.is_static())
        {
            let reason = format!("chunk {} is static in one place only", chunk.id());
            return Err(damaged(name, offset, reason));
        }
        store
            .schema
            .add(&schema)
            .map_err(|e| located(e, name, offset))?;
        let known = store.chunks.last().and_then(|last| last.components.clone());
        store.chunks.push(ChunkEntry {
            id: chunk.id(),
            entity: chunk.entity().clone(),
            is_static: chunk.is_static(),
            num_rows: chunk.num_rows() as u64,
            offset: offset + MESSAGE_HEADER_LEN,
            len,
            uncompressed_len: encoded.uncompressed_len,
            times: spans(&chunk),
            components: Some(components(&chunk, known)),
        });
        Ok(())
    }

    /// Activations matter to viewers only, but a chunk whose kind was damaged may look like one.
    fn check_activation(&mut self, offset: u64, body: Bytes) -> Result<()> {
        let wrong = self.wrong(offset);
        let message = BlueprintActivationCommand::decode(body)
            .map_err(|e| wrong(format!("blueprint activation: {e}")))?;
        let key = StoreKey::from_wire(message.blueprint_id).map_err(&wrong)?;
        if !key.is_blueprint {
            let recording = key.recording;
            return Err(wrong(format!(
                "store '{recording}' is activated and no blueprint"
            )));
        }
        self.store(offset, &key).map(|_| ())
    }

    /// Checks that the end message lists as many chunks as were found: with what stands behind it, nothing
    /// else could tell an early end.
    fn check_footer(&mut self, offset: u64, body: Bytes) -> Result<()> {
        let found: usize = self.stores.iter().map(|store| store.chunks.len()).sum();
        if body.is_empty() {
            self.listed = found;
            return Ok(());
        }
        let at = offset + MESSAGE_HEADER_LEN;
        let footer = footer::decode(self.input, at, body)?;
        for manifest in &footer.manifests {
            if manifest::is_recording(manifest) {
                self.listed += manifest::table(self.input, manifest, at)?.num_rows();
            }
        }
        if self.listed != found {
            let listed = self.listed;
            let reason = format!("the footer lists {listed} chunks where {found} are");
            return Err(damaged(self.input.name, at, reason));
        }
        Ok(())
    }
}

fn spans(chunk: &Chunk) -> Vec<TimeSpan> {
    let spans = chunk.timelines().iter().filter_map(|column| {
        let (start, end) = column.bounds()?;
        Some(TimeSpan {
            timeline: Arc::clone(&column.timeline.name),
            range: Some(TimeRange::new(start, end)),
        })
    });
    let mut spans: Vec<TimeSpan> = spans.collect();
    spans.sort_by(|a, b| a.timeline.cmp(&b.timeline));
    spans
}

/// The components with a value, as `known` where that is the same set.
fn components(chunk: &Chunk, known: Option<Arc<[ComponentName]>>) -> Arc<[ComponentName]> {
    let valued = chunk.components().iter();
    let valued = valued.filter(|column| column.values.null_count() < column.values.len());
    let names: BTreeSet<&ComponentName> = valued.map(|column| &column.component).collect();
    match known {
        Some(known) if names.iter().copied().eq(known.iter()) => known,
        _ => names.into_iter().cloned().collect(),
    }
}
