use std::collections::HashMap;

use arrow::datatypes::{DataType, Field, Schema};
use segue_error::ErrorCode;

use super::*;

fn list(item: DataType, nullable: bool) -> DataType {
    DataType::List(Field::new("item", item, nullable).into())
}

fn data(entity: &str, component: &str, data_type: DataType, extra: &[&str]) -> Field {
    let mut metadata: HashMap<String, String> = [
        (keys::KIND, "data"),
        (keys::ENTITY_PATH, entity),
        (keys::COMPONENT, component),
    ]
    .map(|(k, v)| (k.to_owned(), v.to_owned()))
    .into();
    metadata.extend(extra.iter().map(|k| ((*k).to_owned(), "true".to_owned())));
    Field::new("x", data_type, true).with_metadata(metadata)
}

fn index(name: &str, data_type: DataType) -> Field {
    let metadata = [(keys::KIND, "index"), (keys::INDEX_NAME, name)];
    let metadata = metadata.map(|(k, v)| (k.to_owned(), v.to_owned()));
    Field::new(name, data_type, true).with_metadata(metadata.into())
}

fn merged(fields: Vec<Field>) -> segue_error::Result<DatasetSchema> {
    DatasetSchema::from_arrow(&Schema::new(fields))
}

#[test]
fn columns_come_in_canonical_order_whatever_the_order_given() {
    let float = || list(DataType::Float64, true);
    let schema = merged(vec![
        data("/__properties", "a", float(), &[]),
        data("/b", "a", float(), &[]),
        index("frame", DataType::Int64),
        data("/a", "z", float(), &[]),
        index("time", crate::TimeKind::Timestamp.data_type()),
        index("elapsed", crate::TimeKind::Duration.data_type()),
        data("/a", "y", float(), &[]),
    ])
    .unwrap();
    let names: Vec<_> = schema.components.iter().map(|c| c.column_name()).collect();
    assert_eq!(names, ["/a:y", "/a:z", "/b:a", "property:a"]);
    let names: Vec<_> = schema.timelines.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["elapsed", "time", "frame"]);
}

#[test]
fn flags_and_nullability_of_equal_columns_add_up() {
    let schema = merged(vec![
        data(
            "/a",
            "x",
            list(DataType::Float64, false),
            &[keys::IS_SEMANTICALLY_EMPTY],
        ),
        data("/a", "x", list(DataType::Float64, true), &[keys::IS_STATIC]),
    ])
    .unwrap();
    let [column] = &schema.components[..] else {
        panic!("one column")
    };
    assert!(column.is_static && !column.is_semantically_empty);
    assert_eq!(column.data_type, list(DataType::Float64, true));
}

#[test]
fn a_field_survives_the_way_to_a_column_and_back() {
    let field = data("/a", "x", list(DataType::Utf8, true), &[keys::IS_STATIC]);
    let column = ComponentColumn::from_field(&field, None).unwrap();
    assert_eq!(column.field().metadata(), field.metadata());
    assert_eq!(column.field().name(), "/a:x");
}

#[test]
fn unequal_types_of_one_column_are_a_conflict_that_names_it() {
    let error = merged(vec![
        data("/a", "x", list(DataType::Float64, true), &[]),
        data("/a", "x", list(DataType::Int64, true), &[]),
    ])
    .unwrap_err();
    assert_eq!(error.code(), ErrorCode::SchemaConflict);
    assert!(error.to_string().contains("'/a:x'"), "{error}");

    let kinds = vec![
        index("t", DataType::Int64),
        index("t", crate::TimeKind::Timestamp.data_type()),
    ];
    assert_eq!(merged(kinds).unwrap_err().code(), ErrorCode::SchemaConflict);
}

#[test]
fn types_that_no_column_can_have_are_refused() {
    let bad = [
        index("t", DataType::Utf8),
        data("/a", "x", DataType::Int64, &[]),
    ];
    for field in bad {
        assert_eq!(
            merged(vec![field]).unwrap_err().code(),
            ErrorCode::Unsupported
        );
    }
}
