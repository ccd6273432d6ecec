//! Parts of plans, right and wrong.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Int64Array, RecordBatch,
    StringArray, TimestampNanosecondArray, UInt64Array, new_null_array,
};
use arrow::compute::take_record_batch;
use segue_chunk::wire::encode_table;
use segue_chunk::{
    ChunkId, ChunkInfo, EntitySelection, Fill, PlanRequest, SegmentId, TimeRange, TimeSelection,
};
use segue_error::{ErrorCode, Result};

use super::columns;
use super::planned::Planned;

const START: &str = "frame:start";

/// A part with two rows: a temporal chunk of `s`, and a static one of `t`.
fn part() -> RecordBatch {
    let ids = [ChunkId::from_parts(0, 1), ChunkId::from_parts(0, 2)];
    let ids = ids.iter().map(|id| id.to_be_bytes());
    let columns: [(&str, ArrayRef); 9] = [
        (
            "chunk_id",
            Arc::new(FixedSizeBinaryArray::try_from_iter(ids).unwrap()),
        ),
        (
            "chunk_segment_id",
            Arc::new(StringArray::from(vec!["s", "t"])),
        ),
        (
            "rerun_segment_layer",
            Arc::new(StringArray::from(vec!["base", "base"])),
        ),
        (
            "chunk_key",
            Arc::new(BinaryArray::from_vec(vec![b"k1", b"k2"])),
        ),
        (
            "chunk_entity_path",
            Arc::new(StringArray::from(vec!["/a", "/b"])),
        ),
        (
            "chunk_is_static",
            Arc::new(BooleanArray::from(vec![false, true])),
        ),
        ("chunk_byte_len", Arc::new(UInt64Array::from(vec![10, 20]))),
        (
            "chunk_byte_size_uncompressed",
            Arc::new(UInt64Array::from(vec![Some(30), None])),
        ),
        (START, Arc::new(Int64Array::from(vec![Some(5), None]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The same part with `column` in place of that called `name`, or without it.
fn with(name: &str, column: Option<ArrayRef>) -> RecordBatch {
    let part = part();
    let schema = part.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let columns = names.zip(part.columns());
    let columns = columns.filter_map(|(own, values)| match own == name {
        true => Some((own, Arc::clone(column.as_ref()?))),
        false => Some((own, Arc::clone(values))),
    });
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Asks for `/a` and `/b` of all segments.
fn request() -> PlanRequest {
    let entity = |path: &str| EntitySelection {
        entity: path.into(),
        components: ["x".into()].into(),
    };
    PlanRequest {
        dataset: "d".into(),
        entities: vec![entity("/a"), entity("/b")],
        segments: None,
        time: TimeSelection::Index {
            index: "frame".into(),
            range: TimeRange::ALL,
            fill: Fill::None,
        },
    }
}

fn planned(request: &PlanRequest, parts: &[RecordBatch]) -> Result<Vec<ChunkInfo>> {
    let mut planned = Planned::new(request, Some(START.to_owned()));
    for part in parts {
        planned.add(&encode_table(part)?)?;
    }
    Ok(planned.finish())
}

#[test]
fn a_row_is_a_chunk() {
    let infos = planned(&request(), &[part()]).unwrap();
    let temporal = ChunkInfo {
        id: ChunkId::from_parts(0, 1),
        segment: "s".into(),
        layer: "base".into(),
        entity: "/a".into(),
        is_static: false,
        byte_len: 10,
        byte_len_uncompressed: Some(30),
        start: Some(5),
        end: None,
        num_rows: None,
        key: b"k1".to_vec().into(),
    };
    let fixed = ChunkInfo {
        id: ChunkId::from_parts(0, 2),
        segment: "t".into(),
        entity: "/b".into(),
        is_static: true,
        byte_len: 20,
        byte_len_uncompressed: None,
        start: None,
        key: b"k2".to_vec().into(),
        ..temporal.clone()
    };
    assert_eq!(infos, [temporal, fixed]);
}

#[test]
fn a_column_that_is_missing_null_or_of_another_type_is_named() {
    let other: ArrayRef = Arc::new(arrow::array::Float32Array::from(vec![0.0, 0.0]));
    for name in columns::ALL {
        let own = Arc::clone(part().column_by_name(name).unwrap());
        let null = new_null_array(own.data_type(), 2);
        let may_be_unknown = name == "chunk_byte_size_uncompressed";
        for (column, is_fine) in [
            (Some(own), true),
            (Some(Arc::clone(&other)), false),
            (Some(null), may_be_unknown),
            (None, may_be_unknown),
        ] {
            let what = format!("{name}: {column:?}");
            match planned(&request(), &[with(name, column)]) {
                Ok(infos) => assert!(is_fine && infos.len() == 2, "{what}"),
                Err(error) => {
                    assert!(!is_fine, "{what}: {error}");
                    assert_eq!(error.code(), ErrorCode::InvalidResponse, "{what}");
                    let quoted = format!("'{name}'");
                    assert!(error.message().contains(&quoted), "{error}");
                }
            }
        }
    }
    let long = FixedSizeBinaryArray::try_from_iter([[0; 17], [1; 17]].iter()).unwrap();
    let error = planned(&request(), &[with("chunk_id", Some(Arc::new(long)))]).unwrap_err();
    assert!(error.message().contains("'chunk_id'"), "{error}");
}

#[test]
fn a_start_may_be_of_any_kind_of_time_and_unknown() {
    let starts = |column: Option<ArrayRef>| -> Result<Vec<Option<i64>>> {
        let infos = planned(&request(), &[with(START, column)])?;
        Ok(infos.iter().map(|info| info.start).collect())
    };
    let time: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![7, 8]));
    // What is static has no time, whatever is said.
    assert_eq!(starts(Some(time)).unwrap(), [Some(7), None]);
    let unknown: ArrayRef = Arc::new(Int64Array::from(vec![None, None]));
    assert_eq!(starts(Some(unknown)).unwrap(), [None, None]);
    assert_eq!(starts(None).unwrap(), [None, None]);
    let text: ArrayRef = Arc::new(StringArray::from(vec!["7", "8"]));
    let error = starts(Some(text)).unwrap_err();
    assert!(error.message().contains("'frame:start'"), "{error}");
}

#[test]
fn a_chunk_that_is_named_again_counts_once_for_its_segment() {
    let empty = part().slice(0, 0);
    let again = take_record_batch(&part(), &UInt64Array::from(vec![1, 0, 0])).unwrap();
    let infos = planned(&request(), &[empty, part(), again]).unwrap();
    assert_eq!(infos.len(), 2);
    // The same id in another segment is another chunk.
    let elsewhere: ArrayRef = Arc::new(StringArray::from(vec!["u", "t"]));
    let elsewhere = with("chunk_segment_id", Some(elsewhere));
    let infos = planned(&request(), &[part(), elsewhere]).unwrap();
    let segments: Vec<&str> = infos.iter().map(|info| info.segment.as_str()).collect();
    assert_eq!(segments, ["s", "t", "u"]);
}

#[test]
fn what_a_server_says_too_much_is_left_out() {
    let segments = |request: &PlanRequest| -> Vec<SegmentId> {
        let infos = planned(request, &[part()]).unwrap();
        infos.into_iter().map(|info| info.segment).collect()
    };
    let mut only = request();
    only.entities.remove(0);
    assert_eq!(segments(&only), ["t".into()]);
    let only = PlanRequest {
        segments: Some(["s".into()].into()),
        ..request()
    };
    assert_eq!(segments(&only), ["s".into()]);
    let only = PlanRequest {
        time: TimeSelection::Static,
        ..request()
    };
    assert_eq!(segments(&only), ["t".into()]);
}
