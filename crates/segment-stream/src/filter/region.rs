//! Boxes of segments and index values, and what is known of the rows for which something holds.

use std::collections::BTreeSet;
use std::fmt;

use segue_chunk::{TextSet, TimeRange};

use super::IntervalSet;

/// How many entries of a list are printed.
const PRINTED: usize = 8;

/// The rows of some segments at some index values at which some columns have values. Empty on all axes if empty on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    segments: TextSet,
    index: IntervalSet,
    /// Positions of the columns; each has a value on every row.
    not_null: BTreeSet<usize>,
}

impl Region {
    /// The rows of `segments` whose index value is in `index`.
    pub(crate) fn new(segments: TextSet, index: IntervalSet) -> Self {
        if segments.is_empty() || index.is_empty() {
            return Self::empty();
        }
        Self {
            segments,
            index,
            not_null: BTreeSet::new(),
        }
    }

    /// Those of the rows on which the columns `not_null` have values, too.
    pub(crate) fn with_not_null(mut self, not_null: BTreeSet<usize>) -> Self {
        if !self.is_empty() {
            self.not_null.extend(not_null);
        }
        self
    }

    /// Every row.
    pub(crate) fn all() -> Self {
        Self::new(TextSet::all(), IntervalSet::all())
    }

    /// No row.
    pub(crate) fn empty() -> Self {
        Self {
            segments: TextSet::empty(),
            index: IntervalSet::empty(),
            not_null: BTreeSet::new(),
        }
    }

    /// The segments of the rows.
    pub(crate) fn segments(&self) -> &TextSet {
        &self.segments
    }

    /// The index values of the rows.
    pub(crate) fn index(&self) -> &IntervalSet {
        &self.index
    }

    /// The columns that have a value on every row.
    pub(crate) fn not_null(&self) -> &BTreeSet<usize> {
        &self.not_null
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Whether every row is in the region.
    pub(crate) fn is_all(&self) -> bool {
        self.segments.is_all() && self.index.is_all() && self.not_null.is_empty()
    }

    /// Whether the row of `segment` at the index value `value` is in the region, if the columns `nulls` are null there.
    #[cfg(test)]
    pub(crate) fn contains(&self, segment: &str, value: i64, nulls: &BTreeSet<usize>) -> bool {
        let has_values = self.not_null.is_disjoint(nulls);
        self.segments.contains(segment) && self.index.contains(value) && has_values
    }

    /// Whether every row of `other` is in the region.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let is_wider = self.not_null.is_subset(&other.not_null);
        let covers = is_wider && self.segments.covers(&other.segments);
        other.is_empty() || (covers && self.index.covers(&other.index))
    }

    /// The rows in both regions.
    pub(crate) fn intersect(&self, other: &Self) -> Self {
        let segments = self.segments.intersect(&other.segments);
        let rows = Self::new(segments, self.index.intersect(&other.index));
        rows.with_not_null(&self.not_null | &other.not_null)
    }

    /// The smallest region that holds both.
    fn hull(&self, other: &Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            (false, false) => Self {
                segments: self.segments.union(&other.segments),
                index: self.index.union(&other.index),
                not_null: &self.not_null & &other.not_null,
            },
        }
    }

    /// The region as text; `index` is the name of the index column.
    pub(crate) fn display<'a>(&'a self, index: &'a str) -> impl fmt::Display + 'a {
        Shown {
            region: self,
            index,
        }
    }
}

/// Where something holds: on no row outside `region`, and, if `exact`, on every row in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// The rows outside of which it does not hold.
    pub(crate) region: Region,
    /// Whether it holds on every row of the region.
    pub(crate) exact: bool,
}

impl Bound {
    /// It holds on the rows of `region`, and no others.
    pub(crate) fn exactly(region: Region) -> Self {
        Self {
            region,
            exact: true,
        }
    }

    /// It may hold on any row of `region`.
    pub(crate) fn within(region: Region) -> Self {
        let exact = region.is_empty();
        Self { region, exact }
    }

