//! Predicates as people write them, and what is read for them.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{TableProviderFilterPushDown, col, lit};
use segue_chunk::{TextSet, TimeRange};

use super::*;
use crate::filter::{Bound, IntervalSet, Region};

/// `EXACT`, or how DataFusion would answer, before the region.
fn answer(index: usize, sql: &str) -> String {
    let (name, kind) = COLUMNS[index];
    let expr = ROWS.optimised(&ROWS.parse(sql)).unwrap();
    ROWS.check(Some((name, kind)), &expr).unwrap();
    let analysis = ROWS.filters(Some((name, kind))).analyse(&[&expr]);
    let region = analysis.region.display(name).to_string();
    let not_null = analysis.region.not_null().iter();
    let not_null = not_null.map(|&at| format!(", {} has a value", COMPONENTS[at]));
    format!(
        "{:?}: {region}{}",
        analysis.pushdown[0],
        not_null.collect::<String>()
    )
}

#[track_caller]
fn expect(index: usize, cases: &[(&str, &str)]) {
    let wrong: Vec<_> = cases
        .iter()
        .map(|&(sql, expected)| (sql, answer(index, sql), expected))
        .filter(|(_, answer, expected)| answer != expected)
        .collect();
    assert!(wrong.is_empty(), "(sql, answer, expected): {wrong:#?}");
}

const SPAN: usize = 0;
const LOG_TIME: usize = 1;
const FRAME: usize = 2;

#[test]
fn comparisons_of_a_sequence_become_ranges() {
    expect(
        FRAME,
        &[
            ("frame_nr < 10", "Exact: frame_nr in (.., 9]"),
            ("10 < frame_nr", "Exact: frame_nr in [11, ..)"),
            ("frame_nr <> 3", "Exact: frame_nr in (.., 2] or [4, ..)"),
            (
                "frame_nr IS DISTINCT FROM 3",
                "Exact: frame_nr in (.., 2] or [4, ..)",
            ),
            (
                "frame_nr IS NOT DISTINCT FROM 3",
                "Exact: frame_nr in [3, 3]",
            ),
            ("frame_nr BETWEEN 3 AND 5", "Exact: frame_nr in [3, 5]"),
            (
                "frame_nr NOT BETWEEN 3 AND 5",
                "Exact: frame_nr in (.., 2] or [6, ..)",
            ),
            (
                "NOT (frame_nr >= 3 AND frame_nr < 5)",
                "Exact: frame_nr in (.., 2] or [5, ..)",
            ),
            (
                "frame_nr IN (5, 1, 2, 3, 9)",
                "Exact: frame_nr in [1, 3] or [5, 5] or [9, 9]",
            ),
            (
                "frame_nr NOT IN (1, 2, 3, 9)",
                "Exact: frame_nr in (.., 0] or [4, 8] or [10, ..)",
            ),
            ("frame_nr < 10.5", "Exact: frame_nr in (.., 10]"),
            ("frame_nr = 10.5", "Exact: no rows"),
            ("frame_nr IN (1.0, 2.5)", "Exact: frame_nr in [1, 1]"),
            ("frame_nr < 18446744073709551615", "Exact: all rows"),
            ("frame_nr >= -9223372036854775808", "Exact: all rows"),
            ("frame_nr > 9223372036854775807", "Exact: no rows"),
            ("frame_nr < 3 AND frame_nr > 5", "Exact: no rows"),
            ("frame_nr IS NOT NULL", "Exact: all rows"),
            ("frame_nr IS NULL", "Exact: no rows"),
        ],
    );
}

