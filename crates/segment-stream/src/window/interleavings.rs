//! The rim under every scheduler that shuttle can think of: the same source, with shuttle's locks in place of the
//! standard ones. A partition here does with its leases what the executor does, on threads that may stop anywhere.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::channel::oneshot;
use futures::future::{Either, select};
use shuttle::future::{JoinHandle, block_on, spawn};

use super::policy::{self, Kept, Revocation, Slot};

mod sync {
    pub(super) use shuttle::sync::{Arc, Mutex, MutexGuard};
}

#[allow(dead_code, reason = "not all of it is of use here")]
#[path = "rim.rs"]
mod rim;

use rim::{PartitionLease, Pool, QueryLease, UnitLease, Window};
use sync::Arc;

/// How many schedules are tried: `SEGUE_WINDOW_SCHEDULES`, or few.
fn schedules() -> usize {
    let wanted = std::env::var("SEGUE_WINDOW_SCHEDULES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// A pool that gives up to a limit, and counts.
#[derive(Clone)]
struct Counted(std::sync::Arc<AtomicUsize>, usize);

impl Pool for Counted {
    fn try_grow(&self, bytes: usize) -> bool {
        let grow = |used| (used + bytes <= self.1).then_some(used + bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, grow)
            .is_ok()
    }

    fn shrink(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Sizes of units, and what must be kept after each.
type Units = &'static [(usize, usize)];

/// More than half of a window of four.
const GREEDY: Units = &[(2, 2), (1, 3), (1, 0)];

/// The largest unit of all.
const SLOT: Slot = Slot { unit: 2, other: 0 };

/// A task that ends with who waits for it.
struct Task(JoinHandle<()>);

impl Task {
    fn fetching(unit: &Arc<UnitLease>) -> Self {
        let unit = Arc::clone(unit);
        Self(spawn(async move {
            unit.granted().await.expect("the slot has it")
        }))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What `wanted` gives, or `None` if `lease` was asked to give back `least` before.
async fn unless_revoked<T>(
    lease: &PartitionLease,
    least: Revocation,
    wanted: impl Future<Output = T>,
) -> Option<T> {
    match select(pin!(wanted), pin!(lease.revoked(least))).await {
        Either::Left((wanted, _)) => Some(wanted),
        Either::Right(_) => None,
    }
}

/// Reads all units; at the end stands still until `taken`, giving back what it is asked for.
async fn partition(query: Arc<QueryLease>, units: Units, taken: Option<oneshot::Receiver<()>>) {
    let lease = Arc::new(query.enter(SLOT).await.expect("the pool has it"));
    for (at, (bytes, keep)) in units.iter().enumerate() {
        let head = Arc::new(lease.request(*bytes));
        let mut fetched = Task::fetching(&head);
        let ahead = units
            .get(at + 1)
            .map(|(bytes, _)| Arc::new(lease.request(*bytes)));
        let mut ahead = ahead.map(|unit| Task::fetching(&unit));
        head.make_head();
        loop {
            let least = least(&ahead);
            match unless_revoked(&lease, least, &mut fetched.0).await {
                Some(fetched) => break fetched.expect("it was granted"),
                None if ahead.is_some() => ahead = None,
                None => lease.ask_to_keep(Kept::default()),
            }
        }
        keep_after(&lease, *keep, &mut ahead).await;
    }
    if let Some(taken) = taken {
        lease.ask_to_keep(Kept { bytes: 1, fixed: 0 });
        lease.stand(true);
        let mut taken = pin!(taken);
        if unless_revoked(&lease, Revocation::Kept, taken.as_mut())
            .await
            .is_none()
        {
            lease.ask_to_keep(Kept::default());
            let _ = taken.await;
        }
        lease.stand(false);
    }
}

/// What could be given back.
fn least(ahead: &Option<Task>) -> Revocation {
    match ahead {
        Some(_) => Revocation::Ahead,
        None => Revocation::Kept,
    }
}

async fn keep_after(lease: &PartitionLease, bytes: usize, ahead: &mut Option<Task>) {
    let kept = Kept { bytes, fixed: 0 };
    if lease.try_keep(kept) {
        return;
    }
    loop {
        lease.ask_to_keep(kept);
        match unless_revoked(lease, least(ahead), lease.granted()).await {
            Some(kept) => return kept.expect("it fits by itself"),
            None if ahead.is_some() => *ahead = None,
            // What was given up is fetched again.
            None => lease.ask_to_keep(Kept::default()),
        }
    }
}

fn check(body: impl Fn(&Arc<Window>, &Counted) + Send + Sync + 'static) {
    let run = move || {
        let window = Arc::new(Window::new(4));
        let pool = Counted(std::sync::Arc::default(), usize::MAX);
        body(&window, &pool);
        // What was aborted goes when it is its turn; shuttle ends a test that waits too long.
        while window.held() > 0 {
            shuttle::thread::yield_now();
        }
        assert_eq!((window.held(), pool.0.load(Ordering::Relaxed)), (0, 0));
    };
    shuttle::check_random(run, schedules());
}

fn begin(window: &Arc<Window>, pool: &Counted) -> Arc<QueryLease> {
    Arc::new(window.begin(4, 1, Box::new(pool.clone())))
}

#[test]
fn partitions_that_keep_more_than_the_window_come_to_an_end() {
    check(|window, pool| {
        let query = begin(window, pool);
        let all = (0..3).map(|_| spawn(partition(Arc::clone(&query), GREEDY, None)));
        let all: Vec<_> = all.collect();
        block_on(async {
            for one in all {
                one.await.expect("it ends");
            }
        });
        // Held is never more than the window, the plan, and a slot for each.
        assert!(query.peak() <= 4 + 1 + 3 * SLOT.unit, "{}", query.peak());
    });
}

#[test]
fn two_queries_go_on_beside_one_that_is_not_read() {
    check(|window, pool| {
        let (first, second) = (begin(window, pool), begin(window, pool));
        let (take, taken) = oneshot::channel();
        let idle = spawn(partition(
            begin(window, pool),
            &[(1, 1), (1, 0)],
            Some(taken),
        ));
        let all = [first, second].map(|query| spawn(partition(query, GREEDY, None)));
        block_on(async {
            for one in all {
                one.await.expect("it ends");
            }
            take.send(()).expect("it waits");
            idle.await.expect("it ends");
        });
    });
}

#[test]
fn who_is_dropped_anywhere_leaves_the_rest_to_others() {
    check(|window, pool| {
        let query = begin(window, pool);
        let dropped = spawn(partition(Arc::clone(&query), GREEDY, None));
        let other = spawn(partition(query, GREEDY, None));
        dropped.abort();
        block_on(async {
            other.await.expect("it ends");
            drop(dropped.await);
        });
    });
}

#[test]
fn a_pool_without_room_for_all_slots_lets_them_in_one_after_the_other() {
    let run = || {
        let window = Arc::new(Window::new(4));
        let pool = Counted(std::sync::Arc::default(), SLOT.unit + 1);
        let query = begin(&window, &pool);
        let all = (0..2).map(|_| spawn(partition(Arc::clone(&query), &[(2, 0)], None)));
        let all: Vec<_> = all.collect();
        block_on(async {
            for one in all {
                one.await.expect("it ends");
            }
        });
        drop(query);
        assert_eq!((window.held(), pool.0.load(Ordering::Relaxed)), (0, 0));
    };
    shuttle::check_random(run, schedules());
}
