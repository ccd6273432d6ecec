//! Worlds: all the smallest ones, and any number of larger ones.

use proptest::prelude::*;

use super::model::{PartitionPlan, UnitPlan, World};
use super::search::{Found, search};

/// Units that keep no more than there can be.
fn units(most: usize) -> impl Strategy<Value = Vec<UnitPlan>> {
    let batch = prop::option::weighted(0.7, 0usize..3);
    let unit = (1usize..=4, 1usize..=4, any::<prop::sample::Index>(), batch);
    prop::collection::vec(unit, 1..=most).prop_map(|drawn| {
        let mut kept = 0;
        let last = drawn.len() - 1;
        let units = drawn
            .into_iter()
            .enumerate()
            .map(|(at, (announced, actual, keeps, batch))| {
                kept = match at == last {
                    true => 0,
                    false => keeps.index(kept + actual + 1),
                };
                UnitPlan {
                    announced,
                    actual,
                    kept,
                    batch,
                }
            });
        units.collect()
    })
}

fn partition(most: usize) -> impl Strategy<Value = PartitionPlan> {
    (0u64..2, units(most), 0usize..5).prop_map(|(query, units, event)| PartitionPlan {
        query,
        reads: event != 0,
        cancels: event == 1,
        fails: (event == 2).then_some(0),
        units,
    })
}

/// Up to three partitions of five units together.
fn world() -> impl Strategy<Value = World> {
    let partitions = prop_oneof![
        prop::collection::vec(partition(5), 1),
        prop::collection::vec(partition(2), 2),
        prop::collection::vec(partition(1), 3),
        (partition(3), partition(2)).prop_map(|(a, b)| vec![a, b]),
    ];
    let limits = (
        1usize..=6,
        1usize..=6,
        0usize..=3,
        prop::option::weighted(0.3, 2usize..=10),
        1usize..=2,
    );
    (limits, partitions, any::<bool>()).prop_map(|(limits, partitions, merged)| {
        let (capacity, share, plan, pool, ahead) = limits;
        let all_read = partitions.iter().all(|partition| partition.reads);
        World {
            capacity,
            share: share.min(capacity),
            plan,
            pool,
            ahead,
            partitions,
            // A merge reads all, or none.
            merged: merged && all_read,
            without: None,
        }
    })
}

fn check(world: &World) -> Result<(), TestCaseError> {
    match search(world) {
        Found::Sound(_) => Ok(()),
        Found::Stuck(state) => Err(TestCaseError::fail(state)),
    }
}

/// How many worlds are drawn: `SEGUE_WINDOW_WORLDS`, or few.
fn cases() -> u32 {
    let wanted = std::env::var("SEGUE_WINDOW_WORLDS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(60)
}

#[test]
fn worlds_of_any_kind_come_to_an_end_within_their_bounds() {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases())
    };
    proptest!(config, |(world in world())| check(&world)?);
}

#[test]
fn all_worlds_of_two_partitions_with_two_units_of_at_most_two_bytes() {
    let unit = |size: usize, kept: usize| UnitPlan {
        announced: size,
        actual: size,
        kept,
        batch: Some(0),
    };
    let mut plans = Vec::new();
    for (first, second) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        for kept in 0..=first {
            plans.push(vec![unit(first, kept), unit(second, 0)]);
        }
    }
    let partition = |units: &Vec<UnitPlan>| PartitionPlan {
        query: 0,
        units: units.clone(),
        reads: true,
        cancels: false,
        fails: None,
    };
    let mut worlds = 0;
    for capacity in 1..=2 {
        for (at, first) in plans.iter().enumerate() {
            for second in &plans[at..] {
                let world = World {
                    capacity,
                    share: capacity,
                    plan: 0,
                    pool: None,
                    ahead: 1,
                    partitions: vec![partition(first), partition(second)],
                    merged: (at + capacity) % 2 == 0,
                    without: None,
                };
                check(&world).unwrap();
                worlds += 1;
            }
        }
    }
    assert_eq!(worlds, 2 * 10 * 11 / 2);
}
