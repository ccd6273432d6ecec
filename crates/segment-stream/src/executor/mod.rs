//! Runs a partition.
//!
//! Nothing starts before the first poll. Then one task, the *driver*, owns all that the partition holds: it asks for
//! units in the order of the plan, a few ahead, has them decoded and made into rows on the CPU pool, and hands one
//! batch at a time to who polls. Each step holds what the memory window has granted, and whatever waits can be asked to
//! give back what it could fetch again. Dropping the stream ends the driver, and with it its tasks and requests.
//!
//! * `driver`: the steps;
//! * `units`: what is under way; `fetch`: one unit;
//! * `limits`: what a query may hold, and the error beyond that;
//! * `query`: what the partitions of a query have in common;
//! * `task`: tasks that end with who waits for them.

mod driver;
mod fetch;
mod limits;
mod query;
mod task;
mod units;

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::TaskContext;
use futures::stream::{self, BoxStream, StreamExt};
use segue_chunk::ChunkDecoder;
use segue_error::{Error, ErrorCode, Result};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use crate::counters::FetchCounters;
use crate::cpu::CpuPool;
use crate::handles::StreamHandles;
use crate::plan::{PartitionPlan, Scan, Unit};
use crate::rows::{Emission, RowMaker};
use crate::window::{Kept, Slot};
use driver::Driver;
use fetch::Fetcher;
pub(crate) use limits::{Memory, QueryLimits};
pub(crate) use query::Query;
use units::Units;

/// One execution of a partition, not yet begun.
pub(crate) struct Partition {
    pub(crate) scan: Arc<Scan>,
    pub(crate) plan: PartitionPlan,
    /// How many partitions there are.
    pub(crate) of: usize,
    pub(crate) projection: Arc<[usize]>,
    pub(crate) schema: SchemaRef,
    pub(crate) emission: Emission,
    pub(crate) counters: FetchCounters,
    pub(crate) query: Query,
    pub(crate) context: Arc<TaskContext>,
}

/// A partition that runs.
struct Running {
    batches: mpsc::Receiver<RecordBatch>,
    driver: AbortOnDropHandle<Result<()>>,
}

enum State {
    New(Box<Partition>),
    Running(Running),
}

impl Partition {
    /// Its rows, ascending by segment and index, in full batches. Nothing starts before the first poll.
    pub(crate) fn execute(self) -> BoxStream<'static, Result<RecordBatch>> {
        let rows = stream::try_unfold(State::New(Box::new(self)), |state| async move {
            let mut running = match state {
                State::New(partition) => partition.start()?,
                State::Running(running) => running,
            };
            match running.batches.recv().await {
                Some(batch) => Ok(Some((batch, State::Running(running)))),
                None => {
                    task::outcome_of(running.driver.await)?;
                    Ok(None)
                }
            }
        });
        rows.boxed()
    }

    fn start(self) -> Result<Running> {
        let handles = StreamHandles::of(self.context.session_config());
        let io = match handles.io() {
            Some(io) => io.clone(),
            None => Handle::try_current().map_err(no_runtime)?,
        };
        let cpu = match handles.cpu() {
            Some(cpu) => Arc::clone(cpu),
            None => CpuPool::shared(self.scan.options.cpu_threads)?,
        };
        let (out, batches) = mpsc::channel(1);
        let _io = io.enter();
        let driver = task::spawn(async move {
            // Before `out`: when that is gone, nothing is held any more.
            self.drive(cpu, &out).await
        });
        Ok(Running { batches, driver })
    }

    async fn drive(self, cpu: Arc<CpuPool>, out: &mpsc::Sender<RecordBatch>) -> Result<()> {
        let (scan, plan) = (self.scan, self.plan);
        if plan.segments.is_empty() {
            return Ok(());
        }
        let (options, runtime) = (&scan.options, self.context.runtime_env());
        let memory = Memory::of(self.context.session_config(), &runtime);
        let limits = QueryLimits::new(options, &memory, self.of);
        let units = plan.units(limits.unit);
        let slot = Slot {
            unit: units.iter().map(|unit| unit.bytes).max().unwrap_or(0),
            other: limits.batch + units.len() * size_of::<Unit>(),
        };
        let query = self
            .query
            .lease(&memory.window, &runtime, limits.share, &scan);
        let counters = self.counters;
        let _peak = counters.peak_of(&query);
        let entered = counters.waiting(Arc::clone(&query).enter(slot)).await;
        let lease = Arc::new(entered.map_err(|denied| limits::window_exhausted(&scan, &denied))?);
        let index = scan.view.index().map(|index| Arc::clone(&index.name));
        let rows = RowMaker::new(
            Arc::clone(&scan),
            &plan,
            self.projection,
            self.emission,
            self.schema,
        );
        let most = options.units_ahead;
        let fetcher = Arc::new(Fetcher {
            decoder: ChunkDecoder::new(Arc::clone(&scan.dataset_schema), index),
            scan,
            plan,
            counters,
            cpu,
        });
        let driver = Driver {
            units: Units::new(Arc::clone(&fetcher), Arc::clone(&lease), units, most),
            fetcher,
            unit_bytes: limits.unit,
            batch_room: limits.batch,
            batch_excess: 0,
            rows: Some(Box::new(rows)),
            head: None,
            charged: Kept::default(),
            lease,
        };
        driver.run(out).await
    }
}

fn no_runtime(error: tokio::runtime::TryCurrentError) -> Error {
    Error::new(
        ErrorCode::InvalidArgument,
        "segment_stream.run",
        "a segment stream is polled in a tokio runtime, or given one (StreamHandles::with_io)",
    )
    .with_source(error)
}
