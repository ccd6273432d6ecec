//! Random expressions.

use datafusion::arrow::array::types::IntervalMonthDayNano;
use datafusion::arrow::datatypes::{DataType, IntervalUnit};
use datafusion::common::ScalarValue;
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{
    BinaryExpr, Expr, Operator, cast, col, in_list, lit, not, try_cast, when,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const OPERATORS: [Operator; 8] = [
    Operator::Eq,
    Operator::NotEq,
    Operator::Lt,
    Operator::LtEq,
    Operator::Gt,
    Operator::GtEq,
    Operator::IsDistinctFrom,
    Operator::IsNotDistinctFrom,
];

fn in_dictionary(value: ScalarValue) -> ScalarValue {
    ScalarValue::Dictionary(Box::new(DataType::Int32), Box::new(value))
}

fn segment_literals() -> Vec<ScalarValue> {
    let mut literals = vec![
        ScalarValue::Null,
        ScalarValue::Utf8(None),
        ScalarValue::from("missing"),
    ];
    for id in SEGMENTS {
        let id = || Some(id.to_owned());
        literals.extend([ScalarValue::Utf8(id()), ScalarValue::Utf8View(id())]);
        literals.extend([
            ScalarValue::LargeUtf8(id()),
            in_dictionary(ScalarValue::Utf8(id())),
        ]);
    }
    literals
}

/// A column as it may be compared, and literals for it.
type Operands = (Expr, Vec<ScalarValue>);

fn sequence_operands() -> Vec<Operands> {
    let frame = || col("frame_nr");
    let integers = INDEX
        .map(|value| ScalarValue::Int64(Some(value)))
        .into_iter()
        .chain([
            ScalarValue::Null,
            ScalarValue::Int64(None),
            ScalarValue::Int8(Some(-1)),
            ScalarValue::UInt32(Some(2)),
            ScalarValue::UInt64(Some(3)),
            ScalarValue::UInt64(Some(u64::MAX)),
            in_dictionary(ScalarValue::Int64(Some(2))),
        ]);
    let floats: Vec<_> = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        2.0,
        2.5,
        1e300,
        f64::NEG_INFINITY,
        f64::INFINITY,
        f64::NAN,
    ]
    .into_iter()
    .chain([BIG, BIG + 2, i64::MIN, i64::MAX].map(|value| value as f64))
    .map(|value| ScalarValue::Float64(Some(value)))
    .chain([ScalarValue::Float64(None)])
    .collect();
    let singles: Vec<_> = [0.0, 1.5, -3e38, 9e15, f32::NAN]
        .map(|value| ScalarValue::Float32(Some(value)))
        .into();
    let decimals: Vec<_> = [-10, -5, 0, 5, 10, 25, 20_000_000_000]
        .map(|value| ScalarValue::Decimal128(Some(value), 21, 1))
        .into();
    let all = integers
        .chain(floats.clone())
        .chain(singles.clone())
        .chain(decimals.clone());
    vec![
        (frame(), all.collect()),
        (cast(frame(), DataType::Float64), floats),
        (cast(frame(), DataType::Float32), singles),
        (cast(frame(), DataType::Decimal128(21, 1)), decimals),
        (
            try_cast(frame(), DataType::Int32),
            vec![ScalarValue::Int32(Some(2))],
        ),
        (cast(frame(), DataType::Utf8), vec![ScalarValue::from("2")]),
    ]
}

fn timestamp_operands() -> Vec<Operands> {
    let utc = || Some("UTC".into());
    let literals = INDEX.map(|value| ScalarValue::TimestampNanosecond(Some(value), None));
    let others = [
        ScalarValue::TimestampNanosecond(None, None),
        ScalarValue::TimestampNanosecond(Some(2), utc()),
        ScalarValue::TimestampMicrosecond(Some(1), Some("+00:00".into())),
        ScalarValue::TimestampMicrosecond(Some(1), Some("+02:00".into())),
        ScalarValue::TimestampMillisecond(Some(2000), None),
        ScalarValue::TimestampSecond(Some(-2), utc()),
        ScalarValue::from("1970-01-01T00:00:02"),
    ];
    vec![(
        col("log_time"),
        literals.into_iter().chain(others).collect(),
    )]
}

fn duration_operands() -> Vec<Operands> {
    let literals = INDEX.map(|value| ScalarValue::DurationNanosecond(Some(value)));
    let others = [
        ScalarValue::DurationNanosecond(None),
        ScalarValue::DurationMicrosecond(Some(1)),
        ScalarValue::DurationSecond(Some(-2)),
    ];
    let interval = |days, nanoseconds| {
        ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(0, days, nanoseconds)))
    };
    let intervals = vec![
        interval(0, 2),
        interval(0, -1),
        interval(1, 0),
        interval(-1, 7),
    ];
    let span = || col("span");
    let as_interval = cast(span(), DataType::Interval(IntervalUnit::MonthDayNano));
    let bare = literals.into_iter().chain(others).chain(intervals.clone());
    vec![(span(), bare.collect()), (as_interval, intervals)]
}

