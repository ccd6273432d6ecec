//! Rows at given index values, and rows that must have some values.

use super::*;
use crate::model::Fill;

const A: &str = "/a:Scalars:scalars";

fn table(fill: Fill) -> Table {
    let options = ViewOptions {
        fill,
        ..ViewOptions::default()
    };
    let a = chunk("/a", 1)
        .sequence("frame", [1, 3, 5])
        .sequence("tick", [10, 30, 50]);
    let b = chunk("/b", 2).sequence("frame", [3, 4]);
    let chunks = vec![
        a.floats(SCALAR, [Some(1.), None, Some(5.)]).build(),
        b.floats(SCALAR, [Some(3.), Some(4.)]).build(),
        chunk("/c", 3).floats(SCALAR, [Some(0.)]).build(),
    ];
    Table::of(Some("frame"), &options, chunks)
}

#[test]
fn there_is_a_row_at_each_value_and_nowhere_else() {
    for (fill, values, ticks) in [
        (
            Fill::None,
            [None, Some(1.), None, None],
            [None, Some(10), None, None],
        ),
        (
            Fill::LatestAt,
            [None, Some(1.), Some(1.), Some(5.)],
            [None, Some(10), Some(10), Some(50)],
        ),
    ] {
        let mut table = table(fill);
        table.samples = Some(vec![-7, 1, 2, 100]);
        let rows = table.rows(&[]);
        assert_eq!(times(&rows, "frame"), [-7, 1, 2, 100].map(Some));
        assert_eq!(lists(&rows, A), floats(&values));
        assert_eq!(times(&rows, "tick"), ticks);
        // Static values stand on these rows, too.
        assert_eq!(lists(&rows, "/c:Scalars:scalars"), floats(&[Some(0.); 4]));
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
            arrow::compute::concat_batches(&rows.schema(), &pieces).unwrap(),
            rows
        );
        let some = table.within(&[], &[TimeRange::new(1, 1), TimeRange::new(3, 200)]);
        assert_eq!(times(&some, "frame"), [1, 100].map(Some));
    }
}

#[test]
fn without_a_chunk_there_are_rows_of_nulls() {
    let mut table = table(Fill::LatestAt);
    table.chunks.clear();
    table.samples = Some(vec![i64::MIN, i64::MAX]);
    let rows = table.rows(&[]);
    assert_eq!(times(&rows, "frame"), [i64::MIN, i64::MAX].map(Some));
    assert_eq!(lists(&rows, A), floats(&[None, None]));
    table.samples = Some(Vec::new());
    assert_eq!(table.rows(&[]).num_rows(), 0);
}

#[test]
fn rows_without_a_value_that_they_must_have_are_left_out() {
    let frames = |not_null: &[usize], samples: Option<Vec<i64>>| {
        let mut table = table(Fill::None);
        table.not_null = not_null.to_vec();
        table.samples = samples;
        let rows = times(&table.rows(&[]), "frame");
        let pieces = table.pieces(
            &[],
            &[TimeRange::ALL],
            Limits {
                rows: 1,
                ..NO_LIMITS
            },
        );
        let pieced: Vec<_> = pieces
            .iter()
            .flat_map(|piece| times(piece, "frame"))
            .collect();
        assert_eq!(pieced, rows);
        rows.into_iter().flatten().collect::<Vec<_>>()
    };
    assert_eq!(frames(&[], None), [1, 3, 4, 5]);
    assert_eq!(frames(&[0], None), [1, 5]);
    assert_eq!(frames(&[1], None), [3, 4]);
    assert_eq!(frames(&[0, 1], None), [0; 0]);
    // A static value is on every row.
    assert_eq!(frames(&[2], None), [1, 3, 4, 5]);
    assert_eq!(frames(&[1, 2], None), [3, 4]);
    assert_eq!(frames(&[1], Some(vec![0, 3, 5])), [3]);
    assert_eq!(frames(&[2], Some(vec![0, 3, 5])), [0, 3, 5]);
}

#[test]
fn without_an_index_the_row_must_have_the_static_values() {
    let chunks = vec![
        chunk("/a", 1).floats(SCALAR, [Some(0.)]).build(),
        chunk("/b", 2).floats(SCALAR, [None]).build(),
    ];
    let mut table = Table::new(None, "/**", chunks);
    for (not_null, rows) in [(vec![], 1), (vec![0], 1), (vec![1], 0), (vec![0, 1], 0)] {
        table.not_null = not_null;
        assert_eq!(table.with(&[], assemble_static).unwrap().num_rows(), rows);
    }
}
