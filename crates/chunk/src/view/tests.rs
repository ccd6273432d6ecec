//! Which columns a view has.

use segue_error::ErrorCode;

use super::*;
use crate::contents::Contents;
use crate::model::TimeKind;

fn column(entity: &str, component: &str) -> ComponentColumn {
    let item = Field::new("item", DataType::Int64, true)
        .with_metadata(HashMap::from([("key".to_owned(), "value".to_owned())]));
    ComponentColumn {
        entity: entity.into(),
        component: component.into(),
        archetype: None,
        component_type: None,
        data_type: DataType::List(item.into()),
        is_static: false,
        is_tombstone: false,
        is_semantically_empty: false,
    }
}

/// Columns called after what is special about them.
fn dataset() -> DatasetSchema {
    let marked = |name: &str| column("/a", name);
    let mut components = vec![
        marked("plain"),
        ComponentColumn {
            is_static: true,
            ..marked("static")
        },
        ComponentColumn {
            is_semantically_empty: true,
            ..marked("empty")
        },
        ComponentColumn {
            is_tombstone: true,
            is_semantically_empty: true,
            ..marked(keys::CLEAR_COMPONENT)
        },
        column("/a", "TextLog:text"),
        column("/__properties", "name"),
    ];
    components.sort();
    DatasetSchema {
        timelines: vec![Timeline::new("frame", TimeKind::Sequence)],
        components,
    }
}

fn names(options: &ViewOptions) -> Vec<String> {
    let view = View::resolve(&dataset(), Some("frame"), options).unwrap();
    let fields = view.schema().fields().iter();
    let names = fields.map(|field| field.name().replace("/a:", ""));
    names.skip(1).collect()
}

#[test]
fn columns_are_there_by_what_they_are() {
    let options = ViewOptions::default;
    let usual = ["frame", "TextLog:text", "plain", "static"];
    assert_eq!(names(&options()), usual);
    let only = |static_columns| ViewOptions {
        static_columns,
        ..options()
    };
    assert_eq!(names(&only(StaticColumns::Only)), ["frame", "static"]);
    let temporal = ["frame", "TextLog:text", "plain"];
    assert_eq!(names(&only(StaticColumns::None)), temporal);
    let empty = ViewOptions {
        empty_columns: true,
        ..options()
    };
    let with_empty = ["frame", "TextLog:text", "empty", "plain", "static"];
    assert_eq!(names(&empty), with_empty);
    let tombstones = ViewOptions {
        tombstone_columns: true,
        ..options()
    };
    let with_tombstones = [
        "frame",
        "Clear:is_recursive",
        "TextLog:text",
        "plain",
        "static",
    ];
    assert_eq!(names(&tombstones), with_tombstones);
    let all = ViewOptions {
        duplicates: Duplicates::All,
        ..options()
    };
    assert_eq!(names(&all)[..2], ["frame", "rerun_row_id"]);
    let properties = ViewOptions::from(Contents::parse(["/__properties/**"]).unwrap());
    assert_eq!(names(&properties), ["frame", "property:name"]);
}

#[test]
fn positions_name_the_columns_of_the_schema() {
    for duplicates in [Duplicates::Last, Duplicates::All] {
        let options = ViewOptions {
            duplicates,
            ..ViewOptions::default()
        };
        let view = View::resolve(&dataset(), Some("frame"), &options).unwrap();
        let fields = view.schema().fields();
        for (at, field) in fields.iter().enumerate() {
            let name = match view.column(at).unwrap() {
                ViewColumn::Segment => keys::SEGMENT_ID_COLUMN.to_owned(),
                ViewColumn::Timeline(timeline) => timeline.name.to_string(),
                ViewColumn::RowId => keys::ROW_ID_TABLE_COLUMN.to_owned(),
                ViewColumn::Component(component) => view.components()[component].column_name(),
            };
            assert_eq!(field.name(), &name);
        }
        assert_eq!(view.column(fields.len()), None);
    }
}

#[test]
fn unnested_columns_have_the_type_of_the_items_and_keep_what_they_are() {
    let field = |unnest: Unnest, name: &str| {
        let options = ViewOptions {
            unnest,
            ..ViewOptions::default()
        };
        let view = View::resolve(&dataset(), Some("frame"), &options).unwrap();
        view.schema().field_with_name(name).unwrap().clone()
    };
    let (text, plain) = ("/a:TextLog:text", "/a:plain");
    let list = field(Unnest::Off, text);
    assert!(matches!(list.data_type(), DataType::List(_)));
    let single = field(Unnest::Auto, text);
    assert_eq!(
        (single.data_type(), single.is_nullable()),
        (&DataType::Int64, true)
    );
    assert_eq!(single.metadata(), list.metadata());
    assert_eq!(field(Unnest::Auto, plain), field(Unnest::Off, plain));
    let rules = |rule: &str| Unnest::Selected(Contents::parse([rule]).unwrap());
    assert_eq!(
        field(rules("/a:plain"), plain).data_type(),
        &DataType::Int64
    );
    assert_eq!(field(rules("/a:plain"), text), list);
}

#[test]
fn what_is_unnested_must_be_there_and_duplicates_need_an_index() {
    let unknown = ViewOptions {
        unnest: Unnest::Selected(Contents::parse(["/a:plian"]).unwrap()),
        ..ViewOptions::default()
    };
    let error = View::resolve(&dataset(), None, &unknown).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownColumn);
    let all = ViewOptions {
        duplicates: Duplicates::All,
        ..ViewOptions::default()
    };
    let error = View::resolve(&dataset(), None, &all).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidOption);
}

#[test]
fn a_source_is_asked_for_what_is_read_and_the_clears_that_reach_it() {
    let mut dataset = dataset();
    dataset.components.push(column("/b", "other"));
    for entity in ["/", "/a/b"] {
        dataset.components.push(ComponentColumn {
            is_tombstone: true,
            ..column(entity, keys::CLEAR_COMPONENT)
        });
    }
    let view = View::resolve(&dataset, Some("frame"), &ViewOptions::default()).unwrap();
    let entities = |read: &[usize]| -> Vec<String> {
        let read = read.iter().copied().collect();
        let entities = view.entities_of(&read).into_iter();
        let shown = entities.map(|e| format!("{} {:?}", e.entity, e.components));
        shown.collect()
    };
    let position = |name: &str| {
        let mut components = view.components().iter();
        components.position(|c| &*c.component == name).unwrap()
    };
    let clear = r#"{"Clear:is_recursive"}"#;
    let own = r#"/a {"Clear:is_recursive", "plain"}"#;
    assert_eq!(entities(&[]), [""; 0]);
    assert_eq!(
        entities(&[position("plain")]),
        [format!("/ {clear}"), own.to_owned()]
    );
    let other = r#"/b {"other"}"#;
    assert_eq!(
        entities(&[position("other")]),
        [format!("/ {clear}"), other.to_owned()]
    );
    assert_eq!(view.entities().len(), 3);
}
