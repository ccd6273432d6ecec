//! The rules of the window: who may hold how much. No tasks, locks or clocks.
//!
//! Each active partition has a *slot*, reserved before it does anything: there stand its head unit, the one whose
//! chunks its next rows wait for, and the batch that is being made. All else is held in the *shared remainder*:
//! units fetched ahead, and chunks *kept* because rows to come need them.
//!
//! Why it goes on, whatever anybody does:
//!
//! * **The slot rule.** A head unit is never refused, since its slot is there. So a partition lacks memory only when
//!   it must keep chunks beyond its head: then it *claims*, with a ticket that says since when it holds on.
//! * **The revocation rule.** All that is shared can be fetched again, but for the few copied rows of fill (*fixed*). A
//!   claim that does not fit takes it back from partitions that stand still and from those with a younger ticket.
//!   The oldest claim therefore gets all there is, or would not fit even so, and is denied.
//! * **Release.** What goes, by success, error or cancellation, is released, and claims are tried again.
//!
//! Held is never more than the capacity, one slot per active partition, and the plans of active queries, which are there
//! before the window is asked: what is fetched ahead makes room for them. Fairness: what is left over goes to the query
//! that holds the least, in the order of the plan within a partition, and a quarter of it is left to claims.

mod claims;
mod grants;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// A query that holds memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct QueryId(pub(crate) u64);

/// A partition of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PartitionId(u64);

/// A unit of the plan of a partition that is fetched or held. Those of a partition ascend in the order of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UnitId(u64);

/// The memory pools that queries take their bytes from.
pub(crate) trait Pools {
    /// Takes `bytes` from the pool of `query`, or says no.
    fn try_grow(&self, query: QueryId, bytes: usize) -> bool;
    /// Gives `bytes` back.
    fn shrink(&self, query: QueryId, bytes: usize);
}

/// What a slot has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    /// The largest unit of the plan.
    pub(crate) unit: usize,
    /// A batch, and the list of units.
    pub(crate) other: usize,
}

/// What is kept in the shared remainder beyond its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Kept {
    /// All of it, in bytes.
    pub(crate) bytes: usize,
    /// That part of it that cannot be fetched again.
    pub(crate) fixed: usize,
}

/// What a partition is asked to give back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Revocation {
    /// Nothing.
    #[default]
    None,
    /// The units that it fetches ahead.
    Ahead,
    /// These, and what it keeps, as far as it can be fetched again.
    Kept,
}

/// Which limit a claim is beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Limit {
    /// What the query may hold.
    Share,
    /// What the window has.
    Window,
    /// What the memory pool gives.
    Pool,
}

/// Why a claim can never be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Denied {
    /// The limit.
    pub(crate) limit: Limit,
    /// Bytes asked for, beyond those that are held.
    pub(crate) asked: usize,
    /// Bytes that the query holds.
    pub(crate) held: usize,
    /// Bytes that are free under the limit; 0 for a pool, which does not tell.
    pub(crate) available: usize,
}

/// How a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimState {
    /// It waits for others to release.
    Waiting,
    /// There is none, or it was granted.
    Granted,
    /// It will not be granted.
    Denied(Denied),
}

