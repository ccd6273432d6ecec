//! What a scripted source counts, and the gate that holds its deliveries.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

/// What a scripted source has been asked for and has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls of `schema`.
    pub schemas: usize,
    /// Calls of `plan`.
    pub plans: usize,
    /// Calls of `segment_table`.
    pub segment_tables: usize,
    /// Calls of `fetch`.
    pub fetches: usize,
    /// Streams that have been polled.
    pub started: usize,
    /// Streams that wait at the gate now.
    pub waiting: usize,
    /// Chunks handed out.
    pub chunks: usize,
    /// Bytes of payload handed out.
    pub bytes: u64,
    /// Streams that have been neither dropped nor polled to their end.
    pub streams: usize,
}

/// Shared counters, whose changes can be waited for.
#[derive(Clone, Debug)]
pub(super) struct Counters(Arc<watch::Sender<Counts>>);

impl Default for Counters {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Counts::default())))
    }
}

impl Counters {
    pub(super) fn get(&self) -> Counts {
        *self.0.borrow()
    }

    pub(super) fn change<T>(&self, by: impl FnOnce(&mut Counts) -> T) -> T {
        let mut result = None;
        self.0.send_modify(|counts| result = Some(by(counts)));
        result.expect("send_modify calls its closure")
    }

    pub(super) async fn when(&self, wanted: impl FnMut(&Counts) -> bool) -> Counts {
        let mut receiver = self.0.subscribe();
        let counts = receiver.wait_for(wanted).await;
        *counts.expect("the sender lives in self")
    }

    /// Counts a stream until what is returned is dropped.
    pub(super) fn stream(&self) -> Counted {
        Counted::new(self, |counts| &mut counts.streams)
    }

    /// Counts a stream as waiting until what is returned is dropped.
    pub(super) fn waiting(&self) -> Counted {
        Counted::new(self, |counts| &mut counts.waiting)
    }
}

/// One, counted in a field until it is dropped.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) counters: Counters,
    field: fn(&mut Counts) -> &mut usize,
}

impl Counted {
    fn new(counters: &Counters, field: fn(&mut Counts) -> &mut usize) -> Self {
        counters.change(|counts| *field(counts) += 1);
        Self {
            counters: counters.clone(),
            field,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counters.change(|counts| *(self.field)(counts) -= 1);
    }
}

/// Holds the deliveries of a scripted source until they are released.
///
/// Clones are the same gate. Each delivery, be it a chunk or a failure, uses up one release; the end of a
/// stream needs none.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Gate {
    /// A gate that has released nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Releases the next `deliveries`, of whatever streams.
    pub fn release(&self, deliveries: usize) {
        self.0.add_permits(deliveries);
    }

    /// Releases everything, now and in the future.
    pub fn open(&self) {
        self.0.close();
    }

    pub(super) async fn pass(&self) {
        // An error means that the gate is open for good.
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }
}