#[test]
fn conditions_on_segments_become_sets() {
    expect(
        FRAME,
        &[
            ("rerun_segment_id = 'a'", "Exact: segments in [a]"),
            ("'a' <> rerun_segment_id", "Exact: segments not in [a]"),
            (
                "rerun_segment_id IN ('a', 'b')",
                "Exact: segments in [a, b]",
            ),
            (
                "rerun_segment_id NOT IN ('e', 'd', 'c', 'b')",
                "Exact: segments not in [b, c, d, e]",
            ),
            (
                "rerun_segment_id = 'a' AND rerun_segment_id = 'b'",
                "Exact: no rows",
            ),
            (
                "rerun_segment_id = 'a' AND frame_nr < 3",
                "Exact: segments in [a], frame_nr in (.., 2]",
            ),
            (
                "rerun_segment_id = arrow_cast('a', 'Utf8View')",
                "Exact: segments in [a]",
            ),
            ("upper(rerun_segment_id) = 'A'", "Unsupported: all rows"),
        ],
    );
}

#[test]
fn null_is_neither_true_nor_false() {
    expect(
        FRAME,
        &[
            ("frame_nr = NULL", "Exact: no rows"),
            ("NOT (frame_nr = NULL)", "Exact: no rows"),
            (
                "frame_nr IN (1, 2, 3, 4, NULL)",
                "Exact: frame_nr in [1, 4]",
            ),
            ("frame_nr NOT IN (1, 2, 3, 4, NULL)", "Exact: no rows"),
            ("NOT (frame_nr IN (1, NULL))", "Exact: no rows"),
            ("rerun_segment_id NOT IN ('a', NULL)", "Exact: no rows"),
            (
                "(frame_nr < 3 AND NULL) IS NULL",
                "Exact: frame_nr in (.., 2]",
            ),
            (
                "(frame_nr IN (1, NULL)) IS NOT TRUE",
                "Exact: frame_nr in (.., 0] or [2, ..)",
            ),
            ("frame_nr IS DISTINCT FROM NULL", "Exact: all rows"),
            ("x = NULL", "Exact: no rows"),
        ],
    );
}

#[test]
fn what_is_not_understood_leaves_the_rest_to_narrow() {
    expect(
        FRAME,
        &[
            (
                "frame_nr < 3 AND length(rerun_segment_id) = 1",
                "Inexact: frame_nr in (.., 2]",
            ),
            ("frame_nr < 3 OR flag", "Unsupported: all rows"),
            (
                "NOT (frame_nr >= 3 OR flag)",
                "Inexact: frame_nr in (.., 2], flag has a value",
            ),
            (
                "frame_nr < 9 OR (frame_nr < 3 AND flag)",
                "Exact: frame_nr in (.., 8]",
            ),
            ("frame_nr < 3 AND frame_nr > 5 AND flag", "Exact: no rows"),
            (
                "(rerun_segment_id = 'a' AND frame_nr = 1) OR (rerun_segment_id = 'b' AND frame_nr = 2)",
                "Inexact: segments in [a, b], frame_nr in [1, 2]",
            ),
            ("frame_nr + 1 < 3", "Unsupported: all rows"),
            ("CAST(frame_nr AS VARCHAR) > '2'", "Unsupported: all rows"),
            ("frame_nr < x", "Inexact: all rows, x has a value"),
            ("log_time < TIMESTAMP '1970-01-01'", "Unsupported: all rows"),
            ("span IS NULL AND frame_nr = 2", "Exact: no rows"),
        ],
    );
}

#[test]
fn times_are_compared_as_instants() {
    expect(
        LOG_TIME,
        &[
            (
                "log_time < TIMESTAMP '1970-01-01T00:00:01'",
                "Exact: log_time in (.., 999999999]",
            ),
            (
                "log_time >= '1970-01-01T00:00:01'",
                "Exact: log_time in [1000000000, ..)",
            ),
            (
                "log_time = arrow_cast(2, 'Timestamp(Millisecond, None)')",
                "Exact: log_time in [2000000, 2000000]",
            ),
            (
                "log_time > arrow_cast(2, 'Timestamp(Second, Some(\"UTC\"))')",
                "Exact: log_time in [2000000001, ..)",
            ),
            (
                "log_time < DATE '1970-01-02'",
                "Exact: log_time in (.., 86399999999999]",
            ),
            (
                "date_part('year', log_time) = 1970",
                "Exact: log_time in [0, 31535999999999999]",
            ),
            ("date_part('month', log_time) = 1", "Unsupported: all rows"),
            ("frame_nr < 3", "Unsupported: all rows"),
        ],
    );
    expect(
        SPAN,
        &[
            (
                "span < arrow_cast(5, 'Duration(Nanosecond)')",
                "Exact: span in (.., 4]",
            ),
            (
                "span < INTERVAL '5 seconds'",
                "Exact: span in (.., 4999999999]",
            ),
            ("span < INTERVAL '1 day'", "Exact: all rows"),
            (
                "span < arrow_cast(5, 'Duration(Second)')",
                "Exact: span in (.., 4999999999]",
            ),
        ],
    );
}

