//! Where the values of an index stand relative to a literal.
//!
//! The answer is the one DataFusion gives once it has brought both sides to a common type, which it does
//! by casting the literal, or else the index; the latter counts only for types in which no cast fails and
//! order is kept.

use datafusion::arrow::array::types::IntervalMonthDayNano;
use datafusion::arrow::datatypes::{DataType, IntervalUnit};
use datafusion::common::ScalarValue;
use segue_chunk::TimeKind;

use super::IntervalSet;

/// One past the largest index value.
const END: i128 = i64::MAX as i128 + 1;
const START: i128 = i64::MIN as i128;

/// The index values as seen from a literal: those below it, those equal to it, and those above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// The first value that is not below.
    equal: i128,
    /// The first value that is above.
    above: i128,
}

impl Split {
    /// Seen from the integer `value`.
    fn at(value: i128) -> Self {
        Self {
            equal: value,
            above: value.saturating_add(1),
        }
    }

    /// Seen from `numerator / denominator`, the latter positive.
    fn at_fraction(numerator: i128, denominator: i128) -> Self {
        let floor = numerator.div_euclid(denominator);
        let above = floor.saturating_add(1);
        let is_whole = numerator.rem_euclid(denominator) == 0;
        Self {
            equal: if is_whole { floor } else { above },
            above,
        }
    }

    /// Where `is_below` and `is_above` are monotone in the index value.
    fn search(is_below: impl Fn(i64) -> bool, is_above: impl Fn(i64) -> bool) -> Self {
        Self {
            equal: first(|value| !is_below(value)),
            above: first(is_above),
        }
    }

    /// The values below the literal.
    pub(super) fn below(self) -> IntervalSet {
        IntervalSet::half_open(START, self.equal)
    }

    /// The values equal to the literal.
    pub(super) fn equal(self) -> IntervalSet {
        IntervalSet::half_open(self.equal, self.above)
    }

    /// The values above the literal.
    pub(super) fn above(self) -> IntervalSet {
        IntervalSet::half_open(self.above, END)
    }
}

