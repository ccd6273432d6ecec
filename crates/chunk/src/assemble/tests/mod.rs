//! Rows by literal expectation.

mod clears;
mod duplicates;
mod equal;
mod fill;
mod model;
mod rows;
mod samples;

use std::sync::Arc;

use arrow::array::{Array, AsArray, ListArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};
use segue_error::ErrorCode;

use super::*;
use crate::contents::Contents;
use crate::model::Chunk;
use crate::testing::{ChunkBuilder, schema_of};
use crate::view::ViewOptions;

const SCALAR: &str = "Scalars:scalars";
const NO_LIMITS: Limits = Limits {
    rows: usize::MAX,
    bytes: usize::MAX,
};

struct Table {
    view: View,
    chunks: Vec<Arc<Chunk>>,
    segment: SegmentId,
    samples: Option<Vec<i64>>,
    not_null: Vec<usize>,
}

impl Table {
    fn new(index: Option<&str>, contents: &str, chunks: Vec<Chunk>) -> Self {
        let contents = Contents::parse([contents]).unwrap();
        Self::of(index, &contents.into(), chunks)
    }

    fn of(index: Option<&str>, options: &ViewOptions, chunks: Vec<Chunk>) -> Self {
        Self {
            view: View::resolve(&schema_of(&chunks), index, options).unwrap(),
            chunks: chunks.into_iter().map(Arc::new).collect(),
            segment: "s".into(),
            samples: None,
            not_null: Vec::new(),
        }
    }

    fn with<R>(&self, columns: &[&str], f: impl FnOnce(&SegmentChunks<'_>) -> R) -> R {
        let schema = self.view.schema();
        let projection: Vec<usize> = match columns {
            [] => (0..schema.fields().len()).collect(),
            names => names.iter().map(|n| schema.index_of(n).unwrap()).collect(),
        };
        f(&SegmentChunks {
            view: &self.view,
            projection: &projection,
            segment: &self.segment,
            chunks: &self.chunks,
            samples: self.samples.as_deref(),
            not_null: &self.not_null,
        })
    }

    fn rows(&self, columns: &[&str]) -> RecordBatch {
        self.within(columns, &[TimeRange::ALL])
    }

    fn within(&self, columns: &[&str], windows: &[TimeRange]) -> RecordBatch {
        let rows = self.with(columns, |chunks| {
            assemble(chunks, windows, RowKey::MIN, NO_LIMITS)
        });
        let rows = rows.unwrap();
        assert_eq!(rows.next, None);
        rows.batch
    }

    /// The rows in `windows` one by one, as a stream asks for them.
    fn pieces(&self, columns: &[&str], windows: &[TimeRange], limits: Limits) -> Vec<RecordBatch> {
        let mut from = RowKey::MIN;
        let mut pieces = Vec::new();
        loop {
            let piece = self.with(columns, |chunks| assemble(chunks, windows, from, limits));
            let piece = piece.unwrap();
            assert!(piece.batch.num_rows() <= limits.rows.max(1));
            assert!(piece.batch.num_rows() > 0 || piece.next.is_none());
            pieces.push(piece.batch);
            match piece.next {
                Some(next) => from = next,
                None => return pieces,
            }
        }
    }
}

fn times(batch: &RecordBatch, name: &str) -> Vec<Option<i64>> {
    let column = batch.column_by_name(name).unwrap();
    let column = arrow::compute::cast(column, &arrow::datatypes::DataType::Int64).unwrap();
    column.as_primitive::<Int64Type>().iter().collect()
}

/// Lists of floats: `None` is null, an empty list is empty.
fn lists(batch: &RecordBatch, name: &str) -> Vec<Option<Vec<f64>>> {
    let column: &ListArray = batch.column_by_name(name).unwrap().as_list();
    let list = |value: Arc<dyn Array>| value.as_primitive::<Float64Type>().values().to_vec();
    column.iter().map(|value| value.map(list)).collect()
}

fn floats(values: &[Option<f64>]) -> Vec<Option<Vec<f64>>> {
    values.iter().map(|v| v.map(|v| vec![v])).collect()
}

fn chunk(entity: &str, id: u64) -> ChunkBuilder {
    ChunkBuilder::new("s", entity).id(id)
}