#[test]
fn segments_are_told_by_order_and_pattern() {
    expect(
        FRAME,
        &[
            ("rerun_segment_id LIKE 'a%'", "Exact: segments in [a*]"),
            (
                "rerun_segment_id NOT LIKE 'a%'",
                "Exact: segments in [[, a), [b, ..)]",
            ),
            ("rerun_segment_id LIKE 'a'", "Exact: segments in [a]"),
            (
                "rerun_segment_id LIKE 'run_1%x'",
                "Inexact: segments in [run*]",
            ),
            (
                "rerun_segment_id NOT LIKE 'run_1%x'",
                "Unsupported: all rows",
            ),
            (r"rerun_segment_id LIKE 'a\%'", "Inexact: segments in [a*]"),
            ("rerun_segment_id ILIKE 'a%'", "Unsupported: all rows"),
            (
                "starts_with(rerun_segment_id, 'ab')",
                "Exact: segments in [ab*]",
            ),
            ("rerun_segment_id >= 'b'", "Exact: segments in [[b, ..)]"),
            ("'b' > rerun_segment_id", "Exact: segments in [[, b)]"),
            (
                "rerun_segment_id BETWEEN 'a' AND 'b'",
                "Exact: segments in [[a, b\0)]",
            ),
            (
                "rerun_segment_id NOT BETWEEN 'a' AND 'b'",
                "Exact: segments in [[, a), [b\0, ..)]",
            ),
            (
                "rerun_segment_id LIKE 'a%' AND rerun_segment_id < 'a'",
                "Exact: no rows",
            ),
        ],
    );
}

#[test]
fn what_must_have_a_value_is_found_in_whatever_needs_it() {
    expect(
        FRAME,
        &[
            ("x IS NOT NULL", "Exact: all rows, x has a value"),
            ("NOT (x IS NULL)", "Exact: all rows, x has a value"),
            ("x IS NULL", "Unsupported: all rows"),
            ("x > 3", "Inexact: all rows, x has a value"),
            ("NOT (x > 3)", "Inexact: all rows, x has a value"),
            ("(x > 3) IS NOT TRUE", "Unsupported: all rows"),
            ("x IN (1, 2, NULL)", "Inexact: all rows, x has a value"),
            ("x + frame_nr > 3", "Inexact: all rows, x has a value"),
            (
                "(x > 3) = flag",
                "Inexact: all rows, flag has a value, x has a value",
            ),
            ("coalesce(x, 3) > 2", "Unsupported: all rows"),
            ("x > 3 OR flag", "Unsupported: all rows"),
            ("x > 3 OR x IS NOT NULL", "Exact: all rows, x has a value"),
            (
                "x IS NOT NULL AND flag IS NOT NULL AND frame_nr < 5",
                "Exact: frame_nr in (.., 4], flag has a value, x has a value",
            ),
            (
                "x IS NOT NULL AND (frame_nr < 5 OR flag)",
                "Inexact: all rows, x has a value",
            ),
            ("x IS NULL AND x > 3", "Inexact: all rows, x has a value"),
            ("x > 3 AND frame_nr < 5 AND frame_nr > 7", "Exact: no rows"),
        ],
    );
}

