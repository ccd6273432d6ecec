//! From a stream's bytes to its messages.

use std::collections::HashMap;
use std::ops::Range;

use arrow::buffer::Buffer;
use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use arrow_ipc::{Message, MetadataVersion};
use flatbuffers::VerifierOptions;

use super::batch::{Dictionaries, read_columns, read_dictionary};
use super::error::{IpcError, Result};
use super::schema::StreamSchema;

const CONTINUATION: [u8; 4] = [0xff; 4];

/// Reads a stream of a schema and no batch.
pub(crate) fn read_schema(stream: &[u8]) -> Result<Schema> {
    let mut messages = Messages::new(stream);
    let schema = messages.schema()?;
    if messages.next()?.is_some() {
        return Err(IpcError::malformed("something follows the schema"));
    }
    Ok(Schema::clone(&schema.schema))
}

/// Reads a stream of exactly one record batch; one without is an empty batch.
///
/// The arrays are slices of `stream` where it is aligned for them and not compressed.
pub(crate) fn read_batch(stream: Buffer) -> Result<RecordBatch> {
    read(stream, |_| Ok(()))
}

/// The same of a stream in which nothing is compressed, so that it takes no more memory than its length.
pub(crate) fn read_plain_batch(stream: Buffer) -> Result<RecordBatch> {
    read(stream, |batch| match batch.compression() {
        None => Ok(()),
        Some(_) => Err(IpcError::malformed("its buffers are compressed")),
    })
}

fn read(
    stream: Buffer,
    check: impl Fn(&arrow_ipc::RecordBatch<'_>) -> Result<()>,
) -> Result<RecordBatch> {
    let mut messages = Messages::new(&stream);
    let schema = messages.schema()?;
    let mut dictionaries: Dictionaries = HashMap::new();
    let mut found = None;
    while let Some((message, body)) = messages.next()? {
        let body = stream.slice_with_length(body.start, body.len());
        if let Some(batch) = message.header_as_record_batch() {
            if found.is_some() {
                return Err(IpcError::malformed("there is more than one record batch"));
            }
            check(&batch)?;
            found = Some(read_columns(&schema, &dictionaries, batch, body)?);
        } else if let Some(batch) = message.header_as_dictionary_batch() {
            if found.is_some() {
                return Err(IpcError::malformed("a dictionary follows the record batch"));
            }
            batch.data().as_ref().map_or(Ok(()), &check)?;
            read_dictionary(&schema, &mut dictionaries, batch, body)?;
        } else if message.header_as_schema().is_some() {
            return Err(IpcError::malformed("there is more than one schema"));
        } else {
            let kind = message.header_type().0;
            return Err(IpcError::unsupported(format_args!(
                "messages of kind {kind}"
            )));
        }
    }
    Ok(found.unwrap_or_else(|| RecordBatch::new_empty(schema.schema)))
}

/// A message can refer to one of its tables or texts any number of times. The limits keep what is made of
/// it in proportion to its length.
fn limits(metadata: &[u8]) -> VerifierOptions {
    /// Bytes that a table and the reference to it take at least.
    const MIN_TABLE: usize = 8;
    /// How often a byte may count; tables of one shape share its description.
    const MAX_SHARES: usize = 16;
    VerifierOptions {
        max_tables: metadata.len() / MIN_TABLE,
        max_apparent_size: metadata.len().saturating_mul(MAX_SHARES),
        ..VerifierOptions::default()
    }
}

/// The messages of a stream, one after the other.
struct Messages<'a> {
    stream: &'a [u8],
    at: usize,
}

impl<'a> Messages<'a> {
    fn new(stream: &'a [u8]) -> Self {
        Self { stream, at: 0 }
    }

    /// The first message, which has to be the schema.
    fn schema(&mut self) -> Result<StreamSchema> {
        let message = self.next()?;
        let Some(schema) = message.and_then(|(message, _)| message.header_as_schema()) else {
            return Err(IpcError::malformed(
                "the stream does not start with a schema",
            ));
        };
        StreamSchema::read(schema)
    }

    /// The next message, and where its body lies in the stream. `None` at the end marker or, where there
    /// is none, the end of the bytes.
    fn next(&mut self) -> Result<Option<(Message<'a>, Range<usize>)>> {
        if self.at == self.stream.len() {
            return Ok(None);
        }
        let start = self.at;
        let mut word = self.word()?;
        if word == CONTINUATION {
            word = self.word()?;
        }
        let metadata_len = i32::from_le_bytes(word);
        if metadata_len == 0 {
            let tail = self.stream.get(self.at..).unwrap_or_default();
            if tail.iter().any(|byte| *byte != 0) {
                let at = self.at;
                return Err(IpcError::malformed(format_args!(
                    "bytes follow the end at byte {at}"
                )));
            }
            self.at = self.stream.len();
            return Ok(None);
        }
        let metadata = self.span(i64::from(metadata_len))?;
        let metadata = self.stream.get(metadata).unwrap_or_default();
        let message =
            arrow_ipc::root_as_message_with_opts(&limits(metadata), metadata).map_err(|error| {
                let error = error.to_string();
                let error = error.lines().next().unwrap_or_default();
                IpcError::malformed(format_args!("message at byte {start}: {error}"))
            })?;
        let version = message.version();
        if version != MetadataVersion::V5 && version != MetadataVersion::V4 {
            let version = version.0;
            return Err(IpcError::unsupported(format_args!(
                "metadata version {version}"
            )));
        }
        let body = self.span(message.bodyLength())?;
        Ok(Some((message, body)))
    }

    fn word(&mut self) -> Result<[u8; 4]> {
        let word = self
            .stream
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<4>());
        let word = word.ok_or_else(|| self.cut(4))?;
        self.at += word.len();
        Ok(*word)
    }

    /// Steps over the next `len` bytes.
    fn span(&mut self, len: i64) -> Result<Range<usize>> {
        let left = self.stream.len() - self.at;
        match usize::try_from(len) {
            Ok(len) if len <= left => {
                let start = self.at;
                self.at += len;
                Ok(start..self.at)
            }
            _ => Err(self.cut(len)),
        }
    }

    fn cut(&self, wanted: i64) -> IpcError {
        let (at, left) = (self.at, self.stream.len() - self.at);
        IpcError::malformed(format_args!(
            "{wanted} bytes wanted at byte {at} where {left} are left"
        ))
    }
}