/// Somebody whose situation has changed, and who is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Wake {
    /// The claim of a partition was granted or denied.
    Claim(PartitionId),
    /// A unit was granted what it waits for.
    Unit(UnitId),
    /// A partition is to give back.
    Revoked(PartitionId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Query {
    /// Most bytes that it may share.
    share: usize,
    /// Bytes of its plan.
    plan: usize,
    /// Partitions that have a slot. As long as there are any, its plan is charged.
    active: usize,
    /// Bytes that it holds of the shared remainder.
    shared: usize,
    /// Bytes of its slots.
    slots: usize,
    /// The most that it has held.
    peak: usize,
}

impl Query {
    /// Bytes of its plan, while they are charged.
    fn charged_plan(&self) -> usize {
        if self.active > 0 { self.plan } else { 0 }
    }

    fn held(&self) -> usize {
        self.shared + self.slots + self.charged_plan()
    }

    fn saw_peak(&mut self) {
        self.peak = self.peak.max(self.held());
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Partition {
    query: QueryId,
    room: Slot,
    /// Bytes taken for the slot, once it is there.
    slot: Option<usize>,
    /// Bytes of a batch beyond the room for it.
    batch_excess: usize,
    head: Option<UnitId>,
    kept: Kept,
    claim: Option<Claim>,
    denied: Option<Denied>,
    /// Since when it holds on to what it keeps or claims: the order among claims.
    ticket: Option<u64>,
    /// Whether it waits for nothing but its consumer.
    stands: bool,
    revocation: Revocation,
}

/// Something without which a partition cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Claim {
    /// Its slot, or a larger one: a head or a batch can be larger than foreseen.
    Slot,
    /// To keep so much.
    Keep(Kept),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Unit {
    query: QueryId,
    partition: PartitionId,
    /// What it holds.
    bytes: usize,
    /// What it needs.
    wanted: usize,
}

/// The state of a window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Policy {
    /// Bytes that can be shared.
    capacity: usize,
    /// Bytes that are.
    shared: usize,
    queries: BTreeMap<QueryId, Query>,
    partitions: BTreeMap<PartitionId, Partition>,
    units: BTreeMap<UnitId, Unit>,
    next_id: u64,
    next_ticket: u64,
    wakes: Vec<Wake>,
    /// A rule that is left out, to show what it is for.
    #[cfg(test)]
    without: Option<tests::Rule>,
}

impl Policy {
    /// A window of `capacity` bytes, all free.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            shared: 0,
            queries: BTreeMap::new(),
            partitions: BTreeMap::new(),
            units: BTreeMap::new(),
            next_id: 0,
            next_ticket: 0,
            wakes: Vec::new(),
            #[cfg(test)]
            without: None,
        }
    }

    /// Those who are to look at their situation again, since the last call.
    pub(crate) fn take_wakes(&mut self) -> Vec<Wake> {
        std::mem::take(&mut self.wakes)
    }

    /// Begins a query that may share at most `share` bytes, under a name that no other has. Its plan takes `plan` bytes.
    pub(crate) fn begin(&mut self, query: QueryId, share: usize, plan: usize) {
        let query_state = Query {
            share: share.min(self.capacity),
            plan,
            active: 0,
            shared: 0,
            slots: 0,
            peak: 0,
        };
        self.queries.insert(query, query_state);
    }

    /// Ends a query whose partitions have left.
    pub(crate) fn end(&mut self, query: QueryId) {
        self.queries.remove(&query);
    }

    /// Bytes that a query holds, and the most that it has held.
    pub(crate) fn held_by(&self, query: QueryId) -> (usize, usize) {
        let query = self.queries.get(&query);
        query.map_or((0, 0), |query| (query.held(), query.peak))
    }

    /// Bytes that all queries hold.
    pub(crate) fn held(&self) -> usize {
        self.queries.values().map(Query::held).sum()
    }

    /// Bytes of all plans that are charged.
    fn plans(&self) -> usize {
        self.queries.values().map(Query::charged_plan).sum()
    }

    /// Bytes that can be shared.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Claims a slot for a partition of `query`.
    pub(crate) fn enter(&mut self, pools: &impl Pools, query: QueryId, room: Slot) -> PartitionId {
        let id = PartitionId(self.new_id());
        let partition = Partition {
            query,
            room,
            slot: None,
            batch_excess: 0,
            head: None,
            kept: Kept::default(),
            claim: None,
            denied: None,
            ticket: None,
            stands: false,
            revocation: Revocation::None,
        };
        self.partitions.insert(id, partition);
        self.fit_slot(pools, id);
        self.settle(pools);
        id
    }

    /// Gives up all that a partition has but its units, which are released on their own.
    pub(crate) fn leave(&mut self, pools: &impl Pools, id: PartitionId) {
        self.set_kept(pools, id, Kept::default());
        let partition = self.partitions.remove(&id);
        if let Some((id, slot)) = partition.and_then(|gone| Some((gone.query, gone.slot?))) {
            self.leave_slot(pools, id, slot);
        }
        self.settle(pools);
    }

    /// How the claim of a partition stands.
    pub(crate) fn claim_state(&self, id: PartitionId) -> ClaimState {
        match self.partitions.get(&id) {
            Some(partition) => match (partition.denied, partition.claim) {
                (Some(denied), _) => ClaimState::Denied(denied),
                (None, Some(_)) => ClaimState::Waiting,
                (None, None) => ClaimState::Granted,
            },
            None => ClaimState::Granted,
        }
    }

    /// What a partition is asked to give back.
    pub(crate) fn revocation(&self, id: PartitionId) -> Revocation {
        self.partitions
            .get(&id)
            .map_or(Revocation::None, |partition| partition.revocation)
    }

    /// A partition waits for its consumer, or does so no longer.
    pub(crate) fn stand(&mut self, pools: &impl Pools, id: PartitionId, stands: bool) {
        if let Some(partition) = self.partitions.get_mut(&id) {
            partition.stands = stands;
        }
        self.settle(pools);
    }

    /// Asks for `wanted` bytes for the next unit of the plan of a partition.
    pub(crate) fn request(
        &mut self,
        pools: &impl Pools,
        partition: PartitionId,
        wanted: usize,
    ) -> UnitId {
        let id = UnitId(self.new_id());
        if let Some(Partition { query, .. }) = self.partitions.get(&partition) {
            let unit = Unit {
                query: *query,
                partition,
                bytes: 0,
                wanted,
            };
            self.units.insert(id, unit);
            self.settle(pools);
        }
        id
    }

    /// Whether a unit has what it needs. One that is gone has.
    pub(crate) fn is_granted(&self, id: UnitId) -> bool {
        let Some(unit) = self.units.get(&id) else {
            return true;
        };
        match self.partitions.get(&unit.partition) {
            Some(partition) if partition.head == Some(id) => {
                partition.slot >= Some(self.target(partition))
            }
            _ => unit.bytes >= unit.wanted,
        }
    }

    /// A unit needs `wanted` bytes; those that it lacks it waits for.
    pub(crate) fn grow(&mut self, pools: &impl Pools, id: UnitId, wanted: usize) {
        if let Some(unit) = self.units.get_mut(&id) {
            unit.wanted = unit.wanted.max(wanted);
            let partition = unit.partition;
            self.fit_slot(pools, partition);
        }
        self.settle(pools);
    }

    /// A unit needs no more than `bytes`.
    pub(crate) fn shrink(&mut self, pools: &impl Pools, id: UnitId, bytes: usize) {
        let Some(unit) = self.units.get_mut(&id) else {
            return;
        };
        let freed = unit.bytes.saturating_sub(bytes);
        unit.wanted = unit.wanted.min(bytes);
        unit.bytes -= freed;
        let (query, partition) = (unit.query, unit.partition);
        self.unshare(pools, query, freed);
        self.fit_slot(pools, partition);
        self.settle(pools);
    }

    /// The next unit of a partition becomes its head, and stands in its slot from now on.
    pub(crate) fn make_head(&mut self, pools: &impl Pools, id: UnitId) {
        #[cfg(test)]
        if self.without == Some(tests::Rule::Slots) {
            return;
        }
        let Some(unit) = self.units.get_mut(&id) else {
            return;
        };
        let freed = std::mem::take(&mut unit.bytes);
        let (query, partition) = (unit.query, unit.partition);
        self.unshare(pools, query, freed);
        if let Some(partition) = self.partitions.get_mut(&partition) {
            partition.head = Some(id);
        }
        self.fit_slot(pools, partition);
        self.wakes.push(Wake::Unit(id));
        self.settle(pools);
    }

    /// A unit is gone.
    pub(crate) fn release(&mut self, pools: &impl Pools, id: UnitId) {
        let Some(unit) = self.units.remove(&id) else {
            return;
        };
        self.unshare(pools, unit.query, unit.bytes);
        let partition = self.partitions.get_mut(&unit.partition);
        if let Some(partition) = partition.filter(|partition| partition.head == Some(id)) {
            partition.head = None;
            self.fit_slot(pools, unit.partition);
        }
        self.settle(pools);
    }

    /// The batch that is made takes `excess` bytes more than there is room for in the slot.
    pub(crate) fn batch(&mut self, pools: &impl Pools, id: PartitionId, excess: usize) {
        if let Some(partition) = self.partitions.get_mut(&id) {
            partition.batch_excess = excess;
            self.fit_slot(pools, id);
        }
        self.settle(pools);
    }

    /// A partition is to keep `kept` in all. Less than before is given back at once, more is claimed.
    pub(crate) fn keep(&mut self, pools: &impl Pools, id: PartitionId, kept: Kept) {
        let Some(partition) = self.partitions.get_mut(&id) else {
            return;
        };
        // It is in place of what was asked to be kept before; what the slot needs is another matter.
        partition.claim = partition.claim.filter(|claim| *claim == Claim::Slot);
        if kept.bytes <= partition.kept.bytes {
            self.set_kept(pools, id, kept);
        } else {
            self.claim(id, Claim::Keep(kept));
        }
        self.settle(pools);
    }

    /// Keeps `kept` if that takes nothing from anybody; says whether it did.
    pub(crate) fn try_keep(&mut self, pools: &impl Pools, id: PartitionId, kept: Kept) -> bool {
        let Some(partition) = self.partitions.get(&id) else {
            return true;
        };
        if kept.bytes <= partition.kept.bytes {
            self.set_kept(pools, id, kept);
        } else if self.is_claimed() || self.take_kept(pools, id, kept).is_err() {
            return false;
        }
        self.settle(pools);
        true
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}
