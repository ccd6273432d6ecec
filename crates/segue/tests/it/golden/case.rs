//! What was asked of a real server, and what it answered.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use arrow::compute::kernels::cmp::{gt_eq, lt};
use arrow::compute::{SortColumn, and, cast, concat_batches, filter_record_batch, is_not_null};
use arrow::compute::{lexsort_to_indices, take_record_batch};
use arrow::datatypes::{Field, Int64Type};
use arrow::util::display::array_value_to_string;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::support::repository;

/// What was asked.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) dataset: String,
    index: Option<String>,
    /// Column names that the answer is sorted by.
    sort: Vec<String>,
    pub(super) sql: String,
    /// What the server answered; `None` where it refused, or where nothing of its answer is right.
    expected: Option<RecordBatch>,
    pub(super) is_error: bool,
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(texts) => texts.iter().flat_map(self::texts).collect(),
        other => panic!("text or list of text, not {other}"),
    }
}

fn all() -> Vec<Value> {
    let file = File::open(repository("crates/segue/tests/golden/cases.json")).unwrap();
    serde_json::from_reader(file).unwrap()
}

/// All cases.
pub(super) fn cases() -> Vec<Case> {
    let cases = all();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    cases
        .iter()
        .map(|case| Case {
            name: text(&case["name"]).unwrap(),
            dataset: text(&case["dataset"]).unwrap(),
            index: text(&case["index"]),
            sort: texts(&case["sort"]),
            sql: text(&case["sql"]).unwrap(),
            expected: expected(case["name"].as_str().unwrap()),
            is_error: case["error"].as_bool().unwrap_or(false),
        })
        .collect()
}

/// What the server answered to a case, if that is kept.
fn expected(name: &str) -> Option<RecordBatch> {
    let path = format!("crates/segue/tests/golden/{name}.parquet");
    let file = File::open(repository(&path)).ok()?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = Arc::clone(reader.schema());
    let batches: Result<Vec<_>, _> = reader.build().unwrap().collect();
    Some(concat_batches(&schema, &batches.unwrap()).unwrap())
}

impl Case {
    fn sorted(&self, batch: &RecordBatch) -> RecordBatch {
        if self.sort.is_empty() {
            return batch.clone();
        }
        let columns: Vec<SortColumn> = self
            .sort
            .iter()
            .map(|name| SortColumn {
                values: Arc::clone(batch.column_by_name(name).unwrap()),
                options: None,
            })
            .collect();
        let order = lexsort_to_indices(&columns, None).unwrap();
        take_record_batch(batch, &order).unwrap()
    }

    pub(super) fn check(&self, actual: &RecordBatch) {
        let expected = self.expected.as_ref();
        match self.name.as_str() {
            // The server left out the row of a Clear that the same table has without the filter.
            "q11_range_frame" => {
                assert_eq!(
                    (actual.num_rows(), expected.unwrap().num_rows()),
                    (101, 100)
                );
                let all = self::expected("q05_sensor_contents").unwrap();
                let frames = all.column_by_name("frame_nr").unwrap();
                let from = gt_eq(frames, &Int64Array::new_scalar(10)).unwrap();
                let to = lt(frames, &Int64Array::new_scalar(30)).unwrap();
                let in_range = filter_record_batch(&all, &and(&from, &to).unwrap()).unwrap();
                self.check_equal(actual, &in_range);
            }
            "q56_quirk_projection_drops_rows" => {
                assert_eq!(actual.num_rows(), 100);
                let pressure = actual
                    .column_by_name("/sensor/pressure:Scalars:scalars")
                    .unwrap();
                let present = is_not_null(pressure).unwrap();
                self.check_equal(
                    &filter_record_batch(actual, &present).unwrap(),
                    expected.unwrap(),
                );
            }
            "q57_quirk_count_two" => {
                let counts = ["n_pres", "n"].map(|name| {
                    let column = actual.column_by_name(name).unwrap();
                    column.as_primitive::<Int64Type>().values().to_vec()
                });
                assert_eq!(counts, [[50], [100]]);
            }
            "q58_quirk_is_null_projected" => {
                assert_eq!((actual.num_rows(), actual.num_columns()), (50, 1));
                assert_eq!(actual.column(0).null_count(), 50);
            }
            _ => self.check_equal(actual, expected.unwrap()),
        }
    }

    /// Compares columns by name: which there are, their fields, and the values bit by bit, so that a NaN
    /// equals itself.
    fn check_equal(&self, actual: &RecordBatch, expected: &RecordBatch) {
        let actual = self.sorted(actual);
        let names = |batch: &RecordBatch| -> BTreeSet<String> {
            batch
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().clone())
                .collect()
        };
        assert_eq!(names(&actual), names(expected));
        assert_eq!(actual.num_columns(), expected.num_columns());
        assert_eq!(actual.num_rows(), expected.num_rows());
        let version =
            |batch: &RecordBatch| batch.schema().metadata().get("sorbet:version").cloned();
        assert_eq!(
            version(&actual),
            version(expected),
            "version of the columns"
        );
        for (field, values) in expected.schema().fields().iter().zip(expected.columns()) {
            let schema = actual.schema();
            self.check_field(schema.field_with_name(field.name()).unwrap(), field);
            let found = actual.column_by_name(field.name()).unwrap();
            let values = &cast(values, found.data_type()).unwrap();
            if found.to_data() == values.to_data() {
                continue;
            }
            for row in 0..values.len() {
                let text = |array| array_value_to_string(array, row).unwrap();
                let same = found.slice(row, 1).to_data() == values.slice(row, 1).to_data();
                assert!(
                    same,
                    "{} row {row}: {} not {}",
                    field.name(),
                    text(found),
                    text(values)
                );
            }
        }
    }

    fn check_field(&self, actual: &Field, expected: &Field) {
        let name = expected.name();
        // What the official client calls the items of a list depends on what else it has done.
        let types = (actual.data_type(), expected.data_type());
        assert!(
            types.0.equals_datatype(types.1),
            "type of {name}: {types:?}"
        );
        let is_index = self.index.as_ref() == Some(name);
        let nullable = expected.is_nullable() && !is_index;
        assert_eq!(actual.is_nullable(), nullable, "nullability of {name}");
        let metadata = |field: &Field| -> BTreeMap<String, String> {
            let all = field.metadata().clone().into_iter();
            all.filter(|(key, _)| key.starts_with("rerun:")).collect()
        };
        assert_eq!(metadata(actual), metadata(expected), "metadata of {name}");
    }
}
