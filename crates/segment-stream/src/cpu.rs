//! Threads for decoding and for making rows, apart from those that wait for the network.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use segue_error::{Error, ErrorCode, Result};
use tokio::sync::oneshot;

/// Threads that run what takes processor time. They are independent of partitions and of async runtimes.
///
/// All streams of the process share one pool for each number of threads (`segue_stream.cpu_threads`), unless their
/// session has [`StreamHandles`](crate::StreamHandles) with another.
pub struct CpuPool(Kind);

enum Kind {
    Inline,
    Threads(ThreadPool),
}

/// The shared pools, by their number of threads. They are built when first used and stay until the process ends.
static SHARED: Mutex<BTreeMap<usize, Arc<CpuPool>>> = Mutex::new(BTreeMap::new());

impl CpuPool {
    /// A pool without threads: whoever waits for a job runs it. For tests, and where threads cannot be had.
    pub fn inline() -> Self {
        Self(Kind::Inline)
    }

    /// A pool of `threads` threads, or as many as there are cores if that is 0. `internal` if they cannot be started.
    pub fn with_threads(threads: usize) -> Result<Self> {
        let builder = ThreadPoolBuilder::new().num_threads(resolved(threads));
        let pool = builder
            .thread_name(|n| format!("segue-cpu-{n}"))
            .build()
            .map_err(|error| {
                let message = format!("cannot start {} threads: {error}", resolved(threads));
                Error::new(ErrorCode::Internal, "segment_stream.cpu", message).with_source(error)
            })?;
        Ok(Self(Kind::Threads(pool)))
    }

    /// The pool of `threads` threads that all of the process share. One that could not be built is tried again.
    pub fn shared(threads: usize) -> Result<Arc<Self>> {
        let mut shared = SHARED
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let threads = resolved(threads);
        if let Some(pool) = shared.get(&threads) {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(Self::with_threads(threads)?);
        shared.insert(threads, Arc::clone(&pool));
        Ok(pool)
    }

    /// Runs `job` and waits for what it gives; `internal` if it panics. Once begun it ends, even if nobody waits.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let job = move || catch_unwind(AssertUnwindSafe(job));
        let outcome = match &self.0 {
            Kind::Inline => job(),
            Kind::Threads(pool) => {
                let (sender, outcome) = oneshot::channel();
                // Nobody may be there any more to take it.
                pool.spawn(move || drop(sender.send(job())));
                outcome
                    .await
                    .unwrap_or_else(|lost| Err(Box::new(lost.to_string())))
            }
        };
        outcome.map_err(|panic| panicked(panic.as_ref()))
    }
}

/// As many as there are cores where 0 is asked for.
fn resolved(threads: usize) -> usize {
    match threads {
        0 => available_parallelism().map_or(1, usize::from),
        _ => threads,
    }
}

/// The error of a query in which something has panicked.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    Error::new(
        ErrorCode::Internal,
        "segment_stream.run",
        format!("a part of the query panicked: {text}"),
    )
}

impl fmt::Debug for CpuPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Inline => f.write_str("CpuPool(inline)"),
            Kind::Threads(pool) => write!(f, "CpuPool({} threads)", pool.current_num_threads()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_runs_elsewhere_and_a_panic_is_an_error() {
        let own = std::thread::current().id();
        let pool = CpuPool::with_threads(1).unwrap();
        let other = pool.run(|| std::thread::current().id()).await.unwrap();
        assert_ne!(own, other);
        for pool in [pool, CpuPool::inline()] {
            let error = pool.run(|| assert_eq!(1 + 1, 3, "sums")).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::Internal);
            assert!(error.message().contains("sums"), "{error}");
            assert_eq!(pool.run(|| 7).await.unwrap(), 7);
        }
    }

    #[test]
    fn a_pool_is_shared_by_its_number_of_threads() {
        let (one, two) = (CpuPool::shared(1).unwrap(), CpuPool::shared(2).unwrap());
        assert!(Arc::ptr_eq(&one, &CpuPool::shared(1).unwrap()));
        assert!(!Arc::ptr_eq(&one, &two));
    }
}
