//! What is known to go wrong elsewhere, by name, and what goes wrong here without a rule.

use super::Rule;
use super::model::{PartitionPlan, UnitPlan, World};
use super::search::{Found, search};

fn unit(size: usize, kept: usize) -> UnitPlan {
    UnitPlan {
        announced: size,
        actual: size,
        kept,
        batch: Some(0),
    }
}

fn partition(query: u64, units: &[UnitPlan]) -> PartitionPlan {
    PartitionPlan {
        query,
        units: units.to_vec(),
        reads: true,
        cancels: false,
        fails: None,
    }
}

fn world(capacity: usize, partitions: Vec<PartitionPlan>) -> World {
    World {
        capacity,
        share: capacity,
        plan: 0,
        pool: None,
        ahead: 2,
        partitions,
        merged: false,
        without: None,
    }
}

#[track_caller]
fn sound(world: &World) {
    match search(world) {
        Found::Sound(states) => assert!(states > 1),
        Found::Stuck(state) => panic!("stuck: {state}"),
    }
}

/// Two partitions that each keep more than half of the window while they read.
fn greedy() -> Vec<PartitionPlan> {
    let units = [unit(2, 2), unit(1, 3), unit(1, 0)];
    vec![partition(0, &units), partition(0, &units)]
}

#[test]
fn later_work_that_fills_the_window_does_not_stop_a_late_head() {
    let units = [unit(2, 0), unit(2, 0), unit(2, 0), unit(2, 0)];
    sound(&world(4, vec![partition(0, &units)]));
    sound(&world(
        4,
        vec![partition(0, &units[..2]), partition(0, &units[..3])],
    ));
}

#[test]
fn what_two_partitions_keep_may_be_more_than_the_window() {
    sound(&world(4, greedy()));
}

#[test]
fn a_merge_gets_what_it_waits_for() {
    let mut merged = world(4, greedy());
    merged.merged = true;
    sound(&merged);
}

#[test]
fn a_consumer_that_stops_does_not_stop_the_others() {
    let mut world = world(4, greedy());
    world.partitions[0].reads = false;
    sound(&world);
}

#[test]
fn two_queries_share() {
    let mut world = world(4, greedy());
    world.partitions[1].query = 1;
    sound(&world);
    world.share = 3;
    sound(&world);
}

#[test]
fn a_query_may_share_less_than_the_window() {
    let mut world = world(8, greedy());
    world.share = 3;
    sound(&world);
}

#[test]
fn a_unit_larger_than_the_window_is_read() {
    sound(&world(2, vec![partition(0, &[unit(4, 1), unit(1, 0)])]));
}

#[test]
fn plans_leave_less_room_for_what_is_fetched_ahead() {
    let units = [unit(1, 0), unit(1, 1), unit(1, 0), unit(1, 0)];
    for plan in 1..8 {
        let mut world = world(4, vec![partition(0, &units)]);
        world.plan = plan;
        sound(&world);
        world.pool = Some(plan + 1);
        sound(&world);
        world.partitions = greedy();
        sound(&world);
        world.partitions[1].query = 1;
        sound(&world);
    }
}

#[test]
fn what_can_never_be_kept_is_denied() {
    sound(&world(
        2,
        vec![partition(0, &[unit(2, 2), unit(1, 3), unit(1, 0)])],
    ));
}

#[test]
fn a_small_pool_ends_in_rows_or_a_denial() {
    for pool in 1..8 {
        let mut world = world(4, greedy());
        world.pool = Some(pool);
        sound(&world);
        world.merged = true;
        sound(&world);
    }
}

#[test]
fn sizes_that_were_announced_wrong_are_made_good() {
    let wrong = |announced, actual| UnitPlan {
        announced,
        actual,
        kept: actual.min(1),
        batch: None,
    };
    let units = [wrong(1, 3), wrong(3, 1), wrong(1, 4), unit(1, 0)];
    let plans = vec![partition(0, &units[..2]), partition(0, &units[2..])];
    sound(&world(4, plans));
}

#[test]
fn batches_larger_than_their_room_take_it_from_the_pool() {
    for pool in 4..12 {
        let mut world = world(4, greedy());
        world
            .partitions
            .iter_mut()
            .for_each(|plan| plan.units[1].batch = Some(3));
        world.pool = Some(pool);
        sound(&world);
    }
}

#[test]
fn who_is_cancelled_or_fails_leaves_nothing_behind() {
    let mut world = world(4, greedy());
    world.partitions[0].cancels = true;
    world.partitions[1].fails = Some(1);
    sound(&world);
}

#[test]
fn without_the_slot_rule_it_gets_stuck() {
    let mut world = world(4, greedy());
    world.without = Some(Rule::Slots);
    assert!(matches!(search(&world), Found::Stuck(_)));
}

#[test]
fn without_the_revocation_rule_it_gets_stuck() {
    for merged in [false, true] {
        let mut world = world(4, greedy());
        world.merged = merged;
        world.without = Some(Rule::Revocation);
        assert!(matches!(search(&world), Found::Stuck(_)));
    }
}

#[test]
#[should_panic(expected = "leaked")]
fn without_release_on_cancel_it_leaks() {
    let mut world = world(4, greedy());
    world.partitions[0].cancels = true;
    world.without = Some(Rule::ReleaseOnCancel);
    search(&world);
}
