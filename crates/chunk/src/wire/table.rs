//! Tables and schemas as messages.

use arrow::buffer::Buffer;
use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use segue_error::{Error, ErrorCode, Result};
use segue_proto::common::{self, DataframePart, EncoderVersion};

use super::{compression, invalid};
use crate::ipc::{self, IpcError, IpcErrorKind};

/// Bytes from which a table is compressed: below, little is saved.
const COMPRESSED_FROM: usize = 1024;

/// The message that holds `batch`. `unsupported` when the format cannot hold it.
pub fn encode_table(batch: &RecordBatch) -> Result<DataframePart> {
    let stream = ipc::write_batch(batch)?;
    let uncompressed_size = stream.len() as u64;
    let (compression, payload) = if stream.len() < COMPRESSED_FROM {
        (common::Compression::None, stream)
    } else {
        (common::Compression::Lz4, lz4_flex::block::compress(&stream))
    };
    Ok(DataframePart {
        encoder_version: EncoderVersion::V0.into(),
        payload: Some(payload.into()),
        compression: compression.into(),
        uncompressed_size,
    })
}

/// The table that a server's message holds.
///
/// `invalid_response` when the message makes no sense, `unsupported` when it is encoded in a way that is not
/// known.
pub fn decode_table(part: &DataframePart) -> Result<RecordBatch> {
    if part.encoder_version() != EncoderVersion::V0 {
        let version = part.encoder_version;
        return Err(unsupported(&format!("a table encoded as {version}")));
    }
    let stream = stream(part).map_err(|reason| invalid(&reason))?;
    stream
        .and_then(ipc::read_batch)
        .map_err(|error| ipc_error(&error))
}

/// The table that a client's message holds, which takes no more than `max_bytes` once it is decompressed, and
/// has nothing compressed in it.
///
/// `invalid_argument` when it takes more, or makes no sense.
pub fn decode_request_table(part: &DataframePart, max_bytes: u64) -> Result<RecordBatch> {
    let no = |reason: &str| {
        let message = format!("a table in the request cannot be read: {reason}");
        Error::new(ErrorCode::InvalidArgument, "wire.decode", message)
    };
    let len = part
        .payload
        .as_ref()
        .map_or(0, |payload| payload.len() as u64);
    let len = len.max(part.uncompressed_size);
    if len > max_bytes {
        return Err(no(&format!("it has {len} bytes, {max_bytes} are allowed")));
    }
    if part.encoder_version() != EncoderVersion::V0 {
        return Err(no(&format!("it is encoded as {}", part.encoder_version)));
    }
    stream(part)
        .map_err(|reason| no(&reason))?
        .and_then(ipc::read_plain_batch)
        .map_err(|error| no(&error.to_string()))
}

/// The stream in a message, decompressed; the reason when it holds none.
fn stream(part: &DataframePart) -> std::result::Result<Stream, String> {
    let payload = part.payload.as_ref();
    let payload = payload.ok_or_else(|| "a table without a payload".to_owned())?;
    let compression = match part.compression() {
        // What old writers leave out.
        common::Compression::Unspecified if part.compression == 0 => common::Compression::None,
        stated => stated,
    };
    let compression = self::compression(compression)?;
    Ok(ipc::decompress(
        compression,
        part.uncompressed_size,
        payload,
    ))
}

/// A stream, or why it cannot be decompressed.
type Stream = std::result::Result<Buffer, IpcError>;

/// The message that holds `schema`. `unsupported` when the format cannot hold it.
pub fn encode_schema(schema: &Schema) -> Result<common::Schema> {
    Ok(common::Schema {
        arrow_schema: Some(Bytes::from(ipc::write_schema(schema)?)),
    })
}

/// The schema that a server's message holds; the same errors as of [`decode_table`].
pub fn decode_schema(schema: &common::Schema) -> Result<Schema> {
    let bytes = schema.arrow_schema.as_ref();
    let bytes = bytes.ok_or_else(|| invalid("a schema without a payload"))?;
    ipc::read_schema(bytes).map_err(|error| ipc_error(&error))
}

fn ipc_error(error: &IpcError) -> Error {
    match error.kind() {
        IpcErrorKind::Malformed => invalid(&error.to_string()),
        IpcErrorKind::Unsupported => unsupported(&error.to_string()),
    }
}

fn unsupported(what: &str) -> Error {
    let message = format!("the server's answer has {what}, which is not supported");
    Error::new(ErrorCode::Unsupported, "wire.decode", message)
}
