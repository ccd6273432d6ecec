//! Encoded chunks to chunks.

mod columns;
mod retype;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::Array;
use segue_error::{Error, ErrorCode, Result};

use self::columns::{Described, time};
use crate::ipc::{IpcError, IpcErrorKind};
use crate::model::{Chunk, ChunkParts, corrupt};
use crate::schema::{DatasetSchema, SchemaMerger};
use crate::source::{ChunkInfo, EncodedChunk};

/// Decodes the chunks of one dataset, and checks them against what was said about them.
#[derive(Clone, Debug)]
pub struct ChunkDecoder {
    schema: Arc<DatasetSchema>,
    index: Option<Arc<str>>,
}

impl ChunkDecoder {
    /// A decoder for chunks of a dataset with the columns `schema`, planned for the timeline `index`.
    pub fn new(schema: Arc<DatasetSchema>, index: Option<Arc<str>>) -> Self {
        Self { schema, index }
    }

    /// Decodes the chunk that `info` announces.
    ///
    /// Everything announced is checked: identity, entity, whether it is static, lengths, row count and
    /// range. Its columns are those of the dataset, and their values have the dataset's types.
    /// `chunk_corrupt` when something is wrong, `unsupported` when the encoding is not read here.
    pub fn decode(&self, info: &ChunkInfo, encoded: &EncodedChunk) -> Result<Chunk> {
        let parts = self
            .check(info, encoded)
            .map_err(|error| failure(encoded, &error))?;
        Chunk::try_new(parts)
    }

    fn check(&self, info: &ChunkInfo, encoded: &EncodedChunk) -> Step<ChunkParts> {
        agree("id", &info.id, &encoded.id)?;
        agree("segment", &info.segment, &encoded.segment)?;
        let Described {
            mut parts,
            columns,
            len,
        } = Described::read(encoded)?;
        agree("entity", &info.entity, &parts.entity)?;
        agree("static flag", &info.is_static, &parts.timelines.is_empty())?;
        if let Some(announced) = &info.byte_len_uncompressed {
            agree("length", announced, &len)?;
        }
        if let Some(announced) = &info.num_rows {
            agree("row count", announced, &(parts.row_ids.len() as u64))?;
        }
        self.check_range(info, &parts)?;
        for column in &parts.timelines {
            let timeline = &column.timeline;
            if self.schema.timeline(&timeline.name) != Some(timeline) {
                return Err(IpcError::malformed(format_args!(
                    "it has a timeline '{}' ({:?}) that the dataset schema lacks",
                    timeline.name, timeline.kind,
                )));
            }
        }
        for (values, own) in parts.components.iter_mut().zip(&columns) {
            let Some(declared) = self.schema.component(&parts.entity, &own.component) else {
                let name = &own.component;
                return Err(IpcError::malformed(format_args!(
                    "it has a component '{name}' that the dataset schema lacks"
                )));
            };
            if declared.data_type != own.data_type {
                values.values = retype::list(&values.values, &declared.data_type)
                    .map_err(|error| error.at(format_args!("component '{}'", own.component)))?;
            }
        }
        Ok(parts)
    }

    /// Start and end are those of the requested index, which a chunk need not have.
    fn check_range(&self, info: &ChunkInfo, parts: &ChunkParts) -> Step<()> {
        let Some(index) = &self.index else {
            return Ok(());
        };
        let column = parts
            .timelines
            .iter()
            .find(|column| column.timeline.name == *index);
        let bounds = column.and_then(|column| column.bounds());
        for (what, announced, found) in [
            (
                "start",
                info.start.map(time),
                bounds.map(|(start, _)| start),
            ),
            ("end", info.end.map(time), bounds.map(|(_, end)| end)),
        ] {
            match (announced, found) {
                (Some(announced), Some(found)) => agree(what, &announced, &found)?,
                (Some(announced), None) => {
                    return Err(IpcError::malformed(format_args!(
                        "{what} {announced} on '{index}' is announced, but it has no value there"
                    )));
                }
                (None, _) => {}
            }
        }
        Ok(())
    }
}

/// Decodes a chunk on its own word, and says which columns it has.
///
/// For chunks that nothing has announced, as in a recording that keeps no list of them: only the identity
/// under which it came is checked against what it says of itself. What has been announced is decoded by a
/// [`ChunkDecoder`]. The same errors as of [`ChunkDecoder::decode`].
pub fn decode_unannounced(encoded: &EncodedChunk) -> Result<(Chunk, DatasetSchema)> {
    let read = || -> Step<_> {
        let Described { parts, columns, .. } = Described::read(encoded)?;
        let mut schema = SchemaMerger::default();
        let invalid = |error: Error| IpcError::malformed(error.message());
        for column in &parts.timelines {
            schema
                .add_timeline(column.timeline.clone())
                .map_err(invalid)?;
        }
        for mut column in columns {
            column.is_static = parts.timelines.is_empty();
            schema.add_component(column).map_err(invalid)?;
        }
        Ok((parts, schema.finish()))
    };
    let (parts, schema) = read().map_err(|error| failure(encoded, &error))?;
    Ok((Chunk::try_new(parts)?, schema))
}

/// A step of decoding; what fails gets to know its chunk at the end.
type Step<T> = std::result::Result<T, IpcError>;

fn agree<T: PartialEq + std::fmt::Display>(what: &str, announced: &T, found: &T) -> Step<()> {
    if announced == found {
        return Ok(());
    }
    Err(IpcError::malformed(format_args!(
        "{what} {announced} is announced, {found} came"
    )))
}

fn failure(encoded: &EncodedChunk, error: &IpcError) -> Error {
    let (segment, id) = (&encoded.segment, encoded.id);
    match error.kind() {
        IpcErrorKind::Malformed => corrupt(segment, id, &error.to_string()),
        IpcErrorKind::Unsupported => Error::new(
            ErrorCode::Unsupported,
            "chunk.decode",
            format!("chunk {id} of segment '{segment}' cannot be read: {error} is not supported"),
        )
        .with_fact("chunk_id", id.to_string())
        .with_fact("segment", segment.as_str()),
    }
}