    /// Nothing is known.
    pub(crate) fn unknown() -> Self {
        Self::within(Region::all())
    }

    /// Where this and `other` hold.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let region = self.region.intersect(&other.region);
        if self.exact && other.exact {
            Self::exactly(region)
        } else {
            Self::within(region)
        }
    }

    /// Where this or `other` holds.
    pub(crate) fn or(&self, other: &Self) -> Self {
        // An exact region that covers the other is the answer, however little is known of the other.
        for (outer, inner) in [(self, other), (other, self)] {
            if outer.exact && outer.region.covers(&inner.region) {
                return outer.clone();
            }
        }
        let (a, b) = (&self.region, &other.region);
        let is_a_box = a.segments == b.segments || a.index == b.index;
        let is_a_box = is_a_box && a.not_null == b.not_null;
        let exact = is_a_box && self.exact && other.exact;
        Self {
            region: a.hull(b),
            exact,
        }
    }

    /// Where this does not hold.
    pub(crate) fn not(&self) -> Self {
        if !self.exact {
            return Self::unknown();
        }
        let Region {
            segments,
            index,
            not_null,
        } = &self.region;
        if !not_null.is_empty() {
            Self::unknown()
        } else if index.is_all() {
            Self::exactly(Region::new(segments.complement(), IntervalSet::all()))
        } else if segments.is_all() {
            Self::exactly(Region::new(TextSet::all(), index.complement()))
        } else if self.region.is_empty() {
            Self::exactly(Region::all())
        } else {
            Self::unknown()
        }
    }
}

struct Shown<'a> {
    region: &'a Region,
    index: &'a str,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Region {
            segments, index, ..
        } = self.region;
        if self.region.is_empty() {
            return f.write_str("no rows");
        }
        if segments.is_all() && index.is_all() {
            return f.write_str("all rows");
        }
        if !segments.is_all() {
            let others = segments.complement();
            match segments.listed().is_none() && others.listed().is_some() {
                true => write!(f, "segments not in [{others}]")?,
                false => write!(f, "segments in [{segments}]")?,
            }
        }
        if index.is_all() {
            return Ok(());
        }
        if !segments.is_all() {
            f.write_str(", ")?;
        }
        write!(f, "{} in ", self.index)?;
        list(f, index.iter(), index.iter().count(), " or ", range)
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
    len: usize,
    separator: &str,
    mut item: impl FnMut(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (i, value) in items.take(PRINTED).enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        item(f, value)?;
    }
    if len > PRINTED {
        write!(f, "{separator}{} more", len - PRINTED)?;
    }
    Ok(())
}

