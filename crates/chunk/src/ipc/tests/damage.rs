//! Streams that contradict themselves.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray, Int8Array,
    Int32Array, ListArray, NullArray, StringArray, StructArray,
};
use arrow::buffer::{Buffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Int32Type, Schema};
use arrow::record_batch::RecordBatch;

use super::super::*;
use super::rewrite::{Parts, rewrite};
use super::samples;

fn numbers() -> RecordBatch {
    let column = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef;
    RecordBatch::try_from_iter([("number", column)]).unwrap()
}

fn edited(batch: &RecordBatch, edit: impl FnMut(&mut Parts)) -> Result<RecordBatch, IpcError> {
    read_batch(Buffer::from_vec(rewrite(
        &write_batch(batch).unwrap(),
        edit,
    )))
}

#[track_caller]
fn assert_malformed(edit: impl FnMut(&mut Parts), says: &str) {
    let error = edited(&numbers(), edit).unwrap_err();
    assert_eq!(error.kind(), IpcErrorKind::Malformed);
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn a_stream_cut_anywhere_but_before_its_end_marker_is_an_error() {
    let bytes = write_batch(&numbers()).unwrap();
    for len in 0..bytes.len() {
        let read = read_batch(Buffer::from_slice_ref(&bytes[..len]));
        let at_end = len == bytes.len() - 8;
        // Cut after the schema it is a stream without a batch.
        let is_empty = read.as_ref().is_ok_and(|batch| batch.num_rows() == 0);
        assert!(
            read.is_err() || at_end || is_empty,
            "{len} of {}",
            bytes.len()
        );
    }
}

#[test]
fn only_zeros_may_follow_the_end_marker() {
    let mut bytes = write_batch(&numbers()).unwrap();
    bytes.extend([0; 100]);
    read_batch(Buffer::from_slice_ref(&bytes)).unwrap();
    bytes.push(1);
    let error = read_batch(Buffer::from_vec(bytes)).unwrap_err();
    assert!(
        error.to_string().contains("bytes follow the end"),
        "{error}"
    );
}

#[test]
fn two_batches_are_an_error() {
    assert_malformed(|parts| parts.times = 2, "more than one record batch");
}

#[test]
fn stated_nulls_must_be_those_of_the_bitmap() {
    for stated in [0, 2, 3] {
        assert_malformed(|parts| parts.nodes[0].1 = stated, "nulls are stated");
    }
    assert_malformed(|parts| parts.buffers[0].clear(), "nulls are stated");
    assert_malformed(|parts| parts.nodes[0].1 = -1, "-1 elements");
}

#[test]
fn lengths_must_agree_with_each_other_and_the_buffers() {
    for len in [-1, i64::MAX, 1 << 31] {
        assert_malformed(|parts| parts.nodes[0].0 = len, "elements");
        assert_malformed(|parts| parts.rows = len, "elements");
    }
    assert_malformed(|parts| parts.rows = 4, "3 values in a batch of 4 rows");
    assert_malformed(|parts| parts.buffers[1].truncate(11), "11 of 12 bytes");
    assert_malformed(|parts| parts.nodes[0].0 = 1 << 20, "bytes");
}

#[test]
fn values_without_bytes_are_no_more_than_a_body_of_the_size_may_hold() {
    let none = FixedSizeListArray::try_new_with_length(
        Field::new_list_field(DataType::Int8, true).into(),
        0,
        Arc::new(Int8Array::new_null(0)),
        None,
        3,
    );
    let items: [ArrayRef; 4] = [
        Arc::new(NullArray::new(3)),
        Arc::new(none.unwrap()),
        Arc::new(StructArray::new_empty_fields(3, None)),
        Arc::new(FixedSizeBinaryArray::new(0, Buffer::default(), None)),
    ];
    for items in items {
        let what = items.data_type().clone();
        let field = Field::new_list_field(what.clone(), true);
        let offsets = OffsetBuffer::from_lengths([items.len()]);
        let list = ListArray::new(field.into(), offsets, items, None);
        let batch = RecordBatch::try_from_iter([("x", Arc::new(list) as ArrayRef)]).unwrap();
        let announce = |len: i32| {
            edited(&batch, |parts| {
                parts.nodes[1].0 = len.into();
                if parts.nodes[1].1 != 0 {
                    parts.nodes[1].1 = len.into();
                }
                parts.buffers[1][4..8].copy_from_slice(&len.to_le_bytes());
            })
        };
        assert_eq!(announce(1 << 16).unwrap().num_rows(), 1, "{what}");
        for len in [(1 << 16) + 1, i32::MAX] {
            let error = announce(len).unwrap_err();
            assert_eq!(error.kind(), IpcErrorKind::Unsupported, "{what}");
            assert!(
                error.to_string().contains("without bytes"),
                "{what}: {error}"
            );
        }
    }
}

#[test]
fn buffers_must_lie_within_the_body() {
    for span in [
        (-8, 12),
        (0, -1),
        (0, 1 << 40),
        (i64::MAX, 8),
        (i64::MAX, i64::MAX),
        (128, 12),
    ] {
        assert_malformed(
            |parts| parts.spans = Some(vec![(0, 1), span]),
            "lies outside the body",
        );
    }
}

#[test]
fn every_node_and_buffer_must_be_there_and_belong_to_a_column() {
    assert_malformed(
        |parts| parts.nodes.push((0, 0)),
        "a node belongs to no column",
    );
    assert_malformed(
        |parts| parts.buffers.push(vec![]),
        "a buffer belongs to no column",
    );
    assert_malformed(
        |parts| parts.variadic.push(0),
        "a buffer count belongs to no column",
    );
    assert_malformed(|parts| parts.nodes.clear(), "a node is missing");
    assert_malformed(|parts| parts.buffers.truncate(1), "a buffer is missing");
}

#[test]
fn bytes_that_are_no_text_are_an_error() {
    let column = Arc::new(StringArray::from(vec!["abc", "def"])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
    let error = edited(&batch, |parts| parts.buffers[2][1] = 0xff).unwrap_err();
    assert!(error.to_string().contains("column 'text'"), "{error}");
    let descending = |parts: &mut Parts| parts.buffers[1][4..8].copy_from_slice(&[9, 0, 0, 0]);
    edited(&batch, descending).unwrap_err();
}

#[test]
fn nulls_in_a_column_that_has_none_are_an_error() {
    let field = Field::new("number", DataType::Int32, false);
    let column = Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef;
    let batch = RecordBatch::try_new(Schema::new(vec![field]).into(), vec![column]).unwrap();
    edited(&batch, |_| {}).unwrap();
    let error = edited(&batch, |parts| {
        parts.nodes[0].1 = 1;
        parts.buffers[0] = vec![0b101];
    });
    assert!(error.unwrap_err().to_string().contains("non-nullable"));
}

#[test]
fn dictionaries_come_once_whole_and_before_their_use() {
    let column: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
    let batch = RecordBatch::try_from_iter([("word", Arc::new(column) as ArrayRef)]).unwrap();
    let dictionary = |edit: fn(&mut Parts)| {
        let edit = |parts: &mut Parts| {
            if parts.dictionary.is_some() {
                edit(parts)
            }
        };
        edited(&batch, edit).unwrap_err()
    };
    let unsupported = |edit| {
        let error = dictionary(edit);
        assert_eq!(error.kind(), IpcErrorKind::Unsupported, "{error}");
    };
    unsupported(|parts| parts.times = 2);
    unsupported(|parts| parts.dictionary = parts.dictionary.map(|(id, _)| (id, true)));
    let missing = dictionary(|parts| parts.times = 0);
    assert!(
        missing.to_string().contains("dictionary is missing"),
        "{missing}"
    );
    let stranger = dictionary(|parts| parts.dictionary = Some((77, false)));
    assert!(
        stranger.to_string().contains("no column uses it"),
        "{stranger}"
    );
    let keys = edited(&batch, |parts| {
        if parts.dictionary.is_none() {
            parts.buffers[1][0] = 2;
        }
    });
    assert!(keys.unwrap_err().to_string().contains("out of bounds"));
}

#[test]
fn nesting_is_bounded() {
    let nest = |depth: usize| {
        let inner = DataType::Int8;
        (0..depth).fold(inner, |item, _| {
            DataType::List(Field::new_list_field(item, true).into())
        })
    };
    let schema = |depth| Schema::new(vec![Field::new("deep", nest(depth), true)]);
    let shallow = schema(40);
    assert_eq!(
        read_schema(&write_schema(&shallow).unwrap()).unwrap(),
        shallow
    );
    let error = read_schema(&write_schema(&schema(50)).unwrap()).unwrap_err();
    assert_eq!(error.kind(), IpcErrorKind::Unsupported);
    read_schema(&write_schema(&schema(500)).unwrap()).unwrap_err();
}

#[test]
fn long_names_do_not_make_long_errors() {
    let column = samples::all().swap_remove(0);
    let batch = RecordBatch::try_from_iter([("ü".repeat(5000), column)]).unwrap();
    let error = edited(&batch, |parts| parts.nodes[0].1 += 1).unwrap_err();
    assert!(error.to_string().len() < 400);
}

#[test]
fn list_views_are_unsupported() {
    let field = Field::new_list_field(DataType::Int8, true);
    let schema = Schema::new(vec![Field::new(
        "x",
        DataType::ListView(field.into()),
        true,
    )]);
    let error = read_schema(&write_schema(&schema).unwrap()).unwrap_err();
    assert_eq!(error.kind(), IpcErrorKind::Unsupported);
}
