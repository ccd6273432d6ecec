//! Rows and cells of what was logged.

use super::*;

#[test]
fn entities_meet_in_one_row_per_index_value_and_what_is_missing_is_null() {
    let table = Table::new(
        Some("frame"),
        "/**",
        vec![
            chunk("/a", 1)
                .sequence("frame", [3, 1])
                .floats(SCALAR, [Some(30.), Some(10.)])
                .build(),
            chunk("/b", 2)
                .sequence("frame", [2, 3])
                .floats(SCALAR, [Some(2.), Some(3.)])
                .build(),
        ],
    );
    let rows = table.rows(&[]);
    assert_eq!(times(&rows, "frame"), [Some(1), Some(2), Some(3)]);
    let a = lists(&rows, "/a:Scalars:scalars");
    assert_eq!(a, floats(&[Some(10.), None, Some(30.)]));
    let b = lists(&rows, "/b:Scalars:scalars");
    assert_eq!(b, floats(&[None, Some(2.), Some(3.)]));
    let ids = rows
        .column_by_name("rerun_segment_id")
        .unwrap()
        .as_string::<i32>();
    assert!(ids.iter().all(|id| id == Some("s")));
}

#[test]
fn of_several_values_at_one_index_value_the_last_by_row_id_then_chunk_id_stands() {
    for ids in [[1, 2], [2, 1]] {
        let old = chunk("/a", ids[0])
            .row_ids([7, 8])
            .sequence("frame", [0, 0]);
        let new = chunk("/a", ids[1])
            .row_ids([9, 1])
            .sequence("frame", [0, 1]);
        let table = Table::new(
            Some("frame"),
            "/**",
            vec![
                new.floats(SCALAR, [Some(9.), Some(1.)]).build(),
                old.floats(SCALAR, [Some(7.), Some(8.)]).build(),
            ],
        );
        let a = lists(&table.rows(&[]), "/a:Scalars:scalars");
        assert_eq!(a, floats(&[Some(9.), Some(1.)]));
    }
    let tied = |id| chunk("/a", id).row_ids([5]).sequence("frame", [0]);
    let table = Table::new(
        Some("frame"),
        "/**",
        vec![
            tied(2).floats(SCALAR, [Some(2.)]).build(),
            tied(1).floats(SCALAR, [Some(1.)]).build(),
        ],
    );
    assert_eq!(
        lists(&table.rows(&[]), "/a:Scalars:scalars"),
        floats(&[Some(2.)])
    );
}

#[test]
fn a_later_null_does_not_hide_a_value_and_alone_makes_no_row() {
    let table = Table::new(
        Some("frame"),
        "/**",
        vec![
            chunk("/a", 1)
                .sequence("frame", [0])
                .floats(SCALAR, [Some(1.)])
                .build(),
            chunk("/a", 2)
                .sequence("frame", [0, 1])
                .floats(SCALAR, [None, None])
                .build(),
        ],
    );
    let rows = table.rows(&[]);
    assert_eq!(times(&rows, "frame"), [Some(0)]);
    assert_eq!(lists(&rows, "/a:Scalars:scalars"), floats(&[Some(1.)]));
}

#[test]
fn an_empty_list_is_a_value() {
    let empty = chunk("/a", 1)
        .sequence("frame", [4])
        .lists(SCALAR, [Some(vec![])]);
    let table = Table::new(Some("frame"), "/**", vec![empty.build()]);
    assert_eq!(
        lists(&table.rows(&[]), "/a:Scalars:scalars"),
        [Some(vec![])]
    );
}

#[test]
fn a_static_value_hides_temporal_ones_stands_on_every_row_and_makes_none() {
    let hidden = chunk("/a", 9)
        .sequence("frame", [0, 5])
        .floats(SCALAR, [Some(1.), Some(2.)]);
    let value = chunk("/a", 1).floats(SCALAR, [Some(42.)]);
    let other = chunk("/b", 3)
        .sequence("frame", [1, 2])
        .floats(SCALAR, [Some(1.), Some(2.)]);
    let alone = vec![hidden.clone().build(), value.clone().build()];
    assert_eq!(
        Table::new(Some("frame"), "/**", alone).rows(&[]).num_rows(),
        0
    );
    let table = Table::new(
        Some("frame"),
        "/**",
        vec![hidden.build(), value.build(), other.build()],
    );
    let rows = table.rows(&[]);
    assert_eq!(times(&rows, "frame"), [Some(1), Some(2)]);
    let a = lists(&rows, "/a:Scalars:scalars");
    assert_eq!(a, floats(&[Some(42.), Some(42.)]));
}

#[test]
fn another_timeline_holds_the_largest_value_of_the_cells_of_the_row() {
    let a = chunk("/a", 1)
        .sequence("frame", [0, 1])
        .sequence("tick", [10, 11]);
    let b = chunk("/b", 2).sequence("frame", [0]).sequence("tick", [7]);
    let c = chunk("/c", 3)
        .sequence("frame", [2])
        .floats(SCALAR, [Some(1.)]);
    let table = Table::new(
        Some("frame"),
        "/**",
        vec![
            a.floats(SCALAR, [Some(1.), Some(1.)]).build(),
            b.floats(SCALAR, [Some(1.)]).build(),
            c.build(),
        ],
    );
    let expected = [Some(10), Some(11), None];
    assert_eq!(times(&table.rows(&[]), "tick"), expected);
    // Also where the column of the cell is not read.
    assert_eq!(times(&table.rows(&["tick"]), "tick"), expected);
}

