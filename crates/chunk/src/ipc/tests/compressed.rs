//! Compressed buffers within a batch.

use std::sync::Arc;

use arrow::array::{Array, Int32Array};
use arrow::buffer::Buffer;
use arrow::record_batch::RecordBatch;
use arrow_ipc::CompressionType;

use super::super::*;
use super::rewrite::{compress, frame, prefixed, rewrite};
use super::samples;

fn numbers() -> Vec<i32> {
    (0..20_000).map(|v| v / 50).collect()
}

/// A stream of one column of numbers, whose buffer of values is `buffer`.
fn with_values(buffer: &[u8]) -> Result<RecordBatch, IpcError> {
    let column = Arc::new(Int32Array::from(numbers())) as _;
    let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
    let bytes = rewrite(&write_batch(&batch).unwrap(), |parts| {
        parts.codec = Some(CompressionType::LZ4_FRAME);
        parts.buffers = vec![Vec::new(), buffer.to_vec()];
    });
    read_batch(Buffer::from_vec(bytes))
}

fn raw() -> Vec<u8> {
    numbers().into_iter().flat_map(i32::to_le_bytes).collect()
}

#[test]
fn compressed_buffers_of_every_type_are_read() {
    for array in samples::all() {
        let batch = RecordBatch::try_from_iter([("x", Arc::clone(&array))]).unwrap();
        let bytes = rewrite(&write_batch(&batch).unwrap(), compress);
        let read = read_batch(Buffer::from_vec(bytes)).unwrap();
        assert_eq!(
            read.column(0).to_data(),
            array.to_data(),
            "{}",
            array.data_type()
        );
    }
}

#[test]
fn compressed_buffers_are_refused_where_they_must_not_be() {
    for array in samples::all() {
        let batch = RecordBatch::try_from_iter([("x", Arc::clone(&array))]).unwrap();
        let plain = write_batch(&batch).unwrap();
        let bytes = rewrite(&plain, compress);
        assert!(read_plain_batch(Buffer::from_vec(plain)).is_ok());
        let error = read_plain_batch(Buffer::from_vec(bytes)).unwrap_err();
        assert!(error.to_string().contains("compressed"), "{error}");
    }
}

#[test]
fn frames_of_every_kind_are_read() {
    for kind in 1..4 {
        let read = with_values(&prefixed(raw().len() as i64, &frame(&raw(), kind))).unwrap();
        assert_eq!(
            read.column(0).to_data(),
            Int32Array::from(numbers()).to_data()
        );
    }
}

#[test]
fn a_length_of_minus_one_marks_plain_bytes() {
    let read = with_values(&prefixed(-1, &raw())).unwrap();
    assert_eq!(
        read.column(0).to_data(),
        Int32Array::from(numbers()).to_data()
    );
}

#[test]
fn a_cut_length_prefix_is_an_error() {
    let whole = prefixed(raw().len() as i64, &frame(&raw(), 1));
    for len in 0..8 {
        let error = with_values(&whole[..len]).unwrap_err();
        assert_eq!(error.kind(), IpcErrorKind::Malformed, "{len}");
    }
}

#[test]
fn lengths_other_than_the_true_one_are_errors() {
    let real = raw().len() as i64;
    for kind in 1..4 {
        for stated in [-2, i64::MIN, 0, 1, real - 1, real + 1, 1 << 40, i64::MAX] {
            let error = with_values(&prefixed(stated, &frame(&raw(), kind))).unwrap_err();
            assert_eq!(error.kind(), IpcErrorKind::Malformed, "{stated} in {kind}");
        }
    }
}

#[test]
fn a_frame_that_is_cut_is_an_error() {
    for kind in 1..4 {
        let frame = frame(&raw(), kind);
        for len in (0..frame.len()).rev().take(12).chain(0..24) {
            let read = with_values(&prefixed(raw().len() as i64, &frame[..len]));
            assert!(read.is_err(), "kind {kind} cut at {len} of {}", frame.len());
        }
    }
}

#[test]
fn checksums_are_checked() {
    let whole = frame(&raw(), 2);
    for at in (0..whole.len()).rev().take(64).chain(0..64) {
        let mut bad = whole.clone();
        bad[at] ^= 0x10;
        let error = with_values(&prefixed(raw().len() as i64, &bad)).unwrap_err();
        assert_eq!(error.kind(), IpcErrorKind::Malformed, "byte {at}");
    }
}

#[test]
fn what_follows_a_frame_is_an_error_unless_it_is_padding() {
    let whole = prefixed(raw().len() as i64, &frame(&raw(), 1));
    let followed = |by: &[u8]| with_values(&[&whole, by].concat());
    followed(&[0; 7]).unwrap();
    followed(&[0, 1]).unwrap_err();
    followed(&frame(&raw(), 1)).unwrap_err();
}

#[test]
fn overlapping_buffers_cannot_multiply_what_is_taken() {
    let zeros = vec![0; 4 << 20];
    let bomb = prefixed(zeros.len() as i64, &frame(&zeros, 1));
    let columns = (0..400).map(|i| (i.to_string(), Arc::new(Int32Array::from(vec![0])) as _));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = rewrite(&write_batch(&batch).unwrap(), |parts| {
        parts.codec = Some(CompressionType::LZ4_FRAME);
        parts.buffers = vec![Vec::new(), bomb.clone()];
        parts.nodes = vec![(1, 0)];
    });
    let one = read_batch(Buffer::from_slice_ref(&bytes)).unwrap_err();
    assert!(one.to_string().contains("node is missing"), "{one}");
    bytes = rewrite(&write_batch(&batch).unwrap(), |parts| {
        parts.codec = Some(CompressionType::LZ4_FRAME);
        parts.buffers = vec![bomb.clone()];
        parts.spans = Some([(0, 0), (0, bomb.len() as i64)].repeat(400));
    });
    let error = read_batch(Buffer::from_vec(bytes)).unwrap_err();
    assert!(
        error.to_string().contains("than the body can hold"),
        "{error}"
    );
}

#[test]
fn other_codecs_are_unsupported() {
    let batch = RecordBatch::try_from_iter([("x", samples::all().swap_remove(0))]).unwrap();
    let bytes = rewrite(&write_batch(&batch).unwrap(), |parts| {
        parts.codec = Some(CompressionType::ZSTD);
    });
    let error = read_batch(Buffer::from_vec(bytes)).unwrap_err();
    assert_eq!(error.kind(), IpcErrorKind::Unsupported);
}
