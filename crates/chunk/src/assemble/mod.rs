//! From the chunks of a segment to rows of its table.
//!
//! [`assemble`] is a pure function over Arrow arrays: it takes the chunks at hand and windows of index
//! values, and gives the rows in them. It is written to be read: it says what the rows are, one
//! value at a time, and is what a faster one is compared with.
//!
//! The cell rule: the value of a component at an index value is the last non-null one there, by row id,
//! then chunk id. A static value hides all temporal ones and stands on every row. Clear writes an empty
//! list to every component of its entity, and of the entities below when it is recursive. A row exists
//! where some component of the view has a value of its own. A column of another timeline holds the largest
//! of its values among the cells of the row.

mod cells;
mod columns;
mod size;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use segue_error::Result;

use crate::model::{Chunk, SegmentId, TimeRange};
use crate::view::View;

/// Chunks of one segment, and which columns of which view are wanted of them.
#[derive(Clone, Copy, Debug)]
pub struct SegmentChunks<'a> {
    /// The view.
    pub view: &'a View,
    /// Wanted columns, as positions in the schema of the view, all in range.
    pub projection: &'a [usize],
    /// The segment.
    pub segment: &'a SegmentId,
    /// Its chunks: all static ones, and all with a value in the windows that are assembled.
    pub chunks: &'a [Arc<Chunk>],
}

/// How large a batch may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most rows.
    pub rows: usize,
    /// Most bytes of component values, unless a single row has more.
    pub bytes: usize,
}

/// Rows of some windows, as far as the limits let them fit.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The rows, ascending by index value. May have none.
    pub batch: RecordBatch,
    /// The index value of the first row that was left out; `None` when the windows are done.
    pub next: Option<i64>,
}

/// Assembles the rows in `windows` (ascending, apart), the first ones when the limits do not let all of
/// them fit.
///
/// At least one row is taken if there is any, so that a caller that goes on at [`Assembled::next`] always
/// comes to an end. The view must have an index. `batch_too_large` when a single row cannot be held in an
/// Arrow batch.
pub fn assemble(
    chunks: &SegmentChunks<'_>,
    windows: &[TimeRange],
    limits: Limits,
) -> Result<Assembled> {
    let statics = cells::static_cells(chunks);
    let (times, next) = cells::row_times(chunks, &statics, windows, limits.rows.max(1));
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        let batch = columns::temporal(chunks, &times, &statics, &TemporalCells::new())?;
        return Ok(Assembled { batch, next: None });
    };
    let taken = clip(windows, TimeRange::new(first, last));
    let cells = cells::temporal_cells(chunks, &statics, &taken);
    let fitting = size::rows_that_fit(chunks, &times, &statics, &cells, limits.bytes)?;
    let next = times.get(fitting).copied().or(next);
    let batch = columns::temporal(chunks, &times[..fitting], &statics, &cells)?;
    Ok(Assembled { batch, next })
}

/// What of `windows` lies within `range`.
pub fn clip(windows: &[TimeRange], range: TimeRange) -> Vec<TimeRange> {
    let within = windows.iter().map(|window| window.intersection(&range));
    within.filter(|window| !window.is_empty()).collect()
}

/// Assembles the one row of static values of a segment; no row when it has none in the view.
pub fn assemble_static(chunks: &SegmentChunks<'_>) -> Result<RecordBatch> {
    let statics = cells::static_cells(chunks);
    columns::static_row(chunks, &statics)
}

/// Where a cell's value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    /// Position of the chunk among the chunks at hand.
    chunk: usize,
    /// Row of the chunk.
    row: usize,
    /// Whether the chunk is a Clear, whose value is an empty list.
    is_cleared: bool,
}

/// The static value of each component of the view, where there is one.
type StaticCells = Vec<Option<Cell>>;

/// The temporal values of each component of the view, by index value.
type TemporalCells = Vec<BTreeMap<i64, Cell>>;
