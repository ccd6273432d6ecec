//! Partitions that do what the executor does, step by step, each step one of the things that can happen next.

mod actor;

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::super::{PartitionId, Policy, Pools, QueryId, UnitId, Wake};
use super::Rule;
use actor::Actor;

/// A unit of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct UnitPlan {
    /// What it is expected to take.
    pub(super) announced: usize,
    /// What it takes.
    pub(super) actual: usize,
    /// What must be kept in all when its rows are out.
    pub(super) kept: usize,
    /// Whether a batch comes of it, and how much larger it is than there is room for.
    pub(super) batch: Option<usize>,
}

/// A partition and who reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PartitionPlan {
    pub(super) query: u64,
    pub(super) units: Vec<UnitPlan>,
    /// Whether its consumer takes batches at all.
    pub(super) reads: bool,
    /// Whether it can be dropped at any time.
    pub(super) cancels: bool,
    /// The unit whose fetch can fail.
    pub(super) fails: Option<usize>,
}

/// Limits, and who takes part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) capacity: usize,
    pub(super) share: usize,
    /// Bytes of the plan of each query.
    pub(super) plan: usize,
    /// Bytes of the memory pool that all queries have in common.
    pub(super) pool: Option<usize>,
    pub(super) ahead: usize,
    pub(super) partitions: Vec<PartitionPlan>,
    /// Whether batches are taken only when all partitions have one, as a merge does.
    pub(super) merged: bool,
    pub(super) without: Option<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pool {
    limit: Option<usize>,
    used: BTreeMap<QueryId, usize>,
}

impl Pools for RefCell<Pool> {
    fn try_grow(&self, query: QueryId, bytes: usize) -> bool {
        let mut pool = self.borrow_mut();
        let all: usize = pool.used.values().sum();
        if pool.limit.is_some_and(|limit| all + bytes > limit) {
            return false;
        }
        *pool.used.entry(query).or_default() += bytes;
        true
    }

    fn shrink(&self, query: QueryId, bytes: usize) {
        *self.borrow_mut().used.entry(query).or_default() -= bytes;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    New,
    Claiming(Then),
    /// Waits until there is room for a batch.
    Room(Then),
    /// Waits for the head.
    Head,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Then {
    Start,
    Settle,
    Emit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Asked,
    UnderWay,
    Growing,
    Here,
}

/// A unit that is fetched: of the plan, or one that brings back so many bytes of what was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Fetch {
    id: UnitId,
    what: What,
    stage: Stage,
    /// Whether it is to look whether it was granted.
    looks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Plan(usize),
    Again(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Driver {
    id: PartitionId,
    phase: Phase,
    /// The next unit of the plan that is not asked for.
    next: usize,
    head: Option<Fetch>,
    ahead: Vec<Fetch>,
    /// What must be kept, and how much of it is here.
    wanted: usize,
    here: usize,
    again: Vec<usize>,
    /// Whether a batch waits for the consumer.
    has_batch: bool,
    /// Whether it is to look how its claim stands, and what it is asked to give back.
    looks: bool,
}

/// All there is at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    policy: Policy,
    pool: Pool,
    drivers: Vec<Driver>,
}

impl State {
    pub(super) fn new(world: &World) -> Self {
        let mut policy = Policy::new(world.capacity);
        policy.without = world.without;
        for partition in &world.partitions {
            policy.begin(QueryId(partition.query), world.share, world.plan);
        }
        let driver = Driver {
            id: PartitionId(u64::MAX),
            phase: Phase::New,
            next: 0,
            head: None,
            ahead: Vec::new(),
            wanted: 0,
            here: 0,
            again: Vec::new(),
            has_batch: false,
            looks: false,
        };
        let pool = Pool {
            limit: world.pool,
            used: BTreeMap::new(),
        };
        Self {
            policy,
            pool,
            drivers: vec![driver; world.partitions.len()],
        }
    }

    /// Whether all who are read have come to an end.
    pub(super) fn is_over(&self, world: &World) -> bool {
        let mut all = self.drivers.iter().zip(&world.partitions);
        all.all(|(driver, plan)| !plan.reads || driver.phase == Phase::Ended)
    }

    /// All that can happen next.
    pub(super) fn successors(&self, world: &World) -> Vec<Self> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut Actor<'_>) -> bool, at: usize| {
            let mut next = self.clone();
            let pool = RefCell::new(next.pool);
            let mut actor = Actor {
                world,
                policy: &mut next.policy,
                pool: &pool,
                driver: &mut next.drivers[at],
                plan: &world.partitions[at],
            };
            let happens = change(&mut actor);
            next.pool = pool.into_inner();
            if happens {
                next.spread_wakes();
                next.check(world);
                all.push(next.renamed());
            }
        };
        for (at, driver) in self.drivers.iter().enumerate() {
            if driver.phase == Phase::Ended {
                continue;
            }
            add(&|actor| actor.step(), at);
            add(&|actor| actor.give_back(), at);
            if world.partitions[at].cancels {
                add(&|actor| actor.cancel(), at);
            }
            if self.can_take(world, at) {
                add(&|actor| actor.take_batch(), at);
            }
            for fetch in 0..=driver.ahead.len() {
                add(&|actor| actor.advance(fetch), at);
                add(&|actor| actor.fail(fetch), at);
            }
        }
        all
    }

