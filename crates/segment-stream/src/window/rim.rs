//! The policy under a lock: futures that wait for it, and guards that give back what they hold when dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use super::policy::{
    ClaimState, Denied, Kept, PartitionId, Policy, Pools, QueryId, Revocation, Slot, UnitId, Wake,
};
use super::sync::{Arc, Mutex, MutexGuard};

/// The memory pool of a query.
pub(crate) trait Pool: Send {
    /// Takes `bytes`, or says no.
    fn try_grow(&self, bytes: usize) -> bool;
    /// Gives `bytes` back.
    fn shrink(&self, bytes: usize);
}

/// A window that queries share.
pub(crate) struct Window {
    state: Mutex<State>,
}

struct State {
    policy: Policy,
    pools: QueryPools,
    /// Who waits for what.
    wakers: BTreeMap<Wake, Waker>,
    next_query: u64,
}

struct QueryPools(BTreeMap<QueryId, Box<dyn Pool>>);

impl Pools for QueryPools {
    fn try_grow(&self, query: QueryId, bytes: usize) -> bool {
        self.0.get(&query).is_none_or(|pool| pool.try_grow(bytes))
    }

    fn shrink(&self, query: QueryId, bytes: usize) {
        if let Some(pool) = self.0.get(&query) {
            pool.shrink(bytes);
        }
    }
}

