//! Chunks whose own bytes say something wrong of them.

use arrow::array::Int64Array;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use segue_error::ErrorCode;

use super::*;
use crate::ipc;
use crate::schema::keys;

type Columns = Vec<(Field, ArrayRef)>;

/// The chunk with its columns and the metadata of its schema changed on the wire.
fn changed(
    change: impl FnOnce(&mut Columns, &mut std::collections::HashMap<String, String>),
) -> Result<Chunk> {
    let chunk = chunk();
    let encoded = encode(&chunk);
    let batch = ipc::read_batch(encoded.payload.to_vec().into()).unwrap();
    let schema = batch.schema();
    let fields = schema.fields().iter().map(|f| Field::clone(f));
    let mut columns: Columns = fields.zip(batch.columns().iter().cloned()).collect();
    let mut metadata = schema.metadata().clone();
    change(&mut columns, &mut metadata);
    let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let schema = Schema::new_with_metadata(fields, metadata);
    let batch = RecordBatch::try_new(schema.into(), columns).unwrap();
    let payload: Bytes = ipc::write_batch(&batch).unwrap().into();
    let uncompressed_len = payload.len() as u64;
    let encoded = EncodedChunk {
        payload,
        uncompressed_len,
        ..encoded
    };
    let unannounced = decode_unannounced(&encoded).map(|(chunk, _)| chunk);
    let decoded = decoder(&chunk).decode(&info(&chunk, &encoded), &encoded);
    assert_eq!(decoded.is_ok(), unannounced.is_ok());
    decoded
}

#[track_caller]
fn assert_corrupt(
    change: impl FnOnce(&mut Columns, &mut std::collections::HashMap<String, String>),
    says: &str,
) {
    let error = changed(change).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ChunkCorrupt);
    assert!(error.to_string().contains(says), "{error}");
}

fn set(field: &mut Field, key: &str, value: &str) {
    let mut metadata = field.metadata().clone();
    metadata.insert(key.to_owned(), value.to_owned());
    field.set_metadata(metadata);
}

#[test]
fn an_id_may_stand_without_its_prefix() {
    let id = chunk().id().to_string();
    changed(|_, metadata| drop(metadata.insert(keys::CHUNK_ID.to_owned(), id))).unwrap();
}

#[test]
fn id_and_entity_must_be_there_and_right() {
    for key in [keys::CHUNK_ID, keys::ENTITY_PATH] {
        assert_corrupt(
            |_, metadata| drop(metadata.remove(key)),
            &format!("'{key}' is missing"),
        );
    }
    for (id, says) in [
        ("chunk_12", "is no id"),
        ("chunk_000000000000001100000000000000ff", "came"),
    ] {
        assert_corrupt(
            |_, m| drop(m.insert(keys::CHUNK_ID.to_owned(), id.to_owned())),
            says,
        );
    }
}

#[test]
fn row_ids_must_be_there_once_and_wide_enough() {
    assert_corrupt(|columns, _| drop(columns.remove(0)), "it has no row ids");
    assert_corrupt(
        |columns, _| columns.push(columns[0].clone()),
        "row ids stand twice",
    );
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let narrow = |columns: &mut Columns| {
        columns[0].0.set_data_type(DataType::Int64);
        columns[0].1 = numbers;
    };
    assert_corrupt(|columns, _| narrow(columns), "16 bytes wide");
}

#[test]
fn index_values_must_be_there_and_of_a_known_type() {
    let with_null: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, Some(5)]));
    assert_corrupt(
        |columns, _| columns[1].1 = with_null,
        "an index value is null",
    );
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let as_texts = |columns: &mut Columns| {
        columns[1].0.set_data_type(DataType::Utf8);
        columns[1].1 = texts;
    };
    assert_corrupt(|columns, _| as_texts(columns), "which no timeline has");
    assert_corrupt(
        |columns, _| columns.push(columns[1].clone()),
        "stands twice",
    );
}

#[test]
fn components_must_be_lists_with_a_name_and_of_the_chunks_entity() {
    let flat: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let flatten = |columns: &mut Columns| {
        columns[4].0.set_data_type(DataType::Int64);
        columns[4].1 = flat;
    };
    assert_corrupt(|columns, _| flatten(columns), "where a list is wanted");
    let rename = |field: &mut Field, key: &str| {
        let mut metadata = field.metadata().clone();
        metadata.remove(key);
        field.set_metadata(metadata);
    };
    assert_corrupt(
        |columns, _| rename(&mut columns[4].0, keys::COMPONENT),
        "names no component",
    );
    let elsewhere = |columns: &mut Columns| set(&mut columns[4].0, keys::ENTITY_PATH, "/else");
    assert_corrupt(|columns, _| elsewhere(columns), "of entity '/else'");
    assert_corrupt(
        |columns, _| columns.push(columns[4].clone()),
        "stands twice",
    );
}

#[test]
fn kinds_may_be_missing_or_in_earlier_words_but_not_unknown() {
    let earlier = |columns: &mut Columns| {
        for (index, kind) in ["row_id", "time", "time", "time", "component"]
            .iter()
            .enumerate()
        {
            set(&mut columns[index].0, keys::KIND, kind);
        }
        let last = &mut columns[5].0;
        let mut metadata = last.metadata().clone();
        metadata.remove(keys::KIND);
        last.set_metadata(metadata);
    };
    assert_same(&changed(|columns, _| earlier(columns)).unwrap(), &chunk());
    let unknown = |columns: &mut Columns| set(&mut columns[4].0, keys::KIND, "banana");
    assert_corrupt(|columns, _| unknown(columns), "kind 'banana'");
    let bare = |columns: &mut Columns| columns[1].0.set_metadata(Default::default());
    assert_corrupt(|columns, _| bare(columns), "its kind is missing");
}

#[test]
fn a_chunk_cut_anywhere_is_an_error() {
    let chunk = chunk();
    let encoded = encode(&chunk);
    let info = info(&chunk, &encoded);
    let decoder = decoder(&chunk);
    for len in 0..encoded.payload.len() {
        let payload = encoded.payload.slice(..len);
        for uncompressed_len in [0, len as u64] {
            let cut = EncodedChunk {
                payload: payload.clone(),
                uncompressed_len,
                ..encoded.clone()
            };
            assert!(decoder.decode(&info, &cut).is_err(), "{len}");
        }
    }
}
