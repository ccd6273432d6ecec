//! Results that are read by other programs.

use std::fs;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Float64Type, Int64Type};
use arrow::ipc::reader::StreamReader;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use tempfile::TempDir;

use crate::{EXAMPLES, answer, bytes, failure, segue};

const SQL: &str =
    "SELECT rerun_segment_id, frame_nr, \"/sensor/temp:Scalars:scalars\" AS temp, time
    FROM robots.frame_nr WHERE rerun_segment_id LIKE 'scalars_%' ORDER BY 1, 2";

fn read_parquet(bytes: Vec<u8>) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap();
    let schema = Arc::clone(reader.schema());
    let batches: Vec<RecordBatch> = reader.build().unwrap().collect::<Result<_, _>>().unwrap();
    concat_batches(&schema, &batches).unwrap()
}

fn read_arrow(bytes: &[u8]) -> RecordBatch {
    let reader = StreamReader::try_new(bytes, None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
    concat_batches(&schema, &batches).unwrap()
}

#[test]
fn every_format_has_the_same_values() {
    let run = |format: &str| bytes(segue().args(EXAMPLES).args(["--format", format, SQL]));
    let (parquet, arrow) = (read_parquet(run("parquet")), read_arrow(&run("arrow")));
    assert_eq!(parquet.num_rows(), 300);
    assert_eq!(parquet.columns(), arrow.columns());
    let frames = arrow.column(1).as_primitive::<Int64Type>();
    let temperatures = arrow.column(2).as_list::<i32>();

    let json = String::from_utf8(run("json")).unwrap();
    assert_eq!(json.lines().count(), 300);
    let csv = String::from_utf8(run("csv")).unwrap();
    for (row, (json, csv)) in json.lines().zip(csv.lines().skip(1)).enumerate() {
        let json: Value = serde_json::from_str(json).unwrap();
        assert_eq!(json["frame_nr"], frames.value(row));
        assert!(csv.contains(&format!(",{},", frames.value(row))), "{csv}");
        assert_eq!(json["temp"].is_null(), temperatures.is_null(row));
        if let Some(list) = json["temp"].as_array() {
            let values = temperatures.value(row);
            let values = values.as_primitive::<Float64Type>().values();
            let listed: Vec<f64> = list.iter().map(|value| value.as_f64().unwrap()).collect();
            assert_eq!(listed, values.as_ref());
        }
    }
}

#[test]
fn the_ending_of_the_file_chooses_the_format() {
    let dir = TempDir::new().unwrap();
    let file = |ending: &str| dir.path().join(format!("rows.{ending}"));
    for ending in ["csv", "json", "jsonl", "parquet", "arrow"] {
        let mut command = segue();
        command.args(EXAMPLES).arg("-o").arg(file(ending)).arg(SQL);
        assert_eq!(bytes(&mut command), b"");
    }
    let parquet = read_parquet(fs::read(file("parquet")).unwrap());
    let arrow = read_arrow(&fs::read(file("arrow")).unwrap());
    assert_eq!(parquet.columns(), arrow.columns());
    let text = |ending: &str| fs::read_to_string(file(ending)).unwrap();
    assert_eq!(text("csv"), answer(&["--format=csv", SQL]));
    assert_eq!(text("json"), answer(&["--format=json", SQL]));
    assert_eq!(text("json"), text("jsonl"));
}

#[test]
fn a_result_without_rows_has_its_columns() {
    let sql = "SELECT * FROM robots.frame_nr WHERE frame_nr < -1000000";
    let run = |format: &str| bytes(segue().args(EXAMPLES).args(["--format", format, sql]));
    let parquet = read_parquet(run("parquet"));
    assert_eq!(parquet.num_rows(), 0);
    assert_eq!(parquet.schema().field(0).name(), "rerun_segment_id");
    assert_eq!(
        read_arrow(&run("arrow")).num_columns(),
        parquet.num_columns()
    );
}

#[test]
fn all_columns_of_the_examples_can_be_exported() {
    for table in [
        "robots.frame_nr",
        "robots._static",
        "robots._segments",
        "robots._chunks",
        "drive.message_log_time",
    ] {
        let sql = format!("SELECT * FROM {table}");
        // In one order.
        let partitions = "--set=datafusion.execution.target_partitions=1";
        let run = |format: &str| {
            let more = [partitions, "--format", format, &sql];
            bytes(segue().args(EXAMPLES).args(more))
        };
        let (parquet, arrow) = (read_parquet(run("parquet")), read_arrow(&run("arrow")));
        assert!(parquet.num_rows() > 0, "{table}");
        assert_eq!(parquet.columns(), arrow.columns(), "{table}");
        let json = String::from_utf8(run("json")).unwrap();
        assert_eq!(json.lines().count(), arrow.num_rows(), "{table}");
    }
}

#[test]
fn one_file_of_bytes_holds_one_result() {
    let one = "CREATE VIEW v AS SELECT 1 AS x; SELECT * FROM v; DROP VIEW v";
    let two = "SELECT 1 AS x; SELECT 2 AS y";
    let dir = TempDir::new().unwrap();
    for format in ["parquet", "arrow"] {
        let file = dir.path().join(format!("x.{format}"));
        bytes(segue().args(EXAMPLES).arg("-o").arg(&file).arg(one));
        let written = fs::read(&file).unwrap();
        let x = match format {
            "parquet" => read_parquet(written.clone()),
            _ => read_arrow(&written),
        };
        assert_eq!(x.column(0).as_primitive::<Int64Type>().values(), &[1]);
        let line = failure(segue().args(EXAMPLES).arg("-o").arg(&file).arg(two), 1);
        assert!(
            line.starts_with("error: statement 2: ") && line.contains(format),
            "{line}"
        );
        assert_eq!(fs::read(&file).unwrap(), written);
    }
}
