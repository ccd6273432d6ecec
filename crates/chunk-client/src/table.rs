//! Tables in answers.

use arrow::array::RecordBatch;
use segue_chunk::wire::decode_table;
use segue_error::{Error, ErrorCode, Result};
use segue_proto::common::DataframePart;

/// Largest table of an answer once it is decompressed, in bytes: a few million chunks or segments.
const MAX_TABLE: u64 = 1024 * 1024 * 1024;

/// The table that `part` holds. `invalid_response` when it is none or too large, `unsupported` when it is
/// encoded in a way that is not known.
pub(crate) fn read(part: &DataframePart) -> Result<RecordBatch> {
    let len = part.uncompressed_size;
    if len > MAX_TABLE {
        let message = format!(
            "the server's answer has a table of {len} bytes; {MAX_TABLE} are the most that is read"
        );
        return Err(Error::new(
            ErrorCode::InvalidResponse,
            "client.table",
            message,
        ));
    }
    decode_table(part)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use segue_chunk::wire::encode_table;

    use super::*;

    #[test]
    fn a_table_may_be_large_but_not_huge() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let table = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let part = encode_table(&table).unwrap();
        assert_eq!(read(&part).unwrap(), table);
        let huge = DataframePart {
            uncompressed_size: MAX_TABLE + 1,
            ..part
        };
        let error = read(&huge).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidResponse);
        assert!(error.message().contains("1073741825"), "{error}");
    }
}
