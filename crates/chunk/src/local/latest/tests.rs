//! The rule, and that it is one: compared with looking at every row.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A chunk whose rows have these times, each with the components that have a value there.
#[derive(Clone, Debug)]
struct Rows {
    rows: Vec<(i64, BTreeSet<&'static str>)>,
    knows_range: bool,
    knows_components: bool,
}

impl Rows {
    fn timed(&self) -> Timed<'static> {
        let times = || self.rows.iter().map(|(time, _)| *time);
        let range = times().min().zip(times().max());
        let range = range.map(|(start, end)| TimeRange::new(start, end));
        let names: BTreeSet<&str> = self
            .rows
            .iter()
            .flat_map(|(_, names)| names)
            .copied()
            .collect();
        Timed {
            range: range.filter(|_| self.knows_range),
            components: self.knows_components.then(|| names.into_iter().collect()),
        }
    }
}

/// Whether a chunk holds the latest value of some component at `time`; several may, at one time.
fn holds_latest(chunks: &[Rows], at: usize, time: i64) -> bool {
    let names = ["x", "y", CLEAR_COMPONENT];
    names.iter().any(|name| {
        let latest = |chunk: &Rows| {
            let rows = chunk
                .rows
                .iter()
                .filter(|(t, names)| *t <= time && names.contains(name));
            rows.map(|(t, _)| *t).max()
        };
        let of_all = chunks.iter().filter_map(latest).max();
        of_all.is_some() && latest(&chunks[at]) == of_all
    })
}

fn rows() -> impl Strategy<Value = Rows> {
    let names = prop::sample::subsequence(vec!["x", "y", CLEAR_COMPONENT], 0..=3);
    let row = (-6_i64..6, names).prop_map(|(time, names)| (time, names.into_iter().collect()));
    let known = prop::bool::weighted(0.8);
    (
        prop::collection::vec(row, 1..4),
        known,
        prop::bool::weighted(0.8),
    )
        .prop_map(|(rows, knows_range, knows_components)| Rows {
            rows,
            knows_range,
            knows_components,
        })
}

proptest! {
    #[test]
    fn no_chunk_with_a_latest_value_is_left_out(
        chunks in prop::collection::vec(rows(), 0..8),
        samples in prop::collection::btree_set(-7_i64..8, 0..5),
    ) {
        let timed: Vec<Timed<'_>> = chunks.iter().map(Rows::timed).collect();
        let samples: Vec<i64> = samples.into_iter().collect();
        let needed = needed(&timed, &samples);
        for (at, needed) in needed.into_iter().enumerate() {
            let wanted = samples.iter().any(|time| holds_latest(&chunks, at, *time));
            prop_assert!(needed || !wanted, "chunk {at}");
        }
    }

    #[test]
    fn many_samples_are_the_sum_of_single_ones(
        chunks in prop::collection::vec(rows(), 0..8),
        samples in prop::collection::btree_set(-7_i64..8, 0..5),
    ) {
        let timed: Vec<Timed<'_>> = chunks.iter().map(Rows::timed).collect();
        let together: Vec<i64> = samples.iter().copied().collect();
        let mut each = vec![false; chunks.len()];
        for time in samples {
            for (sum, one) in each.iter_mut().zip(needed(&timed, &[time])) {
                *sum |= one;
            }
        }
        prop_assert_eq!(needed(&timed, &together), each);
    }

    #[test]
    fn what_is_superseded_is_left_out(
        chunks in prop::collection::vec((-6_i64..6, 0_i64..4), 1..8),
        time in -7_i64..12,
    ) {
        // One component, and every chunk says all of itself: the rule is exact up to overlaps.
        let ranges: Vec<TimeRange> =
            chunks.iter().map(|(start, len)| TimeRange::new(*start, start + len)).collect();
        let timed = |range: &TimeRange| Timed { range: Some(*range), components: Some(vec!["x"]) };
        let needed = needed(&ranges.iter().map(timed).collect::<Vec<_>>(), &[time]);
        for (range, needed) in ranges.iter().zip(needed) {
            let later = ranges.iter().any(|other| other.end <= time && other.start > range.end);
            prop_assert_eq!(needed, range.start <= time && !later, "{:?}", range);
        }
    }
}

fn timed(start: i64, end: i64, components: Option<&[&'static str]>) -> Timed<'static> {
    Timed {
        range: Some(TimeRange::new(start, end)),
        components: components.map(<[_]>::to_vec),
    }
}

#[test]
fn the_chunk_before_and_those_that_overlap_are_needed() {
    let chunks = [
        timed(0, 9, Some(&["x"])),
        timed(10, 19, Some(&["x"])),
        timed(15, 40, Some(&["x"])),
        timed(30, 39, Some(&["x"])),
        timed(0, 3, Some(&["y"])),
    ];
    let at = |samples: &[i64]| needed(&chunks, samples);
    assert_eq!(at(&[20]), [false, true, true, false, true]);
    assert_eq!(at(&[5]), [true, false, false, false, true]);
    assert_eq!(at(&[5, 20]), [true, true, true, false, true]);
    assert_eq!(at(&[-1]), [false; 5]);
    assert_eq!(at(&[i64::MAX]), [false, false, true, true, true]);
    assert_eq!(at(&[]), [false; 5]);
}

#[test]
fn what_is_not_known_supersedes_nothing_and_is_needed_once_it_may_have_begun() {
    let chunks = [
        timed(0, 1, Some(&["x"])),
        timed(5, 6, None),
        Timed {
            range: None,
            components: Some(vec!["x"]),
        },
        timed(0, 1, Some(&[])),
    ];
    assert_eq!(needed(&chunks, &[9]), [true, true, true, false]);
    assert_eq!(needed(&chunks, &[4]), [true, false, true, false]);
}

#[test]
fn an_earlier_clear_is_not_superseded_by_a_later_one() {
    let chunks = [
        timed(1, 1, Some(&[CLEAR_COMPONENT])),
        timed(5, 5, Some(&[CLEAR_COMPONENT])),
    ];
    assert_eq!(needed(&chunks, &[9]), [true, true]);
    assert_eq!(needed(&chunks, &[4]), [true, false]);
}
