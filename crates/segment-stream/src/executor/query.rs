//! What the partitions of a query have in common while they run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use datafusion::execution::runtime_env::RuntimeEnv;

use super::limits::consumer;
use crate::plan::Scan;
use crate::window::{MemoryWindow, QueryLease};

/// The lease of the query that a node is a part of: there as long as one of its partitions runs. Clones are the same
/// query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Arc<Mutex<Weak<QueryLease>>>);

impl Query {
    /// The lease, which begins with the first partition that asks for it.
    pub(super) fn lease(
        &self,
        window: &MemoryWindow,
        runtime: &RuntimeEnv,
        share: usize,
        scan: &Scan,
    ) -> Arc<QueryLease> {
        let mut known = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(lease) = known.upgrade().filter(|lease| window.has(lease)) {
            return lease;
        }
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{} query {number}", consumer(&scan.dataset));
        let lease = Arc::new(window.begin(share, scan.bytes(), &runtime.memory_pool, name));
        *known = Arc::downgrade(&lease);
        lease
    }
}
