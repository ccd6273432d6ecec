use arrow::array::Array;
use arrow::datatypes::{DataType, Field};
use segue_error::ErrorCode;

use super::*;

#[track_caller]
fn assert_corrupt(result: Result<Chunk>, says: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ChunkCorrupt);
    assert!(error.to_string().contains(says), "{error}");
    assert!(error.fact("chunk_id").is_some() && error.fact("segment").is_some());
}

fn announced(change: impl FnOnce(&mut ChunkInfo)) -> Result<Chunk> {
    let chunk = chunk();
    let encoded = encode(&chunk);
    let mut info = info(&chunk, &encoded);
    change(&mut info);
    decoder(&chunk).decode(&info, &encoded)
}

#[test]
fn what_is_announced_must_come() {
    let other = ChunkId::from_parts(1, 1);
    assert_corrupt(announced(|info| info.id = other), "id 0000");
    assert_corrupt(
        announced(|info| info.segment = "walk".into()),
        "segment walk is announced",
    );
    assert_corrupt(
        announced(|info| info.entity = "/robot".into()),
        "entity /robot is announced",
    );
    assert_corrupt(
        announced(|info| info.is_static = true),
        "static flag true is announced",
    );
    assert_corrupt(
        announced(|info| info.num_rows = Some(4)),
        "row count 4 is announced, 3 came",
    );
    assert_corrupt(
        announced(|info| info.byte_len_uncompressed = Some(4)),
        "length 4 is announced",
    );
    assert_corrupt(
        announced(|info| info.start = Some(-3)),
        "start -3 is announced, -2 came",
    );
    assert_corrupt(
        announced(|info| info.end = Some(5)),
        "end 5 is announced, 7 came",
    );
}

#[test]
fn what_is_not_announced_is_not_missed() {
    announced(|info| {
        info.num_rows = None;
        info.byte_len_uncompressed = None;
        info.start = None;
        info.end = None;
    })
    .unwrap();
}

#[test]
fn a_range_on_an_index_that_the_chunk_lacks_is_an_error() {
    let chunk = fixed();
    let encoded = encode(&chunk);
    let mut info = info(&chunk, &encoded);
    info.start = Some(0);
    assert_corrupt(
        decoder(&chunk).decode(&info, &encoded),
        "'frame' is announced",
    );
    let without = ChunkDecoder::new(schema(&chunk), None);
    without.decode(&info, &encoded).unwrap();
}

#[test]
fn an_index_that_is_flagged_sorted_need_not_be() {
    let mut parts = chunk().into_parts();
    parts.timelines[0].times = vec![1, 2, 3].into();
    let sorted = encode(&Chunk::try_new(parts).unwrap());
    let values = [1_i64, 2, 3].map(i64::to_le_bytes).concat();
    let at = sorted
        .payload
        .windows(24)
        .position(|w| w == values)
        .unwrap();
    let mut bytes = sorted.payload.to_vec();
    bytes[at..at + 8].copy_from_slice(&9_i64.to_le_bytes());
    let (unsorted, _) = decode_unannounced(&EncodedChunk {
        payload: bytes.into(),
        ..sorted
    })
    .unwrap();
    assert_eq!(unsorted.timelines()[0].bounds(), Some((2, 9)));
}

fn with_schema(change: impl FnOnce(&mut DatasetSchema)) -> Result<Chunk> {
    let chunk = chunk();
    let encoded = encode(&chunk);
    let mut schema = DatasetSchema::clone(&schema(&chunk));
    change(&mut schema);
    let decoder = ChunkDecoder::new(Arc::new(schema), Some("frame".into()));
    decoder.decode(&info(&chunk, &encoded), &encoded)
}

