//! How many calls to one server may be under way in the whole process.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

/// By authority, for as long as somebody uses it.
static SERVERS: LazyLock<Mutex<HashMap<String, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

/// The permits for calls to `authority`, shared by all who ask. `most` counts for the first who asks.
pub(crate) fn limit(authority: String, most: usize) -> Arc<Semaphore> {
    // The map is never left half changed.
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = servers.get(&authority).and_then(Weak::upgrade) {
        return known;
    }
    servers.retain(|_, permits| permits.strong_count() > 0);
    let permits = Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
    servers.insert(authority, Arc::downgrade(&permits));
    permits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_one_limit_for_as_long_as_it_is_used() {
        let server = || "limits.example:1".to_owned();
        let first = limit(server(), 3);
        let second = limit(server(), 9);
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(second.available_permits(), 3);
        let other = limit("limits.example:2".to_owned(), 0);
        assert_eq!(other.available_permits(), 1);
        drop((first, second));
        assert_eq!(limit(server(), 9).available_permits(), 9);
    }
}
