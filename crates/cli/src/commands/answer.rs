//! The answer to one statement.

use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::physical_plan::execute_stream;
use futures::StreamExt;
use segue::SegueSession;

use crate::exit::Failure;
use crate::output::Results;
use crate::supervise::Desk;

/// What a statement took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Until it was planned. A statement that defines or sets something is carried out by then.
    pub(super) planning: Duration,
    /// From then on, until its rows were written.
    pub(super) running: Duration,
    pub(super) rows: u64,
}

/// Carries `sql` out, and writes its rows to `results`.
pub(super) async fn answer(
    session: &SegueSession,
    sql: &str,
    results: &mut Results,
    desk: &Desk,
) -> Result<Timing, Failure> {
    let started = Instant::now();
    let frame = session.sql(sql).await?;
    let context = Arc::new(frame.task_ctx());
    let plan = frame.create_physical_plan().await?;
    let planning = started.elapsed();
    desk.progress.execute(&plan);
    let mut batches = execute_stream(plan, context)?;
    results.begin(&batches.schema())?;
    let mut rows = 0;
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        results.write(&batch).await?;
    }
    results.end().await?;
    desk.progress.end();
    let running = started.elapsed().saturating_sub(planning);
    Ok(Timing {
        planning,
        running,
        rows,
    })
}
