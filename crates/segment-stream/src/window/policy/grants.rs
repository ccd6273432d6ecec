//! The shared remainder, and what is left of it for units ahead.

use super::claims::Blocked;
use super::{Denied, Limit, Policy, Pools, Query, QueryId, UnitId, Wake};

/// The part of a limit that units ahead leave to claims: one in so many bytes.
const SPARED: usize = 4;

/// What is left under `limit` for units ahead when so much is used.
fn room(limit: usize, used: usize) -> usize {
    (limit - limit / SPARED).saturating_sub(used)
}

impl Policy {
    /// Grants units ahead what they want, fairly, as long as there is room.
    pub(super) fn grant_units(&mut self, pools: &impl Pools, blocked: &Blocked) {
        // Queries that are at a limit of their own.
        let mut passed: Vec<QueryId> = Vec::new();
        while let Some((id, query, missing)) = self.next_unit(blocked, &passed) {
            match self.share_ahead(pools, query, missing) {
                Ok(()) => {
                    if let Some(unit) = self.units.get_mut(&id) {
                        unit.bytes = unit.wanted;
                    }
                    self.wakes.push(Wake::Unit(id));
                }
                Err(Limit::Share | Limit::Pool) => passed.push(query),
                // It is its turn: nobody overtakes it, or the large ones would starve.
                Err(Limit::Window) => return,
            }
        }
    }

    /// The unit whose turn it is: of the query, and in it of the partition, that shares least.
    fn next_unit(&self, blocked: &Blocked, passed: &[QueryId]) -> Option<(UnitId, QueryId, usize)> {
        let plans = self.plans();
        let waiting = self.units.iter().filter(|(id, unit)| {
            let partition = self.partitions.get(&unit.partition);
            let is_ahead = partition.is_some_and(|partition| partition.head != Some(**id));
            let of_query = |query: &Query| room(query.share, query.charged_plan());
            let of_query = self.queries.get(&unit.query).map_or(0, of_query);
            // What is larger than that waits until it is the head, or a plan is gone.
            let fits = unit.wanted <= of_query.min(room(self.capacity, plans));
            is_ahead && fits && unit.wanted > unit.bytes
        });
        let open =
            waiting.filter(|(_, unit)| !blocked.has(unit.query) && !passed.contains(&unit.query));
        let ranked = open.map(|(id, unit)| {
            let of_query = self
                .queries
                .get(&unit.query)
                .map_or(0, |query| query.shared);
            let kept = self
                .partitions
                .get(&unit.partition)
                .map_or(0, |p| p.kept.bytes);
            let of_partition = kept + self.ahead(unit.partition);
            let missing = unit.wanted - unit.bytes;
            ((of_query, of_partition, *id), (*id, unit.query, missing))
        });
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, unit)| unit)
    }

    /// Takes `bytes` for a unit ahead, if some remain for claims.
    fn share_ahead(&mut self, pools: &impl Pools, id: QueryId, bytes: usize) -> Result<(), Limit> {
        let Some(query) = self.queries.get(&id) else {
            return Err(Limit::Share);
        };
        if bytes > room(query.share, query.shared + query.charged_plan()) {
            return Err(Limit::Share);
        }
        if bytes > room(self.capacity, self.shared + self.plans()) {
            return Err(Limit::Window);
        }
        self.share(pools, id, bytes).map_err(|denied| denied.limit)
    }

    /// Takes `bytes` of the shared remainder.
    pub(super) fn share(
        &mut self,
        pools: &impl Pools,
        id: QueryId,
        bytes: usize,
    ) -> Result<(), Denied> {
        let Some(query) = self.queries.get(&id) else {
            return Ok(());
        };
        let of_share = query.share.saturating_sub(query.shared);
        let of_window = self.capacity.saturating_sub(self.shared);
        let (limit, free) = match of_share < of_window {
            true => (Limit::Share, of_share),
            false => (Limit::Window, of_window),
        };
        if bytes > free {
            return Err(self.denied(limit, id, bytes, free));
        }
        if !pools.try_grow(id, bytes) {
            return Err(self.denied(Limit::Pool, id, bytes, 0));
        }
        self.shared += bytes;
        if let Some(query) = self.queries.get_mut(&id) {
            query.shared += bytes;
            query.saw_peak();
        }
        Ok(())
    }

    /// Gives `bytes` of the shared remainder back.
    pub(super) fn unshare(&mut self, pools: &impl Pools, id: QueryId, bytes: usize) {
        pools.shrink(id, bytes);
        self.shared -= bytes;
        if let Some(query) = self.queries.get_mut(&id) {
            query.shared -= bytes;
        }
    }
}