#[test]
fn columns_that_the_dataset_lacks_are_errors() {
    let says = "has a component 'Arm:label' that the dataset schema lacks";
    assert_corrupt(
        with_schema(|s| s.components.retain(|c| &*c.component != "Arm:label")),
        says,
    );
    let elsewhere = |s: &mut DatasetSchema| {
        s.components
            .iter_mut()
            .for_each(|c| c.entity = "/robot".into());
    };
    assert_corrupt(with_schema(elsewhere), "that the dataset schema lacks");
    let says = "has a timeline 'time' (Timestamp) that the dataset schema lacks";
    assert_corrupt(
        with_schema(|s| s.timelines.retain(|t| &*t.name != "time")),
        says,
    );
    let other = |s: &mut DatasetSchema| {
        for timeline in &mut s.timelines {
            timeline.kind = TimeKind::Sequence;
        }
    };
    assert_corrupt(with_schema(other), says);
}

fn list(item: DataType, nullable: bool) -> DataType {
    DataType::List(Field::new("item", item, nullable).into())
}

#[test]
fn values_of_another_type_are_errors() {
    for wrong in [list(DataType::Int64, true), list(DataType::Float32, false)] {
        let result = with_schema(|s| s.components[0].data_type = wrong.clone());
        assert_corrupt(result, "where the dataset schema has");
    }
}

#[test]
fn values_take_the_wider_type_of_the_dataset_and_keep_their_memory() {
    let strict = Field::new("item", DataType::Float32, false);
    let values = Float32Array::from_iter_values([1.0, 2.0, 3.0]);
    let offsets = arrow::buffer::OffsetBuffer::new(vec![0, 1, 1, 3].into());
    let strict = ListArray::new(strict.into(), offsets, Arc::new(values), None);
    let pair = arrow::array::StructArray::from(vec![(
        Arc::new(Field::new("inner", strict.data_type().clone(), false)),
        Arc::new(strict.clone()) as ArrayRef,
    )]);
    let rows = arrow::buffer::OffsetBuffer::new(vec![0, 1, 1, 3].into());
    let row = Field::new("item", pair.data_type().clone(), true);
    let nested = ListArray::new(row.into(), rows, Arc::new(pair), None);
    let chunk = Chunk::try_new(parts(vec![("a", strict), ("b", nested)])).unwrap();

    let wide = list(DataType::Float32, true);
    let inner = Field::new("inner", wide.clone(), true);
    let wider = [wide, list(DataType::Struct(vec![inner].into()), true)];
    let mut declared = DatasetSchema::clone(&schema(&chunk));
    for (column, data_type) in declared.components.iter_mut().zip(&wider) {
        column.data_type = data_type.clone();
    }
    let encoded = encode(&chunk);
    let decoder = ChunkDecoder::new(declared.into(), Some("frame".into()));
    let decoded = decoder.decode(&info(&chunk, &encoded), &encoded).unwrap();
    for (column, data_type) in decoded.components().iter().zip(&wider) {
        assert_eq!(column.values.data_type(), data_type);
        column.values.to_data().validate_full().unwrap();
    }
    let read = decode_unannounced(&encoded).unwrap().0;
    let original = read.component("a").unwrap().values().to_data();
    let widened = decoded.component("a").unwrap().values().to_data();
    assert_eq!(original, widened);
}

#[test]
fn the_number_below_the_earliest_time_is_the_earliest_time() {
    let mut parts = chunk().into_parts();
    parts.timelines[0].times = vec![i64::MIN, 2, 3].into();
    let index = Arc::clone(&parts.timelines[0].timeline.name);
    let chunk = Chunk::try_new(parts).unwrap();
    let encoded = encode(&chunk);
    for announced in [i64::MIN, i64::MIN + 1] {
        let mut info = info(&chunk, &encoded);
        (info.start, info.end) = (Some(announced), Some(3));
        let decoder = ChunkDecoder::new(schema(&chunk), Some(Arc::clone(&index)));
        let decoded = decoder.decode(&info, &encoded).unwrap();
        assert_eq!(decoded.timelines()[0].times[..], [i64::MIN + 1, 2, 3]);
    }
}
