//! The message that asks for chunks.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, FixedSizeBinaryArray, RecordBatch, StringArray, UInt64Array,
};
use segue_chunk::ChunkInfo;
use segue_chunk::wire::encode_table;
use segue_error::{Error, ErrorCode, Result};
use segue_proto::cloud::FetchChunksRequest;

/// Asks for `chunks`: their rows of the plan, with the columns that servers need.
pub(super) fn message(chunks: &[ChunkInfo]) -> Result<FetchChunksRequest> {
    let ids = chunks.iter().map(|chunk| chunk.id.to_be_bytes());
    let ids = FixedSizeBinaryArray::try_from_iter(ids).map_err(broken)?;
    let keys = chunks.iter().map(|chunk| &chunk.key);
    let segments = chunks.iter().map(|chunk| chunk.segment.as_str());
    let layers = chunks.iter().map(|chunk| &*chunk.layer);
    let lengths = chunks.iter().map(|chunk| chunk.byte_len);
    let columns: [(&str, ArrayRef); 5] = [
        ("chunk_key", Arc::new(BinaryArray::from_iter_values(keys))),
        ("chunk_id", Arc::new(ids)),
        (
            "chunk_segment_id",
            Arc::new(StringArray::from_iter_values(segments)),
        ),
        (
            "rerun_segment_layer",
            Arc::new(StringArray::from_iter_values(layers)),
        ),
        (
            "chunk_byte_len",
            Arc::new(UInt64Array::from_iter_values(lengths)),
        ),
    ];
    let not_null = columns.map(|(name, column)| (name, column, false));
    let batch = RecordBatch::try_from_iter_with_nullable(not_null).map_err(broken)?;
    Ok(FetchChunksRequest {
        chunk_infos: vec![encode_table(&batch)?],
    })
}

/// Columns of one length that are not null always make a batch, if there is a row.
fn broken(error: arrow::error::ArrowError) -> Error {
    let message = format!("a request for chunks cannot be made: {error}");
    Error::new(ErrorCode::Invariant, "client.fetch", message).with_source(error)
}

#[cfg(test)]
mod tests {
    use segue_chunk::wire::decode_table;

    use super::*;
    use crate::fetch::expected::tests::info;

    #[test]
    fn a_request_names_every_chunk_by_its_key() {
        let message = message(&[info(1, 10), info(2, 20)]).unwrap();
        let table = decode_table(&message.chunk_infos[0]).unwrap();
        assert_eq!((table.num_rows(), table.num_columns()), (2, 5));
        let schema = table.schema();
        assert!(schema.fields().iter().all(|field| !field.is_nullable()));
        assert!(schema.field_with_name("chunk_key").is_ok());
    }
}
