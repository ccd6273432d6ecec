//! What one partition does.

use std::cell::RefCell;

use super::super::super::{ClaimState, Kept, Limit, Policy, QueryId, Revocation, Slot, UnitId};
use super::super::Rule;
use super::{Driver, Fetch, PartitionPlan, Phase, Pool, Stage, Then, What, World};

/// One partition at work.
pub(super) struct Actor<'a> {
    pub(super) world: &'a World,
    pub(super) policy: &'a mut Policy,
    pub(super) pool: &'a RefCell<Pool>,
    pub(super) driver: &'a mut Driver,
    pub(super) plan: &'a PartitionPlan,
}

impl Actor<'_> {
    /// The next thing that the partition does by itself, if it does not wait.
    pub(super) fn step(&mut self) -> bool {
        match self.driver.phase {
            Phase::New => {
                let unit = self.plan.units.iter().map(|unit| unit.announced).max();
                let slot = Slot {
                    unit: unit.unwrap_or(0),
                    other: 0,
                };
                let query = QueryId(self.plan.query);
                self.driver.id = self.policy.enter(self.pool, query, slot);
                self.driver.phase = Phase::Claiming(Then::Start);
                self.driver.looks = true;
            }
            Phase::Claiming(then) => {
                if !std::mem::take(&mut self.driver.looks) {
                    return false;
                }
                match self.policy.claim_state(self.driver.id) {
                    // What it is asked to give back instead is another step.
                    ClaimState::Waiting => {}
                    ClaimState::Granted if then == Then::Start => {
                        self.driver.phase = Phase::Room(Then::Start);
                    }
                    ClaimState::Granted if then == Then::Emit => self.emit(),
                    ClaimState::Granted => self.kept(),
                    ClaimState::Denied(denied) => {
                        self.check_denial(denied.limit);
                        self.end();
                    }
                }
                self.driver.looks = false;
            }
            Phase::Room(then) => {
                let stands = self.policy.partitions[&self.driver.id].stands;
                if self.driver.has_batch && stands {
                    return false;
                }
                let waits = self.driver.has_batch;
                self.policy.stand(self.pool, self.driver.id, waits);
                if !waits {
                    self.policy.batch(self.pool, self.driver.id, 0);
                    match then {
                        Then::Settle => self.settle(),
                        Then::Start | Then::Emit => self.next_head(),
                    }
                }
            }
            Phase::Head => {
                let Some(head) = self.driver.head.filter(|head| head.stage == Stage::Here) else {
                    return false;
                };
                match head.what {
                    What::Plan(at) => {
                        let unit = self.plan.units[at];
                        self.driver.wanted = unit.kept;
                        self.driver.here = unit.kept;
                        if let Some(excess) = unit.batch {
                            self.policy.batch(self.pool, self.driver.id, excess);
                            self.driver.phase = Phase::Claiming(Then::Emit);
                            self.driver.looks = true;
                            return true;
                        }
                    }
                    What::Again(bytes) => self.driver.here += bytes,
                }
                self.driver.phase = Phase::Room(Then::Settle);
            }
            Phase::Ended => return false,
        }
        true
    }

    /// Gives out a batch; what is kept is settled once it was taken, unless it was given up.
    fn emit(&mut self) {
        self.driver.has_batch = true;
        self.driver.phase = match self.driver.head {
            Some(_) => Phase::Room(Then::Settle),
            None => Phase::Room(Then::Start),
        };
    }

    /// Moves what remains of the head to what is kept.
    fn settle(&mut self) {
        let kept = Kept {
            bytes: self.driver.here,
            fixed: 0,
        };
        if self.policy.try_keep(self.pool, self.driver.id, kept) {
            return self.kept();
        }
        self.policy.keep(self.pool, self.driver.id, kept);
        self.driver.phase = Phase::Claiming(Then::Settle);
        self.driver.looks = true;
    }

    fn kept(&mut self) {
        if let Some(head) = self.driver.head.take() {
            self.policy.release(self.pool, head.id);
        }
        self.next_head();
    }

    /// Asks for units ahead, and makes the first of them the head; ends when there is none.
    fn next_head(&mut self) {
        if let Some(bytes) = self.driver.again.pop() {
            let id = self.policy.request(self.pool, self.driver.id, bytes);
            self.driver.head = Some(fetch(id, What::Again(bytes)));
        } else {
            self.look_ahead();
            if self.driver.ahead.is_empty() {
                return self.end();
            }
            self.driver.head = Some(self.driver.ahead.remove(0));
            self.look_ahead();
        }
        if let Some(head) = &self.driver.head {
            self.policy.make_head(self.pool, head.id);
        }
        self.driver.phase = Phase::Head;
        self.driver.looks = true;
    }

    fn look_ahead(&mut self) {
        while self.driver.ahead.len() < self.world.ahead && self.driver.next < self.plan.units.len()
        {
            let bytes = self.plan.units[self.driver.next].announced;
            let id = self.policy.request(self.pool, self.driver.id, bytes);
            self.driver
                .ahead
                .push(fetch(id, What::Plan(self.driver.next)));
            self.driver.next += 1;
        }
    }

    /// Gives back what it is asked for. Who stands may be read before it does so, which is another path.
    pub(super) fn give_back(&mut self) -> bool {
        let stands = matches!(self.driver.phase, Phase::Room(_)) && self.driver.has_batch;
        let waits = matches!(
            self.driver.phase,
            Phase::Head | Phase::Claiming(Then::Settle | Then::Emit)
        );
        if !(stands || waits) || !self.policy.partitions.contains_key(&self.driver.id) {
            return false;
        }
        match self.policy.revocation(self.driver.id) {
            Revocation::None => false,
            Revocation::Ahead if self.driver.ahead.is_empty() => false,
            Revocation::Ahead => {
                self.drop_ahead();
                true
            }
            Revocation::Kept => self.forget(),
        }
    }

    fn drop_ahead(&mut self) {
        for fetch in std::mem::take(&mut self.driver.ahead).into_iter().rev() {
            self.policy.release(self.pool, fetch.id);
            self.driver.next -= 1;
        }
    }

    /// Gives back all but the slot, to fetch it again.
    fn forget(&mut self) -> bool {
        let kept = self.policy.partitions[&self.driver.id].kept.bytes;
        if kept == 0 && self.driver.ahead.is_empty() {
            return false;
        }
        self.drop_ahead();
        if let Some(head) = self.driver.head.take() {
            self.policy.release(self.pool, head.id);
            let is_new = self.driver.phase == Phase::Head;
            self.driver.next -= usize::from(is_new && matches!(head.what, What::Plan(_)));
        }
        self.policy.keep(self.pool, self.driver.id, Kept::default());
        self.driver.here = 0;
        let largest = self.plan.units.iter().map(|unit| unit.announced).max();
        let mut left = self.driver.wanted;
        self.driver.again.clear();
        while left > 0 {
            let piece = left.min(largest.unwrap_or(1).max(1));
            self.driver.again.push(piece);
            left -= piece;
        }
        match self.driver.phase {
            Phase::Room(_) => self.driver.phase = Phase::Room(Then::Start),
            Phase::Claiming(Then::Emit) => self.driver.looks = true,
            _ => self.next_head(),
        }
        true
    }

    /// A fetch goes on: the head at 0, or one of those ahead.
    pub(super) fn advance(&mut self, at: usize) -> bool {
        let (id, policy, pool) = (self.driver.id, &mut *self.policy, self.pool);
        let units = &self.plan.units;
        let place = at.checked_sub(1);
        let fetch = match place {
            None => self.driver.head.as_mut(),
            Some(place) => self.driver.ahead.get_mut(place),
        };
        let Some(fetch) = fetch else {
            return false;
        };
        let actual = match fetch.what {
            What::Plan(at) => units[at].actual,
            What::Again(bytes) => bytes,
        };
        match fetch.stage {
            Stage::Here => return false,
            Stage::Asked | Stage::Growing => {
                if !std::mem::take(&mut fetch.looks) {
                    return false;
                }
                let is_granted = policy.is_granted(fetch.id);
                if let ClaimState::Denied(denied) = policy.claim_state(id)
                    && !is_granted
                {
                    self.check_denial(denied.limit);
                    self.end();
                    return true;
                }
                if is_granted {
                    fetch.stage = match fetch.stage {
                        Stage::Asked => Stage::UnderWay,
                        _ => Stage::Here,
                    };
                }
            }
            Stage::UnderWay => {
                policy.grow(pool, fetch.id, actual);
                policy.shrink(pool, fetch.id, actual);
                fetch.stage = match policy.is_granted(fetch.id) {
                    true => Stage::Here,
                    false => Stage::Growing,
                };
                fetch.looks = true;
            }
        }
        true
    }

    /// The fetch of the unit that can fails does so.
    pub(super) fn fail(&mut self, at: usize) -> bool {
        let fetch = match at.checked_sub(1) {
            None => self.driver.head,
            Some(place) => self.driver.ahead.get(place).copied(),
        };
        let Some(Fetch {
            what: What::Plan(unit),
            stage: Stage::UnderWay,
            ..
        }) = fetch
        else {
            return false;
        };
        if self.plan.fails != Some(unit) {
            return false;
        }
        self.end();
        true
    }

    pub(super) fn take_batch(&mut self) -> bool {
        self.driver.has_batch = false;
        true
    }

    pub(super) fn cancel(&mut self) -> bool {
        if self.policy.without == Some(Rule::ReleaseOnCancel) {
            let left = self.policy.partitions.contains_key(&self.driver.id);
            self.driver.head = None;
            self.driver.ahead.clear();
            self.driver.phase = Phase::Ended;
            return left;
        }
        self.end();
        true
    }

    /// Lets go of everything.
    fn end(&mut self) {
        let fetches = self
            .driver
            .head
            .take()
            .into_iter()
            .chain(self.driver.ahead.drain(..));
        for fetch in fetches {
            self.policy.release(self.pool, fetch.id);
        }
        self.policy.leave(self.pool, self.driver.id);
        self.driver.phase = Phase::Ended;
        self.driver.here = 0;
    }

    /// Nothing is denied that could ever fit.
    fn check_denial(&self, limit: Limit) {
        let most = match limit {
            Limit::Share => self.world.share,
            Limit::Window => self.world.capacity,
            Limit::Pool => {
                assert!(self.world.pool.is_some(), "there is no pool");
                return;
            }
        };
        let here = self.driver.here;
        assert!(
            here > most,
            "{here} bytes would fit in {most}: {:?}",
            self.driver
        );
    }
}

fn fetch(id: UnitId, what: What) -> Fetch {
    Fetch {
        id,
        what,
        stage: Stage::Asked,
        looks: true,
    }
}