/// The first index value of which `holds` is true, given that it stays true; [`END`] if there is none.
fn first(holds: impl Fn(i64) -> bool) -> i128 {
    let (mut low, mut high) = (START, END);
    while low < high {
        let middle = low + (high - low) / 2;
        // Below `high`, hence an `i64`.
        if i64::try_from(middle).is_ok_and(&holds) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Splits the index of the given kind at a literal it is compared with as it stands.
///
/// `None` if the comparison is not understood.
pub(super) fn split(kind: TimeKind, literal: &ScalarValue) -> Option<Split> {
    match kind {
        TimeKind::Sequence => number(literal),
        TimeKind::Timestamp => timestamp(literal),
        TimeKind::Duration => duration(literal),
    }
}

/// The one value of an index of the given kind that equals `value`. A whole number is taken as it is, whatever the kind; a
/// text, a date, or a time in any zone can be a timestamp.
pub(crate) fn index_value(kind: TimeKind, value: &ScalarValue) -> Option<i64> {
    let interval = DataType::Interval(IntervalUnit::MonthDayNano);
    let split = match value.data_type() {
        plain if plain.is_numeric() => number(value),
        // What has a zone is an instant all the same.
        DataType::Timestamp(unit, Some(_)) if kind == TimeKind::Timestamp => {
            let instant = value.cast_to(&DataType::Timestamp(unit, Some("UTC".into())));
            instant.ok().and_then(|instant| timestamp(&instant))
        }
        text if text.is_string() || matches!(text, DataType::Date32 | DataType::Date64) => {
            let cast = value.cast_to(&kind.data_type()).ok();
            cast.filter(|_| kind == TimeKind::Timestamp)
                .and_then(|cast| timestamp(&cast))
        }
        _ => split(kind, value).or_else(|| split_cast(kind, &interval, value)),
    };
    let equal = split?.equal();
    let hull = equal.hull()?;
    (hull.start == hull.end).then_some(hull.start)
}

/// Whether comparing an index after a cast to `cast` is understood.
///
/// These are the casts that DataFusion adds when it compares an index with a literal of a wider type.
pub(super) fn is_understood_cast(kind: TimeKind, cast: &DataType) -> bool {
    match (kind, cast) {
        (TimeKind::Sequence, DataType::Float64 | DataType::Float32)
        | (TimeKind::Duration, DataType::Interval(IntervalUnit::MonthDayNano)) => true,
        // Nineteen digits before the point hold every index value.
        (TimeKind::Sequence, DataType::Decimal128(precision, scale)) => {
            *scale >= 0 && i16::from(*precision) - i16::from(*scale) >= 19
        }
        _ => false,
    }
}

/// Splits the index of the given kind at a literal that it is compared with after a cast to `cast`.
pub(super) fn split_cast(kind: TimeKind, cast: &DataType, literal: &ScalarValue) -> Option<Split> {
    if literal.data_type() != *cast || !is_understood_cast(kind, cast) {
        return None;
    }
    match kind {
        TimeKind::Sequence => number(literal),
        TimeKind::Duration => interval(literal),
        TimeKind::Timestamp => None,
    }
}

fn number(literal: &ScalarValue) -> Option<Split> {
    let integer: i128 = match *literal {
        ScalarValue::Int8(value) => value?.into(),
        ScalarValue::Int16(value) => value?.into(),
        ScalarValue::Int32(value) => value?.into(),
        ScalarValue::Int64(value) => value?.into(),
        ScalarValue::UInt8(value) => value?.into(),
        ScalarValue::UInt16(value) => value?.into(),
        ScalarValue::UInt32(value) => value?.into(),
        ScalarValue::UInt64(value) => value?.into(),
        ScalarValue::Decimal32(value, _, scale) => return decimal(value?.into(), scale),
        ScalarValue::Decimal64(value, _, scale) => return decimal(value?.into(), scale),
        ScalarValue::Decimal128(value, _, scale) => return decimal(value?, scale),
        ScalarValue::Float32(value) => return float32(value?),
        ScalarValue::Float64(value) => return float64(value?),
        _ => return None,
    };
    Some(Split::at(integer))
}

fn decimal(value: i128, scale: i8) -> Option<Split> {
    let power = 10i128.checked_pow(scale.unsigned_abs().into())?;
    if scale >= 0 {
        Some(Split::at_fraction(value, power))
    } else {
        value.checked_mul(power).map(Split::at)
    }
}

/// Floats are compared as floats, where neighbouring large integers are equal.
fn float64(value: f64) -> Option<Split> {
    is_ordinary(value)
        .then(|| Split::search(|index| (index as f64) < value, |index| index as f64 > value))
}

fn float32(value: f32) -> Option<Split> {
    is_ordinary(value.into())
        .then(|| Split::search(|index| (index as f32) < value, |index| index as f32 > value))
}

/// Whether all orders of floats agree on how integers compare with `value`: they differ on NaN, and on
/// whether minus zero is zero.
fn is_ordinary(value: f64) -> bool {
    !value.is_nan() && (value != 0.0 || value.is_sign_positive())
}

fn timestamp(literal: &ScalarValue) -> Option<Split> {
    let (value, nanoseconds, zone) = match literal {
        ScalarValue::TimestampSecond(value, zone) => (value, 1_000_000_000, zone),
        ScalarValue::TimestampMillisecond(value, zone) => (value, 1_000_000, zone),
        ScalarValue::TimestampMicrosecond(value, zone) => (value, 1_000, zone),
        ScalarValue::TimestampNanosecond(value, zone) => (value, 1, zone),
        _ => return None,
    };
    // A column without a zone is read as local time of the literal's zone, so only UTC leaves its
    // numbers alone.
    let is_utc = zone
        .as_deref()
        .is_none_or(|zone| matches!(zone, "UTC" | "+00:00"));
    is_utc.then_some(Split::at(i128::from((*value)?) * nanoseconds))
}

fn duration(literal: &ScalarValue) -> Option<Split> {
    let (value, nanoseconds) = match literal {
        ScalarValue::DurationSecond(value) => (value, 1_000_000_000),
        ScalarValue::DurationMillisecond(value) => (value, 1_000_000),
        ScalarValue::DurationMicrosecond(value) => (value, 1_000),
        ScalarValue::DurationNanosecond(value) => (value, 1),
        _ => return None,
    };
    Some(Split::at(i128::from((*value)?) * nanoseconds))
}

/// Intervals are compared field by field, and a duration is an interval of nanoseconds alone.
fn interval(literal: &ScalarValue) -> Option<Split> {
    let ScalarValue::IntervalMonthDayNano(Some(value)) = literal else {
        return None;
    };
    let as_interval = |index| IntervalMonthDayNano::new(0, 0, index);
    Some(Split::search(
        |index| as_interval(index) < *value,
        |index| as_interval(index) > *value,
    ))
}

#[cfg(test)]
mod tests {
    use segue_chunk::TimeRange;

    use super::*;

    fn sets(split: Option<Split>) -> Option<[IntervalSet; 3]> {
        split.map(|split| [split.below(), split.equal(), split.above()])
    }

    /// What `[below, equal, above]` is when the first value not below and the first above are as given.
    fn parts(equal: i64, above: i64) -> Option<[IntervalSet; 3]> {
        Some([
            TimeRange::new(i64::MIN, equal - 1).into(),
            TimeRange::new(equal, above - 1).into(),
            TimeRange::new(above, i64::MAX).into(),
        ])
    }

    fn all_below() -> Option<[IntervalSet; 3]> {
        Some([
            IntervalSet::all(),
            IntervalSet::empty(),
            IntervalSet::empty(),
        ])
    }

    fn all_above() -> Option<[IntervalSet; 3]> {
        Some([
            IntervalSet::empty(),
            IntervalSet::empty(),
            IntervalSet::all(),
        ])
    }

    #[test]
    fn numbers_split_a_sequence_where_their_value_lies() {
        let cases = [
            (ScalarValue::Int8(Some(-3)), parts(-3, -2)),
            (ScalarValue::UInt64(Some(7)), parts(7, 8)),
            (ScalarValue::UInt64(Some(u64::MAX)), all_below()),
            (ScalarValue::Float64(Some(10.5)), parts(11, 11)),
            (ScalarValue::Float64(Some(-10.5)), parts(-10, -10)),
            (ScalarValue::Float64(Some(10.0)), parts(10, 11)),
            (ScalarValue::Float32(Some(-0.5)), parts(0, 0)),
            (ScalarValue::Float64(Some(1e300)), all_below()),
            (ScalarValue::Float64(Some(f64::NEG_INFINITY)), all_above()),
            (ScalarValue::Decimal128(Some(105), 4, 1), parts(11, 11)),
            (ScalarValue::Decimal64(Some(-105), 4, 1), parts(-10, -10)),
            (ScalarValue::Decimal32(Some(5), 4, -2), parts(500, 501)),
            (ScalarValue::Decimal128(Some(i128::MAX), 38, 0), all_below()),
            (ScalarValue::Decimal128(Some(i128::MIN), 38, 0), all_above()),
        ];
        for (literal, expected) in cases {
            assert_eq!(
                sets(split(TimeKind::Sequence, &literal)),
                expected,
                "{literal:?}"
            );
        }
    }

    #[test]
    fn integers_that_are_one_float_are_equal_to_it() {
        // From 2^53 on, floats are two apart; a tie goes to the even one.
        let big = 1i64 << 53;
        let literal = ScalarValue::Float64(Some(big as f64));
        assert_eq!(
            sets(split(TimeKind::Sequence, &literal)),
            parts(big, big + 2)
        );
        let literal = ScalarValue::Float64(Some((big + 4) as f64));
        assert_eq!(
            sets(split(TimeKind::Sequence, &literal)),
            parts(big + 3, big + 6)
        );
    }

    #[test]
    fn times_of_any_unit_split_in_nanoseconds_without_overflow() {
        let utc = || Some("UTC".into());
        let (timestamp, duration) = (TimeKind::Timestamp, TimeKind::Duration);
        let cases = [
            (
                timestamp,
                ScalarValue::TimestampMicrosecond(Some(2), None),
                parts(2000, 2001),
            ),
            (
                timestamp,
                ScalarValue::TimestampNanosecond(Some(-2), utc()),
                parts(-2, -1),
            ),
            (
                timestamp,
                ScalarValue::TimestampSecond(Some(i64::MAX), None),
                all_below(),
            ),
            (
                timestamp,
                ScalarValue::TimestampMillisecond(Some(i64::MIN), utc()),
                all_above(),
            ),
            (
                duration,
                ScalarValue::DurationMillisecond(Some(3)),
                parts(3_000_000, 3_000_001),
            ),
            (
                duration,
                ScalarValue::DurationSecond(Some(i64::MIN)),
                all_above(),
            ),
        ];
        for (kind, literal, expected) in cases {
            assert_eq!(sets(split(kind, &literal)), expected, "{literal:?}");
        }
    }

    #[test]
    fn literals_of_another_kind_are_not_understood() {
        let cases = [
            (TimeKind::Sequence, ScalarValue::Float64(Some(f64::NAN))),
            (TimeKind::Sequence, ScalarValue::Float64(Some(-0.0))),
            (TimeKind::Sequence, ScalarValue::from("7")),
            (TimeKind::Sequence, ScalarValue::Int64(None)),
            (TimeKind::Timestamp, ScalarValue::Int64(Some(7))),
            (
                TimeKind::Timestamp,
                ScalarValue::TimestampSecond(Some(7), Some("+02:00".into())),
            ),
            (
                TimeKind::Duration,
                ScalarValue::TimestampSecond(Some(7), None),
            ),
        ];
        for (kind, literal) in cases {
            assert_eq!(split(kind, &literal), None, "{literal:?}");
        }
    }

    #[test]
    fn only_casts_that_neither_fail_nor_reorder_are_looked_through() {
        let decimal = |precision, scale| {
            let cast = DataType::Decimal128(precision, scale);
            let literal = ScalarValue::Decimal128(Some(5), precision, scale);
            split_cast(TimeKind::Sequence, &cast, &literal)
        };
        assert_eq!(sets(decimal(20, 0)), parts(5, 6));
        assert_eq!(sets(decimal(20, 1)), parts(1, 1));
        assert_eq!(decimal(18, 0), None);
        assert_eq!(decimal(20, 2), None);

        let narrow = split_cast(
            TimeKind::Sequence,
            &DataType::Int32,
            &ScalarValue::Int32(Some(1)),
        );
        assert_eq!(narrow, None);
        let other = split_cast(
            TimeKind::Sequence,
            &DataType::Float64,
            &ScalarValue::Int64(Some(1)),
        );
        assert_eq!(other, None);
    }

    #[test]
    fn a_duration_is_below_every_interval_with_a_day_in_it() {
        let seen_from = |days, nanoseconds| {
            let value = IntervalMonthDayNano::new(0, days, nanoseconds);
            let literal = ScalarValue::IntervalMonthDayNano(Some(value));
            sets(split_cast(
                TimeKind::Duration,
                &literal.data_type(),
                &literal,
            ))
        };
        assert_eq!(seen_from(0, 5), parts(5, 6));
        assert_eq!(seen_from(1, -5), all_below());
        assert_eq!(seen_from(-1, 5), all_above());
    }
}
