//! Rows that are in memory already.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::catalog::{MemTable, Session, TableProvider as _};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;

/// A plan that gives `rows`, in batches of the size that the session wants.
pub(super) async fn scan(
    rows: RecordBatch,
    state: &dyn Session,
    projection: Option<&Vec<usize>>,
    limit: Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let size = state.config().batch_size().max(1);
    let starts = (0..rows.num_rows()).step_by(size);
    let batches = starts.map(|start| rows.slice(start, size.min(rows.num_rows() - start)));
    let table = MemTable::try_new(rows.schema(), vec![batches.collect()])?;
    table.scan(state, projection, &[], limit).await
}