/// Comparisons of the operand with its literals, in every form.
fn comparison((operand, literals): Operands) -> BoxedStrategy<Expr> {
    let literal = || select(literals.clone()).prop_map(lit);
    let (left, right, listed, ranged) =
        (operand.clone(), operand.clone(), operand.clone(), operand);
    let binary = |left: Expr, op, right: Expr| {
        Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
    };
    let list = prop::collection::vec(literal(), 1..7);
    prop_oneof![
        3 => (select(OPERATORS.to_vec()), literal())
            .prop_map(move |(op, literal)| binary(left.clone(), op, literal)),
        1 => (select(OPERATORS.to_vec()), literal())
            .prop_map(move |(op, literal)| binary(literal, op, right.clone())),
        2 => (list, any::<bool>())
            .prop_map(move |(list, negated)| in_list(listed.clone(), list, negated)),
        1 => (literal(), literal(), any::<bool>()).prop_map(move |(low, high, negated)| {
            if negated { ranged.clone().not_between(low, high) } else { ranged.clone().between(low, high) }
        }),
    ]
    .boxed()
}

fn expression(operands: Vec<Operands>) -> BoxedStrategy<Expr> {
    let never_null = [col(SEGMENT_ID_COLUMN), operands[0].0.clone()];
    let on_index = prop::strategy::Union::new(operands.into_iter().map(comparison));
    let on_segment = comparison((col(SEGMENT_ID_COLUMN), segment_literals()));
    let (flag, x) = (|| col("flag"), || col("x"));
    let opaque = [
        flag(),
        flag().is_null(),
        x().gt(lit(100)),
        x().is_not_null(),
        x().alias("named").is_null(),
        (x() + lit(1)).is_not_null(),
        x().gt(lit(100)).is_not_true(),
        flag().eq(x().gt(lit(3))),
        coalesce(vec![x(), lit(7)]).gt(lit(3)),
        in_list(
            x(),
            vec![lit(1), lit(2), lit(ScalarValue::Int64(None))],
            true,
        ),
        x().not_between(lit(3), lit(100)),
        when(x().is_null(), lit(true)).otherwise(flag()).unwrap(),
        lit(true),
        lit(false),
        lit(ScalarValue::Null),
    ];
    let patterns = ["", "%", "a", "a%", "%a", "_", "ü%", "a\\%", "a%b", "b%%"];
    let pattern = (select(patterns.to_vec()), any::<bool>(), any::<bool>());
    let like = pattern.prop_map(|(pattern, negated, insensitive)| {
        let segment = Box::new(col(SEGMENT_ID_COLUMN));
        Expr::Like(Like::new(
            negated,
            segment,
            Box::new(lit(pattern)),
            None,
            insensitive,
        ))
    });
    let leaf = prop_oneof![
        5 => on_index,
        4 => on_segment,
        3 => select(opaque.to_vec()),
        1 => like,
        1 => select(never_null.to_vec()).prop_map(Expr::is_null),
        1 => select(never_null.to_vec()).prop_map(Expr::is_not_null),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and(b)),
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a.or(b)),
            3 => inner.clone().prop_map(not),
            1 => inner.clone().prop_map(|a| a.alias("named")),
            1 => boxed().prop_map(Expr::IsTrue),
            1 => boxed().prop_map(Expr::IsNotTrue),
            1 => boxed().prop_map(Expr::IsFalse),
            1 => boxed().prop_map(Expr::IsNotFalse),
            1 => boxed().prop_map(Expr::IsUnknown),
            1 => boxed().prop_map(Expr::IsNotUnknown),
            1 => boxed().prop_map(Expr::IsNull),
        ]
    })
    .boxed()
}

/// Checks `expr` as written and as optimised, for a view with the index and for one without.
fn holds(index: (&str, TimeKind), expr: &Expr) -> Result<(), TestCaseError> {
    // What does not run at all, such as a list without a common type, has no rows to compare.
    let Ok(optimised) = ROWS.optimised(expr) else {
        return Err(TestCaseError::reject("does not type"));
    };
    for expr in [expr, &optimised] {
        if ROWS.evaluate(expr).is_err() {
            return Err(TestCaseError::reject("does not run"));
        }
        for index in [Some(index), None] {
            ROWS.check(index, expr).map_err(TestCaseError::fail)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn filters_on_a_sequence_agree_with_evaluation(expr in expression(sequence_operands())) {
        holds(COLUMNS[2], &expr)?;
    }

    #[test]
    fn filters_on_a_timestamp_agree_with_evaluation(expr in expression(timestamp_operands())) {
        holds(COLUMNS[1], &expr)?;
    }

    #[test]
    fn filters_on_a_duration_agree_with_evaluation(expr in expression(duration_operands())) {
        holds(COLUMNS[0], &expr)?;
    }
}
