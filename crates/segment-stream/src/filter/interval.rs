//! Sets of index values.

use std::fmt;

use segue_chunk::TimeRange;

/// A set of `i64` as inclusive intervals: ascending, disjoint and not adjacent, so that equal sets are
/// equal values.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct IntervalSet(Vec<TimeRange>);

impl IntervalSet {
    /// Every value.
    pub(crate) fn all() -> Self {
        Self(vec![TimeRange::ALL])
    }

    /// No value.
    pub(crate) fn empty() -> Self {
        Self(Vec::new())
    }

    /// The values in `start..end`, whose bounds may lie outside `i64`.
    pub(crate) fn half_open(start: i128, end: i128) -> Self {
        let last = end.saturating_sub(1);
        let (Ok(start), Ok(last)) = (
            i64::try_from(start.max(i64::MIN.into())),
            i64::try_from(last.min(i64::MAX.into())),
        ) else {
            return Self::empty();
        };
        TimeRange::new(start, last).into()
    }

    /// Whether no value is in the set.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every value is in the set.
    pub(crate) fn is_all(&self) -> bool {
        self.0 == [TimeRange::ALL]
    }

    /// Whether `value` is in the set.
    pub(crate) fn contains(&self, value: i64) -> bool {
        let next = self.0.partition_point(|range| range.end < value);
        self.0.get(next).is_some_and(|range| range.contains(value))
    }

    /// The smallest range that holds the set; `None` if it is empty.
    pub(crate) fn hull(&self) -> Option<TimeRange> {
        Some(TimeRange::new(self.0.first()?.start, self.0.last()?.end))
    }

    /// The intervals, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = TimeRange> + '_ {
        self.0.iter().copied()
    }

    /// The values in either set.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut ranges = Vec::with_capacity(self.0.len() + other.0.len());
        ranges.extend(self.iter().chain(other.iter()));
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, last| {
            let joined = last.end == i64::MAX || next.start <= last.end + 1;
            if joined {
                last.end = last.end.max(next.end);
            }
            joined
        });
        Self(ranges)
    }

    /// The values in both sets.
    pub(crate) fn intersect(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        let (mut left, mut right) = (self.iter().peekable(), other.iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let common = a.intersection(b);
            if !common.is_empty() {
                ranges.push(common);
            }
            if a.end < b.end {
                left.next();
            } else {
                right.next();
            }
        }
        Self(ranges)
    }

    /// The values that are not in the set.
    pub(crate) fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.0.len() + 1);
        let mut next = Some(i64::MIN);
        for range in self.iter() {
            if let Some(start) = next
                && start < range.start
            {
                ranges.push(TimeRange::new(start, range.start - 1));
            }
            next = range.end.checked_add(1);
        }
        ranges.extend(next.map(|start| TimeRange::new(start, i64::MAX)));
        Self(ranges)
    }

    /// Whether every value of `other` is in this set.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        other.iter().all(|inner| {
            let next = self.0.partition_point(|range| range.end < inner.start);
            self.0
                .get(next)
                .is_some_and(|outer| outer.start <= inner.start && inner.end <= outer.end)
        })
    }
}

impl From<TimeRange> for IntervalSet {
    fn from(range: TimeRange) -> Self {
        if range.is_empty() {
            Self::empty()
        } else {
            Self(vec![range])
        }
    }
}

impl fmt::Debug for IntervalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.iter().map(|range| (range.start, range.end));
        f.debug_set().entries(ranges).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Eight values around each place where arithmetic may go wrong; all sets below are made of these
    /// and the gaps between them.
    fn domain() -> Vec<i64> {
        let edges = [i64::MIN, i64::MIN + 1, i64::MIN + 2, i64::MIN + 3];
        let middle = -4..4;
        let ends = [i64::MAX - 3, i64::MAX - 2, i64::MAX - 1, i64::MAX];
        edges.into_iter().chain(middle).chain(ends).collect()
    }

    fn a_range() -> impl Strategy<Value = TimeRange> {
        (
            prop::sample::select(domain()),
            prop::sample::select(domain()),
        )
            .prop_map(|(start, end)| TimeRange::new(start, end))
    }

    /// A set, built by unions, and what it should hold of the domain.
    fn a_set() -> impl Strategy<Value = (IntervalSet, BTreeSet<i64>)> {
        prop::collection::vec(a_range(), 0..5).prop_map(|ranges| {
            let set = ranges
                .iter()
                .fold(IntervalSet::empty(), |set, &range| set.union(&range.into()));
            let values = domain();
            let held = values
                .into_iter()
                .filter(|&v| ranges.iter().any(|r| r.contains(v)));
            (set, held.collect())
        })
    }

    fn held(set: &IntervalSet) -> BTreeSet<i64> {
        domain().into_iter().filter(|&v| set.contains(v)).collect()
    }

    fn is_normal(set: &IntervalSet) -> bool {
        set.iter().all(|range| !range.is_empty())
            && set
                .0
                .windows(2)
                .all(|pair| pair[0].end < i64::MAX && pair[0].end + 1 < pair[1].start)
    }

    proptest! {
        #[test]
        fn sets_act_like_sets((a, in_a) in a_set(), (b, in_b) in a_set()) {
            prop_assert_eq!(&held(&a), &in_a);
            prop_assert_eq!(held(&a.union(&b)), &in_a | &in_b);
            prop_assert_eq!(held(&a.intersect(&b)), &in_a & &in_b);
            let all: BTreeSet<i64> = domain().into_iter().collect();
            prop_assert_eq!(held(&a.complement()), &all - &in_a);
            for set in [&a, &a.union(&b), &a.intersect(&b), &a.complement()] {
                prop_assert!(is_normal(set), "{:?}", set);
            }
        }

        #[test]
        fn equal_sets_are_equal_values((a, _) in a_set(), (b, _) in a_set()) {
            prop_assert_eq!(a.complement().complement(), a.clone());
            let by_de_morgan = a.complement().union(&b.complement()).complement();
            prop_assert_eq!(a.intersect(&b), by_de_morgan);
            prop_assert!(a.union(&a.complement()).is_all());
            prop_assert!(a.intersect(&a.complement()).is_empty());
            prop_assert_eq!(a.covers(&b), b.intersect(&a) == b);
            prop_assert!(a.union(&b).covers(&b));
        }

        #[test]
        fn a_hull_is_the_smallest_range_around_a_set((a, in_a) in a_set()) {
            let ends = in_a.first().zip(in_a.last());
            prop_assert_eq!(a.hull(), ends.map(|(&first, &last)| TimeRange::new(first, last)));
        }
    }

    #[test]
    fn half_open_bounds_outside_i64_are_cut() {
        let (below, above) = (i128::from(i64::MIN) - 5, i128::from(i64::MAX) + 5);
        assert!(IntervalSet::half_open(below, above).is_all());
        assert!(IntervalSet::half_open(i128::MIN, i128::MAX).is_all());
        for (start, end) in [
            (above, above + 9),
            (below - 9, below),
            (3, 3),
            (i128::MIN, i128::MIN),
        ] {
            assert!(
                IntervalSet::half_open(start, end).is_empty(),
                "{start}..{end}"
            );
        }
        assert_eq!(IntervalSet::half_open(3, 5), TimeRange::new(3, 4).into());
        assert_eq!(
            IntervalSet::half_open(i64::MAX.into(), above),
            TimeRange::new(i64::MAX, i64::MAX).into()
        );
    }
}
