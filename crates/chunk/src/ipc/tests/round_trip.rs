use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use bytes::Bytes;

use super::super::*;
use super::samples;
use crate::source::Compression;

fn batch_of(arrays: Vec<ArrayRef>) -> RecordBatch {
    let fields = arrays.iter().enumerate().map(|(index, array)| {
        let metadata = [("key".to_owned(), format!("value {index}"))].into();
        Field::new(format!("c{index}"), array.data_type().clone(), true).with_metadata(metadata)
    });
    let metadata = [("schema".to_owned(), "metadata".to_owned())].into();
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata);
    RecordBatch::try_new(schema.into(), arrays).unwrap()
}

fn assert_survives(batch: &RecordBatch) {
    let bytes = write_batch(batch).unwrap();
    let read = read_batch(Buffer::from_slice_ref(&bytes)).unwrap();
    assert_eq!(read.schema(), batch.schema());
    assert_eq!(read.num_rows(), batch.num_rows());
    for (read, written) in read.columns().iter().zip(batch.columns()) {
        let data = read.to_data();
        data.validate_full().unwrap();
        assert_eq!(data, written.to_data(), "{}", written.data_type());
    }
}

#[test]
fn arrays_of_every_type_survive_whole_sliced_and_empty() {
    for array in samples::all() {
        assert_eq!(array.len(), samples::ROWS, "{}", array.data_type());
        for (offset, len) in [(0, 8), (1, 5), (3, 4), (2, 1), (7, 0)] {
            assert_survives(&batch_of(vec![array.slice(offset, len)]));
        }
        assert_survives(&batch_of(vec![Arc::new(samples::listed(&array))]));
    }
}

#[test]
fn columns_of_all_types_stand_side_by_side() {
    assert_survives(&batch_of(samples::all()));
}

#[test]
fn a_stream_may_lie_at_any_address() {
    let batch = batch_of(samples::all());
    let bytes = write_batch(&batch).unwrap();
    for shift in 0..8 {
        let mut padded = vec![0; shift];
        padded.extend(&bytes);
        let read = read_batch(Buffer::from_vec(padded).slice(shift)).unwrap();
        for (read, written) in read.columns().iter().zip(batch.columns()) {
            assert_eq!(read.to_data(), written.to_data(), "{}", written.data_type());
        }
    }
}

#[test]
fn values_are_slices_of_the_stream() {
    let array: ArrayRef = Arc::new(Int32Array::from_iter_values(0..100));
    let stream = Buffer::from_slice_ref(write_batch(&batch_of(vec![array])).unwrap());
    let read = read_batch(stream.clone()).unwrap();
    let values = read.column(0).to_data().buffers()[0].clone();
    assert_eq!(values.data_ptr(), stream.data_ptr());
}

#[test]
fn a_batch_without_columns_keeps_its_rows() {
    let options = RecordBatchOptions::new().with_row_count(Some(12));
    let schema = Arc::new(Schema::empty());
    assert_survives(&RecordBatch::try_new_with_options(schema, vec![], &options).unwrap());
}

#[test]
fn a_stream_without_a_batch_is_an_empty_batch() {
    let metadata: HashMap<_, _> = [("a".to_owned(), "b".to_owned())].into();
    let field = Field::new("x", DataType::Int8, true);
    let schema = Schema::new_with_metadata(vec![field], metadata);
    let bytes = write_schema(&schema).unwrap();
    assert_eq!(read_schema(&bytes).unwrap(), schema);
    let read = read_batch(Buffer::from_vec(bytes)).unwrap();
    assert_eq!((read.num_rows(), &*read.schema()), (0, &schema));
}

#[test]
fn schemas_of_every_type_survive() {
    let schema = batch_of(samples::all()).schema();
    assert_eq!(
        read_schema(&write_schema(&schema).unwrap()).unwrap(),
        *schema
    );
}

#[test]
fn whole_payloads_decompress_to_exactly_what_they_state() {
    let content: Vec<u8> = (0..10_000_u32)
        .flat_map(|v| (v / 100).to_le_bytes())
        .collect();
    let lz4 = Bytes::from(lz4_flex::block::compress(&content));
    let len = content.len() as u64;
    assert_eq!(
        decompress(Compression::Lz4, len, &lz4).unwrap().as_slice(),
        content
    );
    let most = lz4.len() as u64 * 255 + 64;
    for wrong in [
        0,
        len - 1,
        len + 1,
        most,
        most + 1,
        1 << 40,
        i64::MAX as u64,
        u64::MAX,
    ] {
        let error = decompress(Compression::Lz4, wrong, &lz4).unwrap_err();
        assert_eq!(error.kind(), IpcErrorKind::Malformed, "{wrong}");
    }
    let plain = Bytes::from(content);
    for right in [0, len] {
        let buffer = decompress(Compression::None, right, &plain).unwrap();
        assert_eq!(buffer.as_slice(), plain);
    }
    decompress(Compression::None, len + 1, &plain).unwrap_err();
    let shifted = decompress(Compression::None, 0, &plain.slice(1..)).unwrap();
    assert_eq!(shifted.as_ptr().align_offset(8), 0);
    assert_eq!(shifted.as_slice(), &plain[1..]);
}
