//! What the rows are, one value at a time: slow, to be read, and what [`super::assemble`] is compared with.

mod cells;
mod columns;
mod size;

use segue_error::Result;

use super::{Assembled, Limits, RowKey, SegmentChunks};
use crate::model::TimeRange;

/// The same as [`super::assemble`].
pub fn assemble(
    chunks: &SegmentChunks<'_>,
    windows: &[TimeRange],
    from: RowKey,
    limits: Limits,
) -> Result<Assembled> {
    let statics = cells::static_cells(chunks);
    let (keys, next) = cells::row_keys(chunks, &statics, windows, from, limits.rows.max(1));
    let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else {
        let batch = columns::temporal(chunks, &keys, &statics, &cells::TemporalCells::default())?;
        return Ok(Assembled { batch, next: None });
    };
    let cells = cells::temporal_cells(chunks, &statics, windows, first, last);
    let fitting = size::rows_that_fit(chunks, &keys, &statics, &cells, limits.bytes)?;
    let next = keys.get(fitting).copied().or(next);
    let batch = columns::temporal(chunks, &keys[..fitting], &statics, &cells)?;
    Ok(Assembled { batch, next })
}

/// The same as [`super::assemble_static`].
pub fn assemble_static(chunks: &SegmentChunks<'_>) -> Result<arrow::array::RecordBatch> {
    columns::static_row(chunks, &cells::static_cells(chunks))
}
