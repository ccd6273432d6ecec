//! The units of a partition that are under way.

use std::collections::VecDeque;
use std::sync::Arc;

use segue_error::{Error, ErrorCode, Result};
use tokio_util::task::AbortOnDropHandle;

use super::fetch::Fetcher;
use super::task::{outcome_of, spawn};
use crate::counters::UnitCounters;
use crate::plan::Unit;
use crate::rows::Delivered;
use crate::window::{PartitionLease, UnitLease};

/// Units that are fetched, each in a task of its own: the head, whose chunks are wanted next, and those ahead of it.
pub(super) struct Units {
    fetcher: Arc<Fetcher>,
    lease: Arc<PartitionLease>,
    /// The units of the plan.
    plan: Vec<Unit>,
    /// The first of them that is not under way.
    next: usize,
    /// How many are under way at once.
    most: usize,
    head: Option<UnderWay>,
    ahead: VecDeque<UnderWay>,
    /// Units of chunks that were given back and are wanted before all others.
    again: VecDeque<Unit>,
}

struct UnderWay {
    /// Whether it brings back chunks.
    is_again: bool,
    counters: UnitCounters,
    /// Dropped before the lease, which charges for what it holds.
    task: AbortOnDropHandle<Result<Vec<Delivered>>>,
    lease: Arc<UnitLease>,
}

impl Units {
    pub(super) fn new(
        fetcher: Arc<Fetcher>,
        lease: Arc<PartitionLease>,
        plan: Vec<Unit>,
        most: usize,
    ) -> Self {
        Self {
            fetcher,
            lease,
            plan,
            next: 0,
            most,
            head: None,
            ahead: VecDeque::new(),
            again: VecDeque::new(),
        }
    }

    /// Starts the head, if there is one.
    pub(super) fn start_head(&mut self) {
        if self.head.is_none() {
            self.head = match self.again.pop_front() {
                Some(unit) => Some(self.start(unit, true)),
                None => self.ahead.pop_front().or_else(|| self.start_next()),
            };
            if let Some(head) = &self.head {
                head.lease.make_head();
            }
        }
    }

    /// Starts units ahead of the head, as many as may be under way.
    pub(super) fn look_ahead(&mut self) {
        while self.ahead.len() + 1 < self.most {
            match self.start_next() {
                Some(unit) => self.ahead.push_back(unit),
                None => return,
            }
        }
    }

    /// Waits for the chunks of the head. Dropping the future loses nothing.
    pub(super) async fn head(&mut self) -> Result<(Vec<Delivered>, Arc<UnitLease>)> {
        let Some(head) = &mut self.head else {
            return Err(no_head());
        };
        let outcome = (&mut head.task).await;
        let lease = Arc::clone(&head.lease);
        self.head = None;
        Ok((outcome_of(outcome)?, lease))
    }

    /// Whether there is any unit ahead.
    pub(super) fn has_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// Drops the units ahead, to fetch them later.
    pub(super) fn drop_ahead(&mut self) {
        for unit in self.ahead.drain(..).rev() {
            self.next -= 1;
            self.fetcher.counters.given_back(self.plan[self.next].len());
            unit.counters.given_back();
        }
    }

    /// Drops all that is under way, to fetch it after `again`.
    pub(super) fn drop_all(&mut self, again: Vec<Unit>) {
        self.drop_ahead();
        if let Some(head) = self.head.take().filter(|head| !head.is_again) {
            self.next -= 1;
            self.fetcher.counters.given_back(self.plan[self.next].len());
            head.counters.given_back();
        }
        self.again = again.into();
    }

    /// Ends all tasks, and waits until they hold nothing.
    pub(super) async fn close(&mut self) {
        let all = self.head.take().into_iter().chain(self.ahead.drain(..));
        let all: Vec<UnderWay> = all.collect();
        for unit in &all {
            unit.task.abort();
        }
        for unit in all {
            // What came of it does not matter any more.
            drop(unit.task.await);
            drop(unit.lease);
        }
    }

    fn start_next(&mut self) -> Option<UnderWay> {
        let unit = self.plan.get(self.next)?.clone();
        self.next += 1;
        Some(self.start(unit, false))
    }

    fn start(&self, unit: Unit, is_again: bool) -> UnderWay {
        let lease = Arc::new(self.lease.request(unit.bytes));
        let counters = self.fetcher.counters.unit(is_again);
        let fetcher = Arc::clone(&self.fetcher);
        let fetch = fetcher.fetch(unit, Arc::clone(&lease), counters.clone());
        UnderWay {
            is_again,
            counters,
            task: spawn(fetch),
            lease,
        }
    }
}

/// Chunks are wanted that are not in the plan.
fn no_head() -> Error {
    Error::new(
        ErrorCode::Invariant,
        "segment_stream.fetch",
        "a partition wants more chunks than its plan has",
    )
}
