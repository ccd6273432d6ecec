//! There and back, and what is no message.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use bytes::Bytes;
use segue_error::ErrorCode;
use segue_proto::common::{self, DataframePart, EncoderVersion};
use segue_proto::log_msg::ArrowMsg;

use super::{decode_request_table, decode_schema, decode_table, encode_schema, encode_table};
use crate::source::{Compression, EncodedChunk};
use crate::testing::ChunkBuilder;

fn table(rows: i64) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let texts: ArrayRef = Arc::new(StringArray::from_iter((0..rows).map(|_| Some("text"))));
    RecordBatch::try_from_iter([("number", numbers), ("text", texts)]).unwrap()
}

#[test]
fn a_table_comes_back_small_or_large() {
    for rows in [0, 1, 1000] {
        let part = encode_table(&table(rows)).unwrap();
        assert_eq!(decode_table(&part).unwrap(), table(rows));
        let compressed = part.compression() == common::Compression::Lz4;
        assert_eq!(compressed, rows == 1000, "{rows}");
    }
}

#[test]
fn a_schema_comes_back_with_its_metadata() {
    let metadata = [("key".to_owned(), "value".to_owned())];
    let field = Field::new("a", DataType::Utf8, true).with_metadata(metadata.clone().into());
    let schema = Schema::new_with_metadata(vec![field], metadata.into());
    let message = encode_schema(&schema).unwrap();
    assert_eq!(decode_schema(&message).unwrap(), schema);
}

#[test]
fn rubbish_is_no_table() {
    let good = encode_table(&table(1000)).unwrap();
    let payload = Bytes::clone(good.payload.as_ref().unwrap());
    let cases = [
        DataframePart {
            payload: None,
            ..good.clone()
        },
        DataframePart {
            payload: Some(payload.slice(..50)),
            ..good.clone()
        },
        DataframePart {
            payload: Some(Bytes::new()),
            ..good.clone()
        },
        DataframePart {
            uncompressed_size: u64::MAX,
            ..good.clone()
        },
        DataframePart {
            uncompressed_size: 1,
            ..good.clone()
        },
        DataframePart {
            compression: 0,
            ..good.clone()
        },
        DataframePart {
            compression: 9,
            ..good.clone()
        },
    ];
    for part in cases {
        let error = decode_table(&part).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
        let error = decode_request_table(&part, u64::MAX).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{error}");
    }
    let unknown = DataframePart {
        encoder_version: EncoderVersion::Unspecified.into(),
        ..good
    };
    assert_eq!(
        decode_table(&unknown).unwrap_err().code(),
        ErrorCode::Unsupported
    );
    let none = common::Schema { arrow_schema: None };
    assert_eq!(
        decode_schema(&none).unwrap_err().code(),
        ErrorCode::InvalidResponse
    );
}

#[test]
fn a_table_of_a_request_may_take_what_it_is_allowed() {
    for rows in [1, 1000] {
        let part = encode_table(&table(rows)).unwrap();
        let size = part.uncompressed_size;
        assert_eq!(decode_request_table(&part, size).unwrap(), table(rows));
        let error = decode_request_table(&part, size - 1).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
        assert!(error.message().contains(&size.to_string()), "{error}");
    }
}

#[test]
fn a_chunk_comes_back_without_a_copy() {
    let chunk = ChunkBuilder::new("s", "/a")
        .sequence("frame", [1])
        .floats("x", [Some(1.0)])
        .build();
    for compression in [Compression::None, Compression::Lz4] {
        let encoded = EncodedChunk::from_chunk(&chunk, compression).unwrap();
        let message = encoded.clone().into_wire(Some("app"), false);
        assert_eq!(message.payload.as_ptr(), encoded.payload.as_ptr());
        assert_eq!(message.is_static, Some(false));
        let application = &message.store_id.as_ref().unwrap().application_id;
        assert_eq!(application.as_ref().unwrap().id, "app");
        assert_eq!(EncodedChunk::from_wire(message).unwrap(), encoded);
    }
}

#[test]
fn a_message_without_its_parts_is_no_chunk() {
    let chunk = ChunkBuilder::new("s", "/a")
        .floats("x", [Some(1.0)])
        .build();
    let encoded = EncodedChunk::from_chunk(&chunk, Compression::None).unwrap();
    let good = encoded.into_wire(None, true);
    let mut blueprint = good.clone();
    blueprint.store_id.as_mut().unwrap().kind = common::StoreKind::Blueprint.into();
    let cases = [
        ArrowMsg {
            store_id: None,
            ..good.clone()
        },
        ArrowMsg {
            chunk_id: None,
            ..good.clone()
        },
        ArrowMsg {
            encoding: 0,
            ..good.clone()
        },
        ArrowMsg {
            compression: 7,
            ..good
        },
        blueprint,
    ];
    for message in cases {
        let error = EncodedChunk::from_wire(message).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
    }
}