fn range(f: &mut fmt::Formatter<'_>, range: TimeRange) -> fmt::Result {
    match (range.start, range.end) {
        (i64::MIN, end) => write!(f, "(.., {end}]"),
        (start, i64::MAX) => write!(f, "[{start}, ..)"),
        (start, end) => write!(f, "[{start}, {end}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(segments: &[&str], start: i64, end: i64) -> Region {
        let ids = segments.iter().collect();
        Region::new(ids, TimeRange::new(start, end).into())
    }

    #[test]
    fn regions_print_what_they_restrict() {
        let from = Region::new(TextSet::all(), TimeRange::new(5, i64::MAX).into());
        let but = Region::new(
            TextSet::one("a").complement(),
            IntervalSet::from(TimeRange::new(3, 4)).complement(),
        );
        let printed = [
            (Region::all(), "all rows"),
            (Region::empty(), "no rows"),
            (
                rows(&["b", "a"], 0, 9),
                "segments in [a, b], frame_nr in [0, 9]",
            ),
            (from, "frame_nr in [5, ..)"),
            (but, "segments not in [a], frame_nr in (.., 2] or [5, ..)"),
        ];
        for (region, text) in printed {
            assert_eq!(region.display("frame_nr").to_string(), text);
        }
    }

    #[test]
    fn long_lists_are_cut_when_printed() {
        let ids: Vec<_> = (0..20).map(|i| format!("s{i:02}")).collect();
        let ids: Vec<_> = ids.iter().map(String::as_str).collect();
        let region = rows(&ids, i64::MIN, i64::MAX);
        assert_eq!(
            region.display("t").to_string(),
            "segments in [s00, s01, s02, s03, s04, s05, s06, s07, 12 more]"
        );
    }

    #[test]
    fn a_union_is_exact_only_where_it_is_a_box() {
        let bound = |segments: &[&str], start, end| Bound::exactly(rows(segments, start, end));
        let cases = [
            (
                bound(&["a"], 0, 9),
                bound(&["b"], 0, 9),
                bound(&["a", "b"], 0, 9),
            ),
            (
                bound(&["a"], 0, 4),
                bound(&["a"], 5, 9),
                bound(&["a"], 0, 9),
            ),
            (
                bound(&["a", "b"], 0, 9),
                bound(&["b"], 3, 4),
                bound(&["a", "b"], 0, 9),
            ),
            (bound(&["a"], 0, 4), bound(&[], 0, 0), bound(&["a"], 0, 4)),
            (
                bound(&["a"], 0, 4),
                bound(&["b"], 0, 9),
                Bound::within(rows(&["a", "b"], 0, 9)),
            ),
        ];
        for (a, b, expected) in cases {
            assert_eq!(a.or(&b), expected);
            assert_eq!(b.or(&a), expected);
        }
    }

    #[test]
    fn an_inexact_bound_spoils_a_union_unless_it_is_covered() {
        let wide = Bound::exactly(rows(&["a"], 0, 9));
        let inside = Bound::within(rows(&["a"], 3, 4));
        assert_eq!(wide.or(&inside), wide);
        let outside = Bound::within(rows(&["a"], 3, 40));
        assert_eq!(wide.or(&outside), Bound::within(rows(&["a"], 0, 40)));
    }

    #[test]
    fn what_holds_nowhere_is_known_exactly() {
        let (a, b) = (
            Bound::within(rows(&["a"], 0, 9)),
            Bound::within(rows(&["b"], 0, 9)),
        );
        assert_eq!(a.and(&b), Bound::exactly(Region::empty()));
        assert_eq!(a.and(&b).not(), Bound::exactly(Region::all()));
    }

    #[test]
    fn what_must_have_values_adds_up_and_is_lost_in_a_union() {
        let not_null = |columns: &[usize]| {
            let columns = columns.iter().copied().collect();
            Bound::exactly(Region::all().with_not_null(columns))
        };
        let (first, second) = (not_null(&[1]), not_null(&[2]));
        assert_eq!(first.and(&second), not_null(&[1, 2]));
        assert_eq!(first.or(&second), Bound::unknown());
        assert_eq!(first.or(&not_null(&[1, 2])), first);
        assert_eq!(first.not(), Bound::unknown());
        let nothing = Bound::exactly(Region::empty());
        assert_eq!(first.or(&nothing), first);
        assert_eq!(first.and(&nothing), nothing);
        let early = Bound::exactly(rows(&["a"], 0, 9)).and(&first);
        let late = Bound::exactly(rows(&["a"], 10, 19)).and(&first);
        assert_eq!(
            early.or(&late),
            Bound::exactly(rows(&["a"], 0, 19)).and(&first)
        );
        let late = Bound::exactly(rows(&["a"], 10, 19)).and(&second);
        assert_eq!(early.or(&late), Bound::within(rows(&["a"], 0, 19)));
    }

    #[test]
    fn only_an_exact_bound_of_one_axis_has_a_complement() {
        let frames = Bound::exactly(Region::new(TextSet::all(), TimeRange::new(0, 9).into()));
        assert!(frames.not().exact);
        assert_eq!(frames.not().not(), frames);
        assert_eq!(Bound::exactly(rows(&["a"], 0, 9)).not(), Bound::unknown());
        assert_eq!(Bound::within(frames.region).not(), Bound::unknown());
    }
}