#[test]
fn each_projection_equals_the_same_columns_of_all() {
    let table = Table::new(
        Some("frame"),
        "/**",
        vec![
            chunk("/a", 1)
                .sequence("frame", [0, 1])
                .floats(SCALAR, [Some(1.), None])
                .build(),
            chunk("/b", 2)
                .sequence("frame", [1, 2])
                .floats(SCALAR, [Some(1.), Some(2.)])
                .build(),
            chunk("/c", 3).floats(SCALAR, [Some(42.)]).build(),
        ],
    );
    let all = table.rows(&[]);
    let names: Vec<&str> = all
        .schema_ref()
        .fields()
        .iter()
        .map(|f| f.name().as_str())
        .collect();
    for first in &names {
        for second in &names {
            let some = table.rows(&[first, second]);
            for name in [first, second] {
                assert_eq!(
                    some.column_by_name(name),
                    all.column_by_name(name),
                    "{first} {second}"
                );
            }
        }
    }
    let none = table.with(&["frame"], |chunks| {
        let chunks = SegmentChunks {
            projection: &[],
            ..*chunks
        };
        assemble(&chunks, &[TimeRange::ALL], RowKey::MIN, NO_LIMITS)
            .unwrap()
            .batch
    });
    assert_eq!((none.num_rows(), none.num_columns()), (3, 0));
}

#[test]
fn windows_are_assembled_piece_by_piece_without_loss_or_repetition() {
    let frames: Vec<i64> = (0..50).map(|n| (n * 37) % 50).collect();
    let values = frames.iter().map(|&f| Some(f as f64));
    let chunk = chunk("/a", 1)
        .sequence("frame", frames.clone())
        .floats(SCALAR, values);
    let table = Table::new(Some("frame"), "/**", vec![chunk.build()]);
    for limits in [
        Limits {
            rows: 7,
            ..NO_LIMITS
        },
        Limits {
            rows: 0,
            ..NO_LIMITS
        },
        Limits {
            bytes: 40,
            ..NO_LIMITS
        },
        Limits {
            bytes: 0,
            ..NO_LIMITS
        },
    ] {
        let windows = [TimeRange::new(5, 20), TimeRange::new(30, 44)];
        let pieces = table.pieces(&[], &windows, limits);
        let seen: Vec<_> = pieces
            .iter()
            .flat_map(|piece| times(piece, "frame"))
            .collect();
        assert_eq!(
            seen,
            (5..=20).chain(30..=44).map(Some).collect::<Vec<_>>(),
            "{limits:?}"
        );
    }
}

#[test]
fn the_extremes_of_the_index_have_rows() {
    let chunk = chunk("/a", 1).sequence("frame", [i64::MAX, i64::MIN]);
    let table = Table::new(
        Some("frame"),
        "/**",
        vec![chunk.floats(SCALAR, [Some(1.), Some(2.)]).build()],
    );
    assert_eq!(
        times(&table.rows(&[]), "frame"),
        [Some(i64::MIN), Some(i64::MAX)]
    );
}

#[test]
fn without_an_index_there_is_one_row_of_the_last_static_values_or_none() {
    let old = chunk("/a", 1)
        .row_ids([1])
        .floats(SCALAR, [Some(1.)])
        .build();
    let new = chunk("/a", 2)
        .row_ids([2])
        .floats(SCALAR, [Some(2.)])
        .build();
    let temporal = chunk("/b", 3)
        .sequence("frame", [0])
        .floats(SCALAR, [Some(3.)])
        .build();
    let table = Table::new(None, "/**", vec![new, old, temporal.clone()]);
    let rows = table.with(&[], assemble_static).unwrap();
    assert_eq!(lists(&rows, "/a:Scalars:scalars"), floats(&[Some(2.)]));
    assert_eq!(times(&rows, "frame"), [None]);
    assert!(rows.column_by_name("/b:Scalars:scalars").is_none());
    let table = Table::new(None, "/**", vec![temporal]);
    assert_eq!(table.with(&[], assemble_static).unwrap().num_rows(), 0);
}

#[test]
fn an_unknown_index_is_an_error_that_names_the_near_ones() {
    let chunk = chunk("/a", 1)
        .sequence("frame_nr", [0])
        .floats(SCALAR, [Some(1.)])
        .build();
    let error = View::resolve(&schema_of(&[chunk]), Some("frame"), &ViewOptions::default());
    let error = error.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownIndex);
    assert_eq!(
        error.to_string(),
        "no index 'frame'; did you mean 'frame_nr'?"
    );
}

#[test]
fn a_timeline_called_like_another_column_is_a_clash() {
    let chunk = chunk("/a", 1)
        .sequence("rerun_segment_id", [0])
        .floats(SCALAR, [Some(1.)]);
    let schema = schema_of(&[chunk.build()]);
    let error = View::resolve(&schema, None, &ViewOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NameClash);
}
