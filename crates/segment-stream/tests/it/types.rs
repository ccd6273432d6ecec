//! What comes out as it went in: types, metadata, and the ends of the index.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, Int32Array, ListArray, RecordBatch};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::prelude::SessionContext;
use segue_chunk::testing::ChunkBuilder;
use segue_chunk::view::Duplicates;
use segue_chunk::{Chunk, ChunkSource, Fill, TimeKind};
use segue_segment_stream::{IndexValues, SegmentStreamTable, SegmentStreamTableBuilder};

use crate::support::{batches, config, source};

/// The smallest and the largest time that can be logged, and two around 1970.
const TIMES: [i64; 4] = [i64::MIN + 1, -1, 0, i64::MAX];

fn chunks() -> Vec<Chunk> {
    let numbers = Arc::new(Int32Array::from_iter_values(0..4));
    let metadata = HashMap::from([("unit".to_owned(), "m".to_owned())]);
    let item = Field::new("item", DataType::Int32, false).with_metadata(metadata);
    let offsets = OffsetBuffer::from_lengths([1, 0, 2, 1]);
    let lists = ListArray::new(item.into(), offsets, numbers, None);
    let chunk = ChunkBuilder::new("s", "/a")
        .sequence("frame", TIMES)
        .index("stamp", TimeKind::Timestamp, TIMES)
        .index("span", TimeKind::Duration, TIMES);
    vec![chunk.values("x", lists).build()]
}

type Make = fn(SegmentStreamTableBuilder) -> SegmentStreamTableBuilder;

/// How the table may be read, each with all rows.
const WAYS: [Make; 4] = [
    |builder| builder,
    |builder| builder.fill(Fill::LatestAt),
    |builder| builder.duplicates(Duplicates::All),
    |builder| {
        let values = TIMES.map(ScalarValue::from).to_vec();
        builder.index_values(IndexValues::Everywhere(values))
    },
];

async fn read(index: &str, make: Make, sql: &str) -> RecordBatch {
    let shared: Arc<dyn ChunkSource> = source(chunks());
    let table = make(SegmentStreamTable::builder(shared, "d").index(index));
    let context = SessionContext::new_with_config(config(1, 8192));
    let table = Arc::new(table.build().await.unwrap());
    context.register_table("t", table).unwrap();
    let batches = batches(&context, sql).await.unwrap();
    assert_eq!(batches.len(), 1, "{sql}");
    batches.into_iter().next().unwrap()
}

fn numbers(batch: &RecordBatch, name: &str) -> Vec<i64> {
    let column = cast(batch.column_by_name(name).unwrap(), &DataType::Int64).unwrap();
    assert_eq!(column.null_count(), 0);
    column.as_primitive::<Int64Type>().values().to_vec()
}

#[tokio::test]
async fn the_ends_of_every_index_have_rows_and_can_be_asked_for() {
    for index in ["frame", "stamp", "span"] {
        for make in WAYS {
            let all = read(index, make, "SELECT * FROM t").await;
            for name in ["frame", "stamp", "span"] {
                assert_eq!(numbers(&all, name), TIMES, "{name} by {index}");
            }
            let zero = match index {
                "frame" => "0",
                "stamp" => "to_timestamp_nanos(0)",
                _ => "arrow_cast(0, 'Duration(Nanosecond)')",
            };
            let early = format!("SELECT * FROM t WHERE {index} < {zero}");
            assert_eq!(numbers(&read(index, make, &early).await, index), TIMES[..2]);
        }
    }
    let last = format!("SELECT * FROM t WHERE frame >= {}", i64::MAX);
    let first = format!("SELECT * FROM t WHERE frame <= {}", i64::MIN + 1);
    for make in WAYS {
        assert_eq!(
            numbers(&read("frame", make, &last).await, "frame"),
            [i64::MAX]
        );
        assert_eq!(
            numbers(&read("frame", make, &first).await, "frame"),
            [i64::MIN + 1]
        );
    }
}

#[tokio::test]
async fn fields_keep_their_types_and_metadata() {
    for make in WAYS {
        let batch = read("frame", make, "SELECT * FROM t").await;
        let schema = batch.schema();
        assert_eq!(schema.metadata()["sorbet:version"], "0.1.3");
        let column = schema.field_with_name("/a:x").unwrap();
        let DataType::List(item) = column.data_type() else {
            panic!("{column}");
        };
        assert!(column.is_nullable() && !item.is_nullable());
        assert_eq!(item.metadata()["unit"], "m");
        assert_eq!(column.metadata()["rerun:entity_path"], "/a");
        let nullable: Vec<bool> = ["frame", "stamp", "rerun_segment_id"]
            .map(|name| schema.field_with_name(name).unwrap().is_nullable())
            .into();
        assert_eq!(nullable, [false, true, false]);
        if let Ok(row_id) = schema.field_with_name("rerun_row_id") {
            assert_eq!(row_id.data_type(), &DataType::FixedSizeBinary(16));
            assert!(!row_id.is_nullable());
        }
    }
}