#[test]
fn of_a_column_that_may_be_null_nothing_is_exact() {
    let filters = Filters {
        is_nullable: true,
        ..ROWS.filters(Some(("x", TimeKind::Sequence)))
    };
    let analyse = |sql: &str| {
        let expr = ROWS.optimised(&ROWS.parse(sql)).unwrap();
        let analysis = filters.analyse(&[&expr]);
        format!(
            "{:?}: {}",
            analysis.pushdown[0],
            analysis.region.display("x")
        )
    };
    for (sql, expected) in [
        ("x >= 3", "Inexact: x in [3, ..)"),
        ("x NOT IN (3, 4, 5, 6)", "Inexact: x in (.., 2] or [7, ..)"),
        ("x IS NULL", "Unsupported: all rows"),
        ("x IS NOT NULL", "Unsupported: all rows"),
        ("(x >= 3) IS NOT TRUE", "Unsupported: all rows"),
        ("x IS DISTINCT FROM 3", "Unsupported: all rows"),
        ("x >= 3 OR x IS NULL", "Unsupported: all rows"),
    ] {
        assert_eq!(analyse(sql), expected, "{sql}");
    }
}

#[test]
fn a_view_without_index_is_narrowed_by_segment_only() {
    let segment = ROWS.parse("rerun_segment_id = 'a'");
    let frame = ROWS.parse("frame_nr < 3");
    let analysis = ROWS.filters(None).analyse(&[&segment, &frame]);
    assert_eq!(
        analysis.region,
        Region::new(TextSet::one("a"), IntervalSet::all())
    );
    use TableProviderFilterPushDown::{Exact, Unsupported};
    assert_eq!(analysis.pushdown, [Exact, Unsupported]);
}

#[test]
fn several_filters_are_met_together_and_answered_one_by_one() {
    let filters = [
        "rerun_segment_id = 'a'",
        "frame_nr < 3",
        "frame_nr >= 0 AND flag",
        "flag",
    ];
    let exprs = filters.map(|sql| ROWS.parse(sql));
    let analysis = ROWS
        .filters(Some(COLUMNS[FRAME]))
        .analyse(&exprs.each_ref());
    let expected = Region::new(TextSet::one("a"), TimeRange::new(0, 2).into());
    let expected = expected.with_not_null([0].into());
    assert_eq!(analysis.region, expected);
    use TableProviderFilterPushDown::{Exact, Inexact};
    assert_eq!(analysis.pushdown, [Exact, Exact, Inexact, Inexact]);
    assert!(ROWS.filters(None).analyse(&[]).region.is_all());
}

#[test]
fn a_list_that_would_be_compared_in_a_wider_type_is_not_understood_as_written() {
    for wide in [lit(0.5), lit(ScalarValue::Float64(None))] {
        let written = col("frame_nr").in_list(vec![lit(BIG + 1), wide], false);
        let truth = ROWS.check(Some(COLUMNS[FRAME]), &written).unwrap();
        assert_eq!(truth.yes, Bound::unknown());
        let optimised = ROWS.optimised(&written).unwrap();
        let truth = ROWS.check(Some(COLUMNS[FRAME]), &optimised).unwrap();
        assert!(truth.yes.exact && truth.yes.region.contains("a", BIG, &BTreeSet::new()));
    }
}

#[test]
fn long_chains_and_deep_trees_are_read_without_deep_recursion() {
    let frame = |value: i64| col("frame_nr").eq(lit(value));
    let chain = (0..3000)
        .map(|value| frame(2 * value))
        .reduce(|a, b| a.or(b))
        .unwrap();
    let index = Some(COLUMNS[FRAME]);
    let analysis = ROWS.filters(index).analyse(&[&chain]);
    assert_eq!(analysis.pushdown, [TableProviderFilterPushDown::Exact]);
    assert_eq!(analysis.region.index().iter().count(), 3000);

    let deep = (0..1000).fold(frame(1), |expr, _| expr.is_true());
    let analysis = ROWS.filters(index).analyse(&[&deep]);
    assert_eq!(
        analysis.pushdown,
        [TableProviderFilterPushDown::Unsupported]
    );
    assert!(analysis.region.is_all());
}
