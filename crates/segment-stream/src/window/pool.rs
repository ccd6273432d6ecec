//! DataFusion's memory pool.

use datafusion::execution::memory_pool::MemoryReservation;

use super::rim::Pool;

impl Pool for MemoryReservation {
    fn try_grow(&self, bytes: usize) -> bool {
        Self::try_grow(self, bytes).is_ok()
    }

    fn shrink(&self, bytes: usize) {
        Self::shrink(self, bytes);
    }
}
