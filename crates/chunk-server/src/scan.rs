//! What a scan of a table returns of it: some rows, some columns.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{AsArray as _, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use segue_proto::cloud::layer_name_filter::Strategy as LayerStrategy;
use segue_proto::cloud::segment_id_filter::Strategy as SegmentStrategy;
use segue_proto::cloud::{LayerNameFilter, SegmentIdFilter};
use tonic::Status;

/// Which values of a column of texts are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    All,
    Only(HashSet<String>),
    AllBut(HashSet<String>),
}

impl Names {
    fn have(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
            Self::AllBut(names) => !names.contains(name),
        }
    }
}

impl From<Option<SegmentIdFilter>> for Names {
    fn from(filter: Option<SegmentIdFilter>) -> Self {
        match filter.and_then(|filter| filter.strategy) {
            None => Self::All,
            Some(SegmentStrategy::ScanOnly(list)) => {
                Self::Only(list.segment_ids.into_iter().collect())
            }
            Some(SegmentStrategy::Skip(list)) => {
                Self::AllBut(list.segment_ids.into_iter().collect())
            }
        }
    }
}

impl From<Option<LayerNameFilter>> for Names {
    fn from(filter: Option<LayerNameFilter>) -> Self {
        match filter.and_then(|filter| filter.strategy) {
            None => Self::All,
            Some(LayerStrategy::ScanOnly(list)) => {
                Self::Only(list.layer_names.into_iter().collect())
            }
            Some(LayerStrategy::Skip(list)) => Self::AllBut(list.layer_names.into_iter().collect()),
        }
    }
}

/// The rows of `table` whose text in `column` is among `names`.
pub(crate) fn rows(
    table: &RecordBatch,
    column: &str,
    names: &Names,
) -> Result<RecordBatch, Status> {
    if *names == Names::All {
        return Ok(table.clone());
    }
    let texts = table
        .column_by_name(column)
        .and_then(|c| c.as_string_opt::<i32>());
    let texts = texts.ok_or_else(|| Status::internal(format!("a table without '{column}'")))?;
    let wanted = texts
        .iter()
        .map(|text| Some(text.is_some_and(|text| names.have(text))));
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

    fn left(names: impl Into<Names>) -> Vec<String> {
        let rows = rows(&table(), "name", &names.into()).unwrap();
        let names = rows.column(0).as_string::<i32>();
        names.iter().flatten().map(str::to_owned).collect()
    }

    #[test]
    fn filters_keep_or_skip_what_they_name() {
        let segment_ids = ["b", "x"].map(str::to_owned).to_vec();
        let list = SegmentIdList { segment_ids };
        let filter = |strategy| Some(SegmentIdFilter { strategy });
        assert_eq!(left(None::<SegmentIdFilter>), ["a", "b", "c"]);
        assert_eq!(left(filter(None)), ["a", "b", "c"]);
        assert_eq!(
            left(filter(Some(SegmentStrategy::ScanOnly(list.clone())))),
            ["b"]
        );
        assert_eq!(left(filter(Some(SegmentStrategy::Skip(list)))), ["a", "c"]);
        let layer_names = vec!["a".to_owned()];
        let list = LayerNameList { layer_names };
        let filter = |strategy| Some(LayerNameFilter { strategy });
        assert_eq!(
            left(filter(Some(LayerStrategy::ScanOnly(list.clone())))),
            ["a"]
        );
        assert_eq!(left(filter(Some(LayerStrategy::Skip(list)))), ["b", "c"]);
        let none = Names::Only(HashSet::new());
        assert_eq!(left(none), [""; 0]);
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
