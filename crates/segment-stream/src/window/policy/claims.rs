//! Claims: what a partition cannot go on without, and what others give back for it.

use std::cmp::Reverse;

use super::{
    Claim, Denied, Kept, Limit, Partition, PartitionId, Policy, Pools, Query, QueryId, Revocation,
    Wake,
};

/// Who is to give back what.
type Asked = Vec<(PartitionId, Revocation)>;

/// Who gets nothing as long as a claim waits.
#[derive(Default)]
pub(super) struct Blocked {
    all: bool,
    queries: Vec<QueryId>,
}

impl Blocked {
    pub(super) fn has(&self, query: QueryId) -> bool {
        self.all || self.queries.contains(&query)
    }
}

impl Policy {
    /// Looks again at all that waits.
    pub(super) fn settle(&mut self, pools: &impl Pools) {
        let (asked, blocked) = self.settle_claims(pools);
        for (id, partition) in &mut self.partitions {
            let own = asked.iter().filter(|(asked, _)| asked == id);
            let revocation = own.map(|(_, revocation)| *revocation).max();
            let revocation = revocation.unwrap_or_default();
            if revocation > partition.revocation {
                self.wakes.push(Wake::Revoked(*id));
            }
            partition.revocation = revocation;
        }
        self.grant_units(pools, &blocked);
    }

    /// Whether a claim waits.
    pub(super) fn is_claimed(&self) -> bool {
        let mut partitions = self.partitions.values();
        partitions.any(|partition| partition.claim.is_some() && partition.denied.is_none())
    }

    /// Grants claims by their tickets. One that has to wait holds back the younger ones, so that it does not starve.
    fn settle_claims(&mut self, pools: &impl Pools) -> (Asked, Blocked) {
        let (mut asked, mut blocked) = (Asked::new(), Blocked::default());
        let claims = self.partitions.iter().filter_map(|(id, partition)| {
            let claim = partition.claim.filter(|_| partition.denied.is_none())?;
            Some((partition.ticket?, *id, partition.query, claim))
        });
        let mut claims: Vec<_> = claims.collect();
        claims.sort_unstable_by_key(|(ticket, ..)| *ticket);
        for (_, id, query, claim) in claims {
            if blocked.has(query) {
                continue;
            }
            let taken = match claim {
                Claim::Slot => self.take_slot(pools, id),
                Claim::Keep(kept) => self.take_kept(pools, id, kept),
            };
            let Err(denied) = taken else {
                self.end_claim(id);
                self.wake_claimant(id);
                continue;
            };
            let givers = self.givers(id, denied);
            if !givers.is_empty() || self.others_go_on(id, denied.limit) {
                asked.extend(givers);
                match denied.limit {
                    Limit::Share => blocked.queries.push(query),
                    Limit::Window | Limit::Pool => blocked.all = true,
                }
            } else if let Some(partition) = self.partitions.get_mut(&id) {
                partition.denied = Some(denied);
                self.wake_claimant(id);
            }
        }
        (asked, blocked)
    }

    fn wake_claimant(&mut self, id: PartitionId) {
        self.wakes.push(Wake::Claim(id));
        let head = self
            .partitions
            .get(&id)
            .and_then(|partition| partition.head);
        self.wakes.extend(head.map(Wake::Unit));
    }

    /// Who is to give back, and what, so that `id` gets what it was denied: its own units ahead first, then those of
    /// others, then what they keep; first of those that stand still, then of the youngest. None when nobody can.
    fn givers(&self, id: PartitionId, denied: Denied) -> Asked {
        #[cfg(test)]
        if self.without == Some(super::tests::Rule::Revocation) {
            return vec![(id, Revocation::None)];
        }
        let Some(own) = self.partitions.get(&id) else {
            return Asked::new();
        };
        let mut found = Vec::new();
        for (&other_id, other) in self.rivals(own, denied.limit) {
            let is_own = other_id == id;
            let is_younger = other.ticket.is_none_or(|ticket| Some(ticket) > own.ticket);
            if !(is_own || other.stands || is_younger) {
                continue;
            }
            let order = (!other.stands, Reverse(other.ticket), other_id);
            let ahead = self.ahead(other_id);
            if ahead > 0 {
                found.push(((false, !is_own, order), Revocation::Ahead, ahead));
            }
            let loose = other.kept.bytes - other.kept.fixed;
            if loose > 0 && !is_own {
                found.push(((true, true, order), Revocation::Kept, loose));
            }
        }
        found.sort_unstable_by_key(|(order, ..)| *order);
        let mut missing = denied.asked.saturating_sub(denied.available);
        let mut asked = Asked::new();
        for ((_, _, (_, _, other)), revocation, bytes) in found {
            if missing == 0 {
                break;
            }
            missing = missing.saturating_sub(bytes);
            asked.push((other, revocation));
        }
        asked
    }

    /// Whether somebody else will release something: an older partition that does not stand still, or, of a pool, any
    /// that is at work.
    fn others_go_on(&self, id: PartitionId, limit: Limit) -> bool {
        let Some(own) = self.partitions.get(&id) else {
            return false;
        };
        self.rivals(own, limit).any(|(other_id, other)| {
            let is_older = other.ticket.is_some_and(|ticket| Some(ticket) < own.ticket);
            // An older claim has been seen to, and one that was denied ends its partition.
            let waits = other.claim.is_some() && other.denied.is_none() && !is_older;
            let holds = match limit {
                Limit::Pool => other.slot.is_some(),
                Limit::Share | Limit::Window => {
                    is_older && (other.kept.bytes > 0 || self.ahead(*other_id) > 0)
                }
            };
            *other_id != id && !other.stands && !waits && holds
        })
    }

