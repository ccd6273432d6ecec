//! Which window a query has.

use std::sync::{Arc, Mutex, Weak};

use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnv;

use super::rim::{QueryLease, Window};

/// Bytes of a window that nobody has chosen, unless the memory pool is small.
const DEFAULT_CAPACITY: usize = 256 * 1024 * 1024;

/// One bound on the memory that segment streams hold: units under way, decoded chunks, what is kept of them.
///
/// All queries of a [`RuntimeEnv`] share one of 256 MiB, or of a quarter of its memory pool if that is less, unless
/// their session has [`StreamHandles`](crate::StreamHandles) with another. Every byte is also taken from the memory
/// pool, under a consumer for each query. Beyond the capacity there is one slot per active partition.
///
/// Clones are the same window.
#[derive(Clone, Debug)]
pub struct MemoryWindow(Arc<Window>);

/// The windows of memory pools, by the pools.
static WINDOWS: Mutex<Vec<(Weak<dyn MemoryPool>, MemoryWindow)>> = Mutex::new(Vec::new());

impl MemoryWindow {
    /// A window of `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        Self(Arc::new(Window::new(capacity)))
    }

    /// The window that all who run in `runtime`, or share its memory pool, have unless they chose another.
    pub fn of(runtime: &RuntimeEnv) -> Self {
        let pool = &runtime.memory_pool;
        let mut windows = WINDOWS
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        windows.retain(|(pool, _)| pool.strong_count() > 0);
        let is_same =
            |known: &Weak<dyn MemoryPool>| std::ptr::addr_eq(known.as_ptr(), Arc::as_ptr(pool));
        if let Some((_, window)) = windows.iter().find(|(known, _)| is_same(known)) {
            return window.clone();
        }
        let window = Self::new(match pool.memory_limit() {
            MemoryLimit::Finite(bytes) => DEFAULT_CAPACITY.min(bytes / 4),
            MemoryLimit::Infinite | MemoryLimit::Unknown => DEFAULT_CAPACITY,
        });
        windows.push((Arc::downgrade(pool), window.clone()));
        window
    }

    /// Bytes that can be held besides the slots.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Bytes that are held now, slots included.
    pub fn held(&self) -> usize {
        self.0.held()
    }

    /// Whether a query is in this window.
    pub(crate) fn has(&self, query: &QueryLease) -> bool {
        query.is_in(&self.0)
    }

    /// Begins a query that may share at most `share` bytes and has a plan of `plan`, as a consumer of `pool` with this
    /// name.
    pub(crate) fn begin(
        &self,
        share: usize,
        plan: usize,
        pool: &Arc<dyn MemoryPool>,
        consumer: String,
    ) -> QueryLease {
        let consumer = MemoryConsumer::new(consumer).register(pool);
        self.0.begin(share, plan, Box::new(consumer))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::GreedyMemoryPool;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;

    use super::*;

    fn runtime(pool: &Arc<dyn MemoryPool>) -> RuntimeEnv {
        let builder = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(pool));
        builder.build().unwrap()
    }

    #[test]
    fn a_window_is_shared_by_all_with_the_same_pool() {
        let pools: [Arc<dyn MemoryPool>; 2] = [
            Arc::new(GreedyMemoryPool::new(100 << 20)),
            Arc::new(GreedyMemoryPool::new(100 << 30)),
        ];
        let [small, large] = pools
            .each_ref()
            .map(|pool| MemoryWindow::of(&runtime(pool)));
        assert_eq!((small.capacity(), large.capacity()), (25 << 20, 256 << 20));
        let same = MemoryWindow::of(&runtime(&pools[0]));
        assert!(Arc::ptr_eq(&small.0, &same.0) && !Arc::ptr_eq(&small.0, &large.0));
        let unlimited = MemoryWindow::of(&RuntimeEnv::default());
        assert_eq!((unlimited.capacity(), unlimited.held()), (256 << 20, 0));
    }

    #[test]
    fn the_window_of_a_pool_that_is_gone_is_forgotten() {
        let of_pool = {
            let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(8));
            Arc::downgrade(&MemoryWindow::of(&runtime(&pool)).0)
        };
        MemoryWindow::of(&RuntimeEnv::default());
        assert!(of_pool.upgrade().is_none());
    }
}