impl Window {
    /// A window of `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::new(State {
                policy: Policy::new(capacity),
                pools: QueryPools(BTreeMap::new()),
                wakers: BTreeMap::new(),
                next_query: 0,
            }),
        }
    }

    /// Bytes that can be shared.
    pub(crate) fn capacity(&self) -> usize {
        self.lock().policy.capacity()
    }

    /// Bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.lock().policy.held()
    }

    /// Begins a query that may share at most `share` bytes and has a plan of `plan`, all of which are taken from `pool`.
    pub(crate) fn begin(
        self: &Arc<Self>,
        share: usize,
        plan: usize,
        pool: Box<dyn Pool>,
    ) -> QueryLease {
        let mut state = self.lock();
        let id = QueryId(state.next_query);
        state.next_query += 1;
        state.policy.begin(id, share, plan);
        state.pools.0.insert(id, pool);
        drop(state);
        QueryLease {
            window: Arc::clone(self),
            id,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held but what is broken anyway.
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Changes the state, and wakes whom that concerns.
    fn change<T>(&self, change: impl FnOnce(&mut Policy, &QueryPools) -> T) -> T {
        let mut state = self.lock();
        let State {
            policy,
            pools,
            wakers,
            ..
        } = &mut *state;
        let outcome = change(policy, pools);
        let wakes = policy.take_wakes();
        let woken: Vec<Waker> = wakes
            .iter()
            .filter_map(|wake| wakers.remove(wake))
            .collect();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        outcome
    }

    /// Ready once `answer` has one; asks again after each `wake`.
    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        wake: Wake,
        answer: impl FnOnce(&Policy) -> Option<T>,
    ) -> Poll<T> {
        let mut state = self.lock();
        match answer(&state.policy) {
            Some(answer) => {
                state.wakers.remove(&wake);
                Poll::Ready(answer)
            }
            None => {
                state.wakers.insert(wake, cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn forget(&self, wake: Wake) {
        self.lock().wakers.remove(&wake);
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Window").field(&self.lock().policy).finish()
    }
}

/// A query in a window. Ends when dropped, after its partitions.
#[derive(Debug)]
pub(crate) struct QueryLease {
    window: Arc<Window>,
    id: QueryId,
}

impl QueryLease {
    /// Reserves a slot for a partition; waits while others are about to give memory back.
    pub(crate) async fn enter(self: Arc<Self>, slot: Slot) -> Result<PartitionLease, Denied> {
        let window = &self.window;
        let id = window.change(|policy, pools| policy.enter(pools, self.id, slot));
        let lease = PartitionLease { query: self, id };
        lease.granted().await?;
        Ok(lease)
    }

    /// Whether it is a query of `window`.
    pub(crate) fn is_in(&self, window: &Arc<Window>) -> bool {
        Arc::ptr_eq(&self.window, window)
    }

    /// The most bytes that the query has held.
    pub(crate) fn peak(&self) -> usize {
        self.window.lock().policy.held_by(self.id).1
    }
}

impl Drop for QueryLease {
    fn drop(&mut self) {
        let mut state = self.window.lock();
        state.policy.end(self.id);
        let pool = state.pools.0.remove(&self.id);
        drop(state);
        drop(pool);
    }
}

/// A partition with its slot, and what it keeps. Both are given back when it is dropped.
#[derive(Debug)]
pub(crate) struct PartitionLease {
    query: Arc<QueryLease>,
    id: PartitionId,
}

impl PartitionLease {
    fn window(&self) -> &Arc<Window> {
        &self.query.window
    }

    /// Waits until what was asked for is granted.
    pub(crate) async fn granted(&self) -> Result<(), Denied> {
        let wake = Wake::Claim(self.id);
        poll_fn(|cx| {
            self.window()
                .poll(cx, wake, |policy| match policy.claim_state(self.id) {
                    ClaimState::Waiting => None,
                    ClaimState::Granted => Some(Ok(())),
                    ClaimState::Denied(denied) => Some(Err(denied)),
                })
        })
        .await
    }

    /// Keeps `kept` in all if that takes nothing from anybody; says whether it did.
    pub(crate) fn try_keep(&self, kept: Kept) -> bool {
        self.window()
            .change(|policy, pools| policy.try_keep(pools, self.id, kept))
    }

    /// Asks to keep `kept` in all, in place of what was asked to be kept before.
    pub(crate) fn ask_to_keep(&self, kept: Kept) {
        self.window()
            .change(|policy, pools| policy.keep(pools, self.id, kept));
    }

    /// Asks that the slot hold a batch that is `excess` bytes larger than there is room for.
    pub(crate) fn ask_for_batch(&self, excess: usize) {
        self.window()
            .change(|policy, pools| policy.batch(pools, self.id, excess));
    }

    /// Says whether the partition waits for its consumer alone.
    pub(crate) fn stand(&self, stands: bool) {
        self.window()
            .change(|policy, pools| policy.stand(pools, self.id, stands));
    }

    /// Waits until the partition is asked to give back `least`, or more.
    pub(crate) async fn revoked(&self, least: Revocation) -> Revocation {
        let wake = Wake::Revoked(self.id);
        poll_fn(|cx| {
            self.window().poll(cx, wake, |policy| {
                let asked = policy.revocation(self.id);
                (asked >= least).then_some(asked)
            })
        })
        .await
    }

    /// Asks for the next unit of the plan, of `bytes`.
    pub(crate) fn request(self: &Arc<Self>, bytes: usize) -> UnitLease {
        let id = self
            .window()
            .change(|policy, pools| policy.request(pools, self.id, bytes));
        UnitLease {
            partition: Arc::clone(self),
            id,
        }
    }
}

impl Drop for PartitionLease {
    fn drop(&mut self) {
        let window = self.window();
        window.change(|policy, pools| policy.leave(pools, self.id));
        window.forget(Wake::Claim(self.id));
        window.forget(Wake::Revoked(self.id));
    }
}

/// A unit, from when it is asked for until nothing is held of it in its place. Gives its bytes back when dropped.
#[derive(Debug)]
pub(crate) struct UnitLease {
    partition: Arc<PartitionLease>,
    id: UnitId,
}

impl UnitLease {
    /// Waits until it has the bytes that it asked for.
    pub(crate) async fn granted(&self) -> Result<(), Denied> {
        let wake = Wake::Unit(self.id);
        poll_fn(|cx| {
            self.partition.window().poll(cx, wake, |policy| {
                if policy.is_granted(self.id) {
                    return Some(Ok(()));
                }
                match policy.claim_state(self.partition.id) {
                    ClaimState::Denied(denied) => Some(Err(denied)),
                    ClaimState::Waiting | ClaimState::Granted => None,
                }
            })
        })
        .await
    }

    /// Waits until it has `bytes`, if that is more than before.
    pub(crate) async fn grow(&self, bytes: usize) -> Result<(), Denied> {
        self.partition
            .window()
            .change(|policy, pools| policy.grow(pools, self.id, bytes));
        self.granted().await
    }

    /// Gives back what it has beyond `bytes`.
    pub(crate) fn shrink(&self, bytes: usize) {
        self.partition
            .window()
            .change(|policy, pools| policy.shrink(pools, self.id, bytes));
    }

    /// Has it stand in the slot of its partition, which no other unit is in.
    pub(crate) fn make_head(&self) {
        self.partition
            .window()
            .change(|policy, pools| policy.make_head(pools, self.id));
    }
}

impl Drop for UnitLease {
    fn drop(&mut self) {
        let window = self.partition.window();
        window.change(|policy, pools| policy.release(pools, self.id));
        window.forget(Wake::Unit(self.id));
    }
}
