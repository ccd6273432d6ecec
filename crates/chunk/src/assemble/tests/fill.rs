//! The last value where there is none.

use super::*;
use crate::model::Fill;

const A: &str = "/a:Scalars:scalars";
const B: &str = "/b:Scalars:scalars";

fn filled(chunks: Vec<Chunk>) -> Table {
    let options = ViewOptions {
        fill: Fill::LatestAt,
        ..ViewOptions::default()
    };
    Table::of(Some("frame"), &options, chunks)
}

fn two() -> Vec<Chunk> {
    let a = chunk("/a", 1).sequence("frame", [-5, 2, 7]);
    let b = chunk("/b", 2).sequence("frame", [0, 3]);
    vec![
        a.floats(SCALAR, [Some(1.), Some(2.), None]).build(),
        b.sequence("tick", [10, 30])
            .floats(SCALAR, [Some(10.), Some(30.)])
            .build(),
    ]
}

#[test]
fn the_last_value_stands_until_the_next_and_makes_no_row() {
    let table = filled(two());
    let rows = table.rows(&[]);
    assert_eq!(times(&rows, "frame"), [-5, 0, 2, 3].map(Some));
    assert_eq!(
        lists(&rows, A),
        floats(&[Some(1.), Some(1.), Some(2.), Some(2.)])
    );
    assert_eq!(
        lists(&rows, B),
        floats(&[None, Some(10.), Some(10.), Some(30.)])
    );
}

#[test]
fn values_before_and_between_windows_count() {
    let table = filled(two());
    let rows = table.within(&[], &[TimeRange::new(0, 1), TimeRange::new(3, 4)]);
    assert_eq!(times(&rows, "frame"), [0, 3].map(Some));
    assert_eq!(lists(&rows, A), floats(&[Some(1.), Some(2.)]));
    assert_eq!(lists(&rows, B), floats(&[Some(10.), Some(30.)]));
}

#[test]
fn other_timelines_have_the_largest_of_the_filled_cells() {
    let rows = filled(two()).rows(&["tick"]);
    assert_eq!(times(&rows, "tick"), [None, Some(10), Some(10), Some(30)]);
}

#[test]
fn of_several_values_at_the_last_index_value_the_last_row_id_stands() {
    for ids in [[8, 9], [9, 8]] {
        // The unsorted one has the same rows.
        for frames in [[1, 1, 4], [4, 1, 1]] {
            let first = chunk("/a", 1).row_ids([ids[0], 3, 4]);
            let second = chunk("/a", 2).row_ids([ids[1]]).sequence("frame", [1]);
            let values = frames.map(|frame| (frame == 1).then_some(1.));
            let table = filled(vec![
                first
                    .sequence("frame", frames)
                    .floats(SCALAR, values)
                    .build(),
                second.floats(SCALAR, [Some(2.)]).build(),
                chunk("/b", 3)
                    .sequence("frame", [5])
                    .floats(SCALAR, [Some(0.)])
                    .build(),
            ]);
            let rows = table.within(&[], &[TimeRange::new(5, 5)]);
            let row_of_first = if frames[0] == 1 { ids[0] } else { 4 };
            let last = if row_of_first > ids[1] { 1. } else { 2. };
            assert_eq!(lists(&rows, A), floats(&[Some(last)]), "{ids:?} {frames:?}");
        }
    }
}

#[test]
fn a_clear_ends_the_fill_with_an_empty_list() {
    let mut chunks = two();
    chunks.push(chunk("/a", 3).sequence("frame", [3]).clear([false]).build());
    chunks.push(
        chunk("/b", 4)
            .sequence("frame", [9])
            .floats(SCALAR, [Some(0.)])
            .build(),
    );
    let rows = filled(chunks).within(&[A], &[TimeRange::new(2, 9)]);
    assert_eq!(
        lists(&rows, A),
        [Some(vec![2.]), Some(vec![]), Some(vec![])]
    );
}

#[test]
fn static_values_fill_all_rows_and_end_never() {
    let mut chunks = two();
    chunks.push(chunk("/a", 3).floats(SCALAR, [Some(7.)]).build());
    let rows = filled(chunks).rows(&[]);
    assert_eq!(times(&rows, "frame"), [0, 3].map(Some));
    assert_eq!(lists(&rows, A), floats(&[Some(7.), Some(7.)]));
}

#[test]
fn pieces_are_filled_like_the_whole_also_from_what_is_carried() {
    let frames: Vec<i64> = (0..40).map(|n| (n * 7) % 40).collect();
    let values = |every: i64| {
        frames
            .iter()
            .map(move |&f| (f % every == 0).then_some(f as f64))
    };
    let chunks = vec![
        chunk("/a", 1)
            .sequence("frame", frames.clone())
            .floats(SCALAR, values(9))
            .build(),
        chunk("/a", 2)
            .sequence("frame", [11, 12])
            .floats(SCALAR, [Some(0.5), None])
            .build(),
        chunk("/b", 3)
            .sequence("frame", frames.clone())
            .floats(SCALAR, values(1))
            .build(),
        chunk("/", 4).sequence("frame", [20]).clear([true]).build(),
    ];
    let table = filled(chunks);
    let whole = table.rows(&[]);
    assert_eq!(whole.num_rows(), 40);
    let limits = Limits {
        rows: 3,
        ..NO_LIMITS
    };
    let pieces = table.pieces(&[], &[TimeRange::ALL], limits);
    let together = arrow::compute::concat_batches(&whole.schema(), &pieces).unwrap();
    assert_eq!(together, whole);
    // Of all chunks only single rows are left when the last half is asked for.
    let mut carry = Carry::default();
    let mut late = filled(two());
    late.chunks.clear();
    for all in &table.chunks {
        let column = &all.timelines()[0].times;
        let rows = |early: bool| -> Vec<usize> {
            (0..all.num_rows())
                .filter(|&row| (column[row] < 25) == early)
                .collect()
        };
        let early = Arc::new(all.take(&rows(true)).unwrap());
        carry.add(&table.view, &early).unwrap();
        late.chunks.push(Arc::new(all.take(&rows(false)).unwrap()));
    }
    assert!(carry.chunks().iter().all(|chunk| chunk.num_rows() == 1));
    assert_eq!(carry.chunks().len(), 2);
    late.chunks.extend(carry.chunks());
    late.view = table.view.clone();
    let rest = late.within(&[], &[TimeRange::new(25, i64::MAX)]);
    assert_eq!(rest, whole.slice(25, 15));
}
