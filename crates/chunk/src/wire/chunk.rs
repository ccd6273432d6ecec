//! Chunks as messages.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message as _;
use segue_error::Result as SegueResult;
use segue_proto::common;
use segue_proto::log_msg::{ArrowMsg, Encoding};

use super::invalid;
use super::store::StoreKey;
use crate::model::{ChunkId, SegmentId};
use crate::source::{Compression, EncodedChunk};

impl EncodedChunk {
    /// The chunk that a server's message holds. The payload shares the message's memory.
    ///
    /// `invalid_response` when the message makes no sense. What is in the payload is not looked at.
    pub fn from_wire(message: ArrowMsg) -> SegueResult<Self> {
        let message = ArrowMessage::from_wire(message).map_err(|why| invalid(&why))?;
        if message.store.is_blueprint {
            let id = message.encoded.id;
            return Err(invalid(&format!("chunk {id} belongs to a blueprint")));
        }
        Ok(message.encoded)
    }

    /// The message that holds the chunk, which is of a store of `application`.
    pub fn into_wire(self, application: Option<&str>, is_static: bool) -> ArrowMsg {
        let application = application.map(|id| common::ApplicationId { id: id.to_owned() });
        let (time_ns, inc) = self.id.parts();
        ArrowMsg {
            store_id: Some(common::StoreId {
                kind: common::StoreKind::Recording.into(),
                recording_id: self.segment.to_string(),
                application_id: application,
            }),
            chunk_id: Some(common::Tuid {
                time_ns: Some(time_ns),
                inc: Some(inc),
            }),
            compression: match self.compression {
                Compression::None => common::Compression::None.into(),
                Compression::Lz4 => common::Compression::Lz4.into(),
            },
            uncompressed_size: self.uncompressed_len,
            encoding: Encoding::ArrowIpc.into(),
            payload: self.payload,
            is_static: Some(is_static),
        }
    }
}

/// The message of one chunk.
pub(crate) struct ArrowMessage {
    pub(crate) store: StoreKey,
    pub(crate) is_static: Option<bool>,
    pub(crate) encoded: EncodedChunk,
}

impl ArrowMessage {
    /// Reads the body of a message; the reason when it makes no sense. The payload shares `body`.
    pub(crate) fn decode(body: Bytes) -> Result<Self, String> {
        let message = ArrowMsg::decode(body).map_err(|e| format!("chunk message: {e}"))?;
        Self::from_wire(message)
    }

    /// Checks a message; the reason when it makes no sense.
    fn from_wire(message: ArrowMsg) -> Result<Self, String> {
        let compression = compression(message.compression())?;
        if message.encoding() != Encoding::ArrowIpc {
            return Err(format!("a chunk of unknown encoding {}", message.encoding));
        }
        let Some(id) = message.chunk_id else {
            return Err("a chunk without an id".to_owned());
        };
        let store = StoreKey::from_wire(message.store_id)?;
        let uncompressed_len = match (compression, message.uncompressed_size) {
            // Need not be stated: nothing was compressed.
            (Compression::None, 0) => message.payload.len() as u64,
            (_, size) => size,
        };
        let encoded = EncodedChunk {
            segment: SegmentId::from(Arc::clone(&store.recording)),
            id: ChunkId::from_parts(id.time_ns(), id.inc()),
            compression,
            uncompressed_len,
            payload: message.payload,
        };
        Ok(Self {
            store,
            is_static: message.is_static,
            encoded,
        })
    }
}

/// How a payload is compressed; the reason when that is not known.
pub(crate) fn compression(wire: common::Compression) -> Result<Compression, String> {
    match wire {
        common::Compression::None => Ok(Compression::None),
        common::Compression::Lz4 => Ok(Compression::Lz4),
        common::Compression::Unspecified => Err("compressed in an unknown way".to_owned()),
    }
}
