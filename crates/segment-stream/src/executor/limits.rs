//! What a query may hold, in figures.

use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::SessionConfig;
use segue_error::{Error, ErrorCode};

use crate::handles::StreamHandles;
use crate::options::SegmentStreamOptions;
use crate::plan::Scan;
use crate::window::{Denied, Limit, MemoryWindow};

/// Room for a batch in a slot. A larger batch takes more when there is one.
const BATCH_ROOM: usize = 1024 * 1024;
/// Units are no smaller than this for want of memory.
const LEAST_UNIT: usize = 64 * 1024;
/// A unit is at most this part of what its query may hold, and of the part of a memory pool that is its partition's.
const UNITS: usize = 16;

/// The memory that there is where a query is planned or run.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// The window of its session.
    pub(crate) window: MemoryWindow,
    /// Bytes of the memory pool; `usize::MAX` where it has no limit, or does not tell.
    pool: usize,
}

impl Memory {
    /// The memory of a session.
    pub(crate) fn of(config: &SessionConfig, runtime: &RuntimeEnv) -> Self {
        let own = StreamHandles::of(config).window().cloned();
        Self {
            window: own.unwrap_or_else(|| MemoryWindow::of(runtime)),
            pool: match runtime.memory_pool.memory_limit() {
                MemoryLimit::Finite(bytes) => bytes,
                MemoryLimit::Infinite | MemoryLimit::Unknown => usize::MAX,
            },
        }
    }
}

/// The limits of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueryLimits {
    /// Bytes of the window that it may hold.
    pub(crate) share: usize,
    /// Bytes of a unit.
    pub(crate) unit: usize,
    /// Bytes in each slot that are for a batch.
    pub(crate) batch: usize,
}

impl QueryLimits {
    /// The limits of a query with `options` over `partitions` partitions.
    pub(crate) fn new(options: &SegmentStreamOptions, memory: &Memory, partitions: usize) -> Self {
        let share = options.window_bytes.min(memory.window.capacity());
        let of_pool = memory.pool / partitions.max(1);
        let most = (share.min(of_pool) / UNITS).max(LEAST_UNIT);
        Self {
            share,
            unit: options.unit_bytes.min(most),
            batch: BATCH_ROOM.min(options.batch_bytes).min(most),
        }
    }
}

/// The error of a query that cannot go on within its limits.
pub(crate) fn window_exhausted(scan: &Scan, denied: &Denied) -> Error {
    let Denied {
        asked,
        held,
        available,
        ..
    } = *denied;
    let dataset = &scan.dataset;
    let limit = match denied.limit {
        Limit::Share => format!(
            "its share of the memory window (segue_stream.window_bytes) has {available} left"
        ),
        Limit::Window => format!("the memory window has {available} left"),
        Limit::Pool => "the memory pool refuses them".to_owned(),
    };
    let error = Error::new(
        ErrorCode::WindowExhausted,
        "segment_stream.window",
        format!(
            "reading dataset '{dataset}' takes {asked} bytes more than the {held} it holds, and {limit}"
        ),
    );
    error
        .with_fact("consumer", consumer(dataset))
        .with_fact("asked_bytes", asked)
        .with_fact("held_bytes", held)
        .with_fact("available_bytes", available)
}

/// What a query over `dataset` is called in a memory pool.
pub(crate) fn consumer(dataset: &str) -> String {
    format!("segment_stream '{dataset}'")
}
