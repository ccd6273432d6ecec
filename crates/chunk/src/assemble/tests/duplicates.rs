//! One row per logged row.

use super::*;
use crate::model::{Fill, RowId};
use crate::view::Duplicates;

const A: &str = "/a:Scalars:scalars";
const B: &str = "/b:Scalars:scalars";

fn all(fill: Fill, chunks: Vec<Chunk>) -> Table {
    let options = ViewOptions {
        fill,
        duplicates: Duplicates::All,
        ..ViewOptions::default()
    };
    Table::of(Some("frame"), &options, chunks)
}

fn row_ids(batch: &RecordBatch) -> Vec<u64> {
    let column = batch.column_by_name("rerun_row_id").unwrap();
    let ids = column.as_fixed_size_binary();
    assert_eq!(ids.null_count(), 0);
    let id = |row| RowId::from_be_bytes(ids.value(row).try_into().unwrap());
    (0..ids.len()).map(|row| id(row).parts().1).collect()
}

fn twice() -> Vec<Chunk> {
    let old = chunk("/a", 2)
        .row_ids([3, 1, 2])
        .sequence("frame", [1, 0, 1]);
    let new = chunk("/a", 1).row_ids([9]).sequence("frame", [1]);
    vec![
        old.floats(SCALAR, [Some(13.), Some(1.), Some(12.)]).build(),
        new.floats(SCALAR, [Some(19.)]).build(),
        // The same logged row, kept apart, and a row without a value.
        chunk("/b", 3)
            .row_ids([9, 10])
            .sequence("frame", [1, 1])
            .floats(SCALAR, [Some(29.), None])
            .build(),
    ]
}

#[test]
fn every_logged_row_is_a_row_by_index_then_row_id() {
    let table = all(Fill::None, twice());
    let rows = table.rows(&[]);
    assert_eq!(times(&rows, "frame"), [0, 1, 1, 1].map(Some));
    assert_eq!(row_ids(&rows), [1, 2, 3, 9]);
    assert_eq!(
        lists(&rows, A),
        floats(&[Some(1.), Some(12.), Some(13.), Some(19.)])
    );
    assert_eq!(lists(&rows, B), floats(&[None, None, None, Some(29.)]));
    let names: Vec<_> = rows
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names, ["rerun_segment_id", "frame", "rerun_row_id", A, B]);
}

#[test]
fn pieces_may_end_within_an_index_value() {
    for fill in [Fill::None, Fill::LatestAt] {
        let table = all(fill, twice());
        let whole = table.rows(&[]);
        let pieces = table.pieces(
            &[],
            &[TimeRange::ALL],
            Limits {
                rows: 1,
                ..NO_LIMITS
            },
        );
        assert_eq!(pieces.len(), 4);
        assert_eq!(
            arrow::compute::concat_batches(&whole.schema(), &pieces).unwrap(),
            whole
        );
    }
}

#[test]
fn fill_takes_the_last_row_before_in_the_same_index_value_too() {
    let later = chunk("/b", 4).row_ids([11]).sequence("frame", [2]);
    let mut chunks = twice();
    chunks.push(later.floats(SCALAR, [Some(2.)]).build());
    let rows = all(Fill::LatestAt, chunks).rows(&[]);
    assert_eq!(row_ids(&rows), [1, 2, 3, 9, 11]);
    assert_eq!(
        lists(&rows, A),
        floats(&[Some(1.), Some(12.), Some(13.), Some(19.), Some(19.)])
    );
}

#[test]
fn a_clear_is_a_row_of_its_own() {
    let mut chunks = twice();
    let clear = chunk("/a", 5).row_ids([7]).sequence("frame", [1]);
    chunks.push(clear.clear([false]).build());
    let rows = all(Fill::None, chunks).rows(&[]);
    assert_eq!(row_ids(&rows), [1, 2, 3, 7, 9]);
    assert_eq!(lists(&rows, A)[3], Some(vec![]));
}