    fn can_take(&self, world: &World, at: usize) -> bool {
        let is_ready = |driver: &Driver| driver.has_batch || driver.phase == Phase::Ended;
        let all = !world.merged || self.drivers.iter().all(is_ready);
        world.partitions[at].reads && self.drivers[at].has_batch && all
    }

    fn spread_wakes(&mut self) {
        for wake in self.policy.take_wakes() {
            for driver in &mut self.drivers {
                match wake {
                    Wake::Claim(id) | Wake::Revoked(id) => driver.looks |= driver.id == id,
                    Wake::Unit(id) => {
                        let fetches = driver.head.iter_mut().chain(&mut driver.ahead);
                        fetches.for_each(|fetch| fetch.looks |= fetch.id == id);
                    }
                }
            }
        }
    }

    /// What is true at every moment.
    fn check(&self, world: &World) {
        let policy = &self.policy;
        assert!(
            policy.shared <= world.capacity,
            "more than the window: {self:?}"
        );
        let used: usize = self.pool.used.values().sum();
        assert_eq!(policy.held(), used, "the pool has another number: {self:?}");
        let kept: usize = policy.partitions.values().map(|p| p.kept.bytes).sum();
        let units: usize = policy.units.values().map(|unit| unit.bytes).sum();
        assert_eq!(policy.shared, kept + units, "the sum is wrong: {self:?}");
        for query in policy.queries.values() {
            assert!(query.shared <= query.share, "more than the share: {self:?}");
        }
        // Of several queries, one may begin when others have filled the window.
        if policy.queries.len() == 1 && units > 0 {
            let (all, room) = (units + policy.plans(), world.share - world.share / 4);
            assert!(all <= room, "no room for the plan: {self:?}");
        }
        for (driver, plan) in self.drivers.iter().zip(&world.partitions) {
            self.check_driver(driver, plan);
        }
        let ended = self
            .drivers
            .iter()
            .all(|driver| driver.phase == Phase::Ended);
        assert!(!ended || policy.held() == 0, "leaked: {self:?}");
    }

    /// What is there is charged, and the order is that of the plan.
    fn check_driver(&self, driver: &Driver, plan: &PartitionPlan) {
        let Some(partition) = self.policy.partitions.get(&driver.id) else {
            return;
        };
        let size = |fetch: &Fetch| match (fetch.stage, fetch.what) {
            (Stage::Here, What::Plan(at)) => plan.units[at].actual,
            (Stage::Here, What::Again(bytes)) => bytes,
            _ => 0,
        };
        if let Some(head) = driver.head.filter(|_| self.policy.without.is_none()) {
            assert!(
                size(&head) <= partition.slot.unwrap_or(0),
                "more than the slot: {self:?}"
            );
        }
        for fetch in &driver.ahead {
            let unit = &self.policy.units[&fetch.id];
            assert!(size(fetch) <= unit.bytes, "more than was granted: {self:?}");
        }
        assert!(
            driver.here <= partition.kept.bytes + partition.slot.unwrap_or(0),
            "kept for nothing: {self:?}"
        );
        assert!(
            driver.ahead.is_sorted_by_key(|fetch| fetch.id),
            "out of order: {self:?}"
        );
    }

    /// The same but for names, so that what comes round again is seen to do so.
    fn renamed(mut self) -> Self {
        let partitions: BTreeMap<PartitionId, PartitionId> = self
            .drivers
            .iter()
            .enumerate()
            .map(|(at, driver)| (driver.id, PartitionId(at as u64)))
            .filter(|(id, _)| *id != PartitionId(u64::MAX))
            .collect();
        let new = |id: PartitionId| partitions.get(&id).copied().unwrap_or(id);
        let policy = &mut self.policy;
        let units: BTreeMap<UnitId, UnitId> = policy
            .units
            .keys()
            .zip(100..)
            .map(|(id, rank)| (*id, UnitId(rank)))
            .collect();
        let mut tickets: Vec<u64> = policy
            .partitions
            .values()
            .filter_map(|p| p.ticket)
            .collect();
        tickets.sort_unstable();
        let rank = |ticket: u64| tickets.partition_point(|known| *known < ticket) as u64;
        let old = std::mem::take(&mut policy.partitions);
        policy.partitions = old
            .into_iter()
            .map(|(id, mut partition)| {
                partition.ticket = partition.ticket.map(rank);
                partition.head = partition.head.and_then(|head| units.get(&head).copied());
                (new(id), partition)
            })
            .collect();
        let old = std::mem::take(&mut policy.units);
        policy.units = old
            .into_iter()
            .map(|(id, mut unit)| {
                unit.partition = new(unit.partition);
                (units[&id], unit)
            })
            .collect();
        (policy.next_id, policy.next_ticket) = (1000, 1000);
        policy.queries.values_mut().for_each(|query| query.peak = 0);
        for driver in &mut self.drivers {
            driver.id = new(driver.id);
            for fetch in driver.head.iter_mut().chain(&mut driver.ahead) {
                fetch.id = units[&fetch.id];
            }
        }
        self
    }
}
