//! What a scan of a table returns of it: some rows, some columns.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{AsArray as _, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use segue_chunk::TextSet;
use segue_proto::cloud::layer_name_filter::Strategy as LayerStrategy;
use segue_proto::cloud::segment_id_filter::Strategy as SegmentStrategy;
use segue_proto::cloud::{LayerNameFilter, SegmentIdFilter};
use tonic::Status;

/// The segments that `filter` lets through.
pub(crate) fn segments(filter: Option<SegmentIdFilter>) -> TextSet {
    match filter.and_then(|filter| filter.strategy) {
        None => TextSet::all(),
        Some(SegmentStrategy::ScanOnly(list)) => list.segment_ids.iter().collect(),
        Some(SegmentStrategy::Skip(list)) => {
            list.segment_ids.iter().collect::<TextSet>().complement()
        }
    }
}

/// The names of layers that `filter` lets through.
pub(crate) fn layers(filter: Option<LayerNameFilter>) -> TextSet {
    match filter.and_then(|filter| filter.strategy) {
        None => TextSet::all(),
        Some(LayerStrategy::ScanOnly(list)) => list.layer_names.iter().collect(),
        Some(LayerStrategy::Skip(list)) => {
            list.layer_names.iter().collect::<TextSet>().complement()
        }
    }
}

/// The rows of `table` whose text in `column` is among `names`.
pub(crate) fn rows(
    table: &RecordBatch,
    column: &str,
    names: &TextSet,
) -> Result<RecordBatch, Status> {
    if names.is_all() {
        return Ok(table.clone());
    }
    let texts = table
        .column_by_name(column)
        .and_then(|c| c.as_string_opt::<i32>());
    let texts = texts.ok_or_else(|| Status::internal(format!("a table without '{column}'")))?;
    let wanted = texts
        .iter()
        .map(|text| Some(text.is_some_and(|text| names.contains(text))));
    let wanted: BooleanArray = wanted.collect();
    filter_record_batch(table, &wanted).map_err(|error| Status::internal(error.to_string()))
}

/// The columns of `table` that are called `names`, in that order and each once; all when there are no names.
///
/// `InvalidArgument` for a name that no column has.
pub(crate) fn columns(table: &RecordBatch, names: &[String]) -> Result<RecordBatch, Status> {
    if names.is_empty() {
        return Ok(table.clone());
    }
    let (mut seen, mut positions) = (HashSet::new(), Vec::new());
    for name in names.iter().filter(|name| seen.insert(*name)) {
        let position = table.schema_ref().index_of(name);
        let position = position
            .map_err(|_| Status::invalid_argument(format!("the table has no column '{name}'")))?;
        positions.push(position);
    }
    let schema = table.schema_ref().project(&positions);
    let schema = schema.map_err(|error| Status::internal(error.to_string()))?;
    let arrays = positions.iter().map(|at| Arc::clone(table.column(*at)));
    let options = RecordBatchOptions::new().with_row_count(Some(table.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(schema), arrays.collect(), &options)
        .map_err(|error| Status::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use segue_proto::cloud::{LayerNameList, SegmentIdList};
    use tonic::Code;

    use super::*;

    fn table() -> RecordBatch {
        let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        RecordBatch::try_from_iter([("name", names), ("number", numbers)]).unwrap()
    }

    fn left(names: &TextSet) -> Vec<String> {
        let rows = rows(&table(), "name", names).unwrap();
        let names = rows.column(0).as_string::<i32>();
        names.iter().flatten().map(str::to_owned).collect()
    }

    #[test]
    fn filters_keep_or_skip_what_they_name() {
        let segment_ids = ["b", "x"].map(str::to_owned).to_vec();
        let list = SegmentIdList { segment_ids };
        let filter = |strategy| Some(SegmentIdFilter { strategy });
        assert_eq!(left(&segments(None)), ["a", "b", "c"]);
        assert_eq!(left(&segments(filter(None))), ["a", "b", "c"]);
        assert_eq!(
            left(&segments(filter(Some(SegmentStrategy::ScanOnly(
                list.clone()
            ))))),
            ["b"]
        );
        assert_eq!(
            left(&segments(filter(Some(SegmentStrategy::Skip(list))))),
            ["a", "c"]
        );
        let layer_names = vec!["a".to_owned()];
        let list = LayerNameList { layer_names };
        let filter = |strategy| Some(LayerNameFilter { strategy });
        assert_eq!(
            left(&layers(filter(Some(LayerStrategy::ScanOnly(list.clone()))))),
            ["a"]
        );
        assert_eq!(
            left(&layers(filter(Some(LayerStrategy::Skip(list))))),
            ["b", "c"]
        );
        assert_eq!(left(&layers(None)), ["a", "b", "c"]);
        assert_eq!(left(&TextSet::empty()), [""; 0]);
    }

    #[test]
    fn columns_come_as_they_are_named_and_no_other() {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            columns(&table(), &names).map(|table| {
                let fields = table.schema();
                let names = fields.fields().iter().map(|f| f.name().clone());
                (names.collect::<Vec<_>>(), table.num_rows())
            })
        };
        assert_eq!(names(&[]).unwrap().0, ["name", "number"]);
        assert_eq!(
            names(&["number", "name", "number"]).unwrap().0,
            ["number", "name"]
        );
        assert_eq!(names(&["number"]).unwrap().1, 3);
        let status = names(&["name", "nome"]).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("'nome'"), "{status}");
    }
}