    /// Partitions, `own` among them, that are under the same `limit`.
    fn rivals(
        &self,
        own: &Partition,
        limit: Limit,
    ) -> impl Iterator<Item = (&PartitionId, &Partition)> {
        let query = own.query;
        let is_rival = move |other: &Partition| limit != Limit::Share || other.query == query;
        self.partitions
            .iter()
            .filter(move |(_, other)| is_rival(other))
    }

    /// Bytes that a partition shares for units ahead of its head.
    pub(super) fn ahead(&self, id: PartitionId) -> usize {
        let units = self.units.values().filter(|unit| unit.partition == id);
        units.map(|unit| unit.bytes).sum()
    }

    /// Claims what could not be had at once.
    pub(super) fn claim(&mut self, id: PartitionId, claim: Claim) {
        if let Some(partition) = self.partitions.get_mut(&id) {
            partition.claim = Some(claim);
        }
        self.hold_on(id);
    }

    fn hold_on(&mut self, id: PartitionId) {
        if let Some(partition) = self.partitions.get_mut(&id).filter(|p| p.ticket.is_none()) {
            partition.ticket = Some(self.next_ticket);
            self.next_ticket += 1;
        }
    }

    /// A claim is no more; with nothing kept, it does not matter any longer how old it was.
    pub(super) fn end_claim(&mut self, id: PartitionId) {
        if let Some(partition) = self.partitions.get_mut(&id) {
            partition.claim = None;
            if partition.kept.bytes == 0 {
                partition.ticket = None;
            }
        }
    }

    /// Bytes that the slot of a partition is to have.
    pub(super) fn target(&self, partition: &Partition) -> usize {
        let head = partition.head.and_then(|head| self.units.get(&head));
        let head = head.map_or(0, |head| head.wanted);
        let unit = partition.room.unit.max(head);
        let batch = partition.room.other.saturating_add(partition.batch_excess);
        unit.saturating_add(batch)
    }

    /// Makes the slot of a partition as large as it is to be, by a claim if it does not go at once.
    pub(super) fn fit_slot(&mut self, pools: &impl Pools, id: PartitionId) {
        if self.take_slot(pools, id).is_err() {
            self.claim(id, Claim::Slot);
        }
    }

    fn take_slot(&mut self, pools: &impl Pools, id: PartitionId) -> Result<(), Denied> {
        let Some(partition) = self.partitions.get(&id) else {
            return Ok(());
        };
        let (query, had, slot) = (partition.query, partition.slot, self.target(partition));
        let is_first = |query: &Query| query.active == 0;
        let plan = self.queries.get(&query).filter(|query| is_first(query));
        let plan = plan.map_or(0, |query| query.plan);
        let (old, new) = (had.unwrap_or(0), slot.saturating_add(plan));
        if new < old {
            pools.shrink(query, old - new);
        } else if new > old && !pools.try_grow(query, new - old) {
            return Err(self.denied(Limit::Pool, query, new - old, 0));
        }
        if let Some(partition) = self.partitions.get_mut(&id) {
            partition.slot = Some(slot);
        }
        if let Some(query) = self.queries.get_mut(&query) {
            query.active += usize::from(had.is_none());
            query.slots = query.slots - old + slot;
            query.saw_peak();
        }
        Ok(())
    }

    /// Gives up a slot, and with the last one of a query its plan.
    pub(super) fn leave_slot(&mut self, pools: &impl Pools, id: QueryId, slot: usize) {
        let Some(query) = self.queries.get_mut(&id) else {
            return;
        };
        let held = query.held();
        query.active -= 1;
        query.slots -= slot;
        pools.shrink(id, held - query.held());
    }

    /// Keeps `kept`, which is more than before, if there is room for it.
    pub(super) fn take_kept(
        &mut self,
        pools: &impl Pools,
        id: PartitionId,
        kept: Kept,
    ) -> Result<(), Denied> {
        let Some(partition) = self.partitions.get(&id) else {
            return Ok(());
        };
        let more = kept.bytes.saturating_sub(partition.kept.bytes);
        self.share(pools, partition.query, more)?;
        if let Some(partition) = self.partitions.get_mut(&id) {
            partition.kept = kept;
        }
        self.hold_on(id);
        Ok(())
    }

    /// Keeps `kept`, which is not more than before.
    pub(super) fn set_kept(&mut self, pools: &impl Pools, id: PartitionId, kept: Kept) {
        let Some(partition) = self.partitions.get_mut(&id) else {
            return;
        };
        let (query, freed) = (partition.query, partition.kept.bytes - kept.bytes);
        partition.kept = kept;
        if kept.bytes == 0 && partition.claim.is_none() {
            partition.ticket = None;
        }
        self.unshare(pools, query, freed);
    }

    pub(super) fn denied(
        &self,
        limit: Limit,
        query: QueryId,
        asked: usize,
        available: usize,
    ) -> Denied {
        let held = self.held_by(query).0;
        Denied {
            limit,
            asked,
            held,
            available,
        }
    }
}
