//! What stands in the table.

use arrow::array::AsArray as _;
use arrow::datatypes::{Int64Type, TimestampNanosecondType, UInt64Type};

use super::*;
use crate::model::TimeKind;
use crate::testing::{ChunkBuilder, schema_of};

fn row(segment: &str, properties: &[Chunk], ranges: &[(&str, i64, i64)]) -> SegmentRow {
    let ranges = ranges.iter();
    SegmentRow {
        segment: segment.into(),
        layers: vec![("base".into(), format!("file:///{segment}.rrd"))],
        last_updated_ns: Some(7),
        num_chunks: 3,
        size_bytes: u64::MAX,
        ranges: ranges
            .map(|&(name, start, end)| (name.into(), TimeRange::new(start, end)))
            .collect(),
        properties: properties.iter().cloned().map(Arc::new).collect(),
    }
}

fn task(segment: &str, id: u64, text: &str) -> Chunk {
    ChunkBuilder::new(segment, "/__properties/episode")
        .id(id)
        .texts("task", [Some(text)])
        .build()
}

fn frames() -> Chunk {
    ChunkBuilder::new("b", "/a")
        .id(9)
        .sequence("frame", [1])
        .index("stamp", TimeKind::Timestamp, [2])
        .floats("x", [Some(1.0)])
        .build()
}

#[test]
fn rows_ascend_and_what_a_segment_lacks_is_null() {
    let first = [task("b", 1, "pick"), task("b", 2, "place")];
    let schema = schema_of(&[first[0].clone(), frames()]);
    let rows = vec![
        row("b", &first, &[("frame", -3, 8)]),
        row("a", &[], &[("stamp", 5, 6)]),
    ];
    let table = segment_table(&schema, rows).unwrap();
    let names: Vec<String> = table
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(
        names,
        [
            "rerun_segment_id",
            "rerun_layer_names",
            "rerun_storage_urls",
            "rerun_last_updated_at",
            "rerun_num_chunks",
            "rerun_size_bytes",
            "stamp:start",
            "stamp:end",
            "frame:start",
            "frame:end",
            "property:episode:task",
        ]
    );
    let ids: Vec<_> = table
        .column(0)
        .as_string::<i32>()
        .iter()
        .flatten()
        .collect();
    assert_eq!(ids, ["a", "b"]);
    let layers = table.column(1).as_list::<i32>().value(1);
    assert_eq!(layers.as_string::<i32>().value(0), "base");
    let urls = table.column(2).as_list::<i32>().value(0);
    assert_eq!(urls.as_string::<i32>().value(0), "file:///a.rrd");
    let updated = table.column(3).as_primitive::<TimestampNanosecondType>();
    assert_eq!(updated.values(), &[7, 7]);
    assert_eq!(
        table.column(4).as_primitive::<UInt64Type>().values(),
        &[3, 3]
    );
    // The value of the later row stands.
    let tasks = table.column(10).as_list::<i32>();
    assert!(tasks.is_null(0));
    assert_eq!(tasks.value(1).as_string::<i32>().value(0), "place");
    let frames = table.column(8).as_primitive::<Int64Type>();
    assert_eq!((frames.is_null(0), frames.value(1)), (true, -3));
    let stamps = table.column(7).as_primitive::<TimestampNanosecondType>();
    assert_eq!((stamps.value(0), stamps.is_null(1)), (6, true));
}

#[test]
fn fields_say_what_they_are_about() {
    let schema = schema_of(&[task("b", 1, "pick"), frames()]);
    let table = segment_table(&schema, Vec::new()).unwrap();
    assert_eq!(table.num_rows(), 0);
    let schema = table.schema();
    let metadata = |name: &str, key: &str| {
        let field = schema.field_with_name(name).unwrap();
        field.metadata().get(key).cloned()
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(metadata("stamp:end", "rerun:kind"), text("index"));
    assert_eq!(metadata("stamp:end", "rerun:index"), text("stamp"));
    assert_eq!(metadata("stamp:end", "rerun:index_kind"), text("timestamp"));
    assert_eq!(
        metadata("frame:start", "rerun:index_kind"),
        text("sequence")
    );
    assert_eq!(metadata("frame:start", "rerun:index_marker"), text("start"));
    let property = "property:episode:task";
    assert_eq!(metadata(property, "rerun:component"), text("task"));
    assert_eq!(metadata(property, "rerun:is_static"), None);
    assert!(!schema.field(0).is_nullable() && schema.field(6).is_nullable());
}

#[test]
fn two_columns_of_one_name_are_one() {
    let odd = ChunkBuilder::new("b", "/a")
        .sequence("property:episode", [1])
        .floats("x", [Some(1.0)]);
    let start = ChunkBuilder::new("b", "/__properties/episode")
        .id(2)
        .texts("start", [Some("now")]);
    let schema = schema_of(&[odd.build(), start.build()]);
    let table = segment_table(&schema, Vec::new()).unwrap();
    assert_eq!(table.num_columns(), 6 + 1 + 1);
}
