//! From the chunks of a segment to rows of its table.
//!
//! [`assemble`] is a pure function over Arrow arrays: it takes the chunks at hand and windows of index
//! values, and gives the rows in them. It is written to be read: it says what the rows are, one
//! value at a time, and is what a faster one is compared with.
//!
//! The cell rule: the value of a component at an index value is the last non-null one there, by row id,
//! then chunk id; with fill, the last one there or before. A static value hides all temporal ones and stands on
//! every row. Clear writes an empty list to every component of its entity, and of the entities below when it is
//! recursive. A row exists where some component of the view has a value of its own, or where a row is asked for.
//! A column of another timeline holds the largest of its values among the cells of the row.
//!
//! Where all duplicates are read, rows are told apart by row id as well: what is said above of an index value
//! is then true of an index value and a row id.

mod carry;
mod cells;
mod columns;
mod size;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::RecordBatch;
use segue_error::Result;

use crate::model::{Chunk, RowId, SegmentId, TimeRange};
use crate::view::View;

pub use carry::Carry;

/// Chunks of one segment, and which rows and columns of which view are wanted of them.
#[derive(Clone, Copy, Debug)]
pub struct SegmentChunks<'a> {
    /// The view.
    pub view: &'a View,
    /// Wanted columns, as positions in the schema of the view, all in range.
    pub projection: &'a [usize],
    /// The segment.
    pub segment: &'a SegmentId,
    /// Its chunks: all static ones, all with a value in the windows that are assembled, and with fill those with the
    /// last values before.
    pub chunks: &'a [Arc<Chunk>],
    /// The index values at which there is a row, ascending; `None` for those at which something is.
    pub samples: Option<&'a [i64]>,
    /// Components, as positions among those of the view, without which there is no row: each has a static value or
    /// one of the row's own.
    pub not_null: &'a [usize],
}

impl<'a> SegmentChunks<'a> {
    /// The columns `projection` of all rows of a segment at which something is.
    pub fn new(
        view: &'a View,
        projection: &'a [usize],
        segment: &'a SegmentId,
        chunks: &'a [Arc<Chunk>],
    ) -> Self {
        Self {
            view,
            projection,
            segment,
            chunks,
            samples: None,
            not_null: &[],
        }
    }
}

/// How large a batch may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most rows.
    pub rows: usize,
    /// Most bytes of component values, unless a single row has more.
    pub bytes: usize,
}

/// Where a row stands among those of its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey {
    /// Its index value.
    pub time: i64,
    /// Its row id where all duplicates are read, else zero.
    pub row_id: RowId,
}

impl RowKey {
    /// The first row there can be.
    pub const MIN: Self = Self::at(i64::MIN);

    /// The first row there can be at an index value.
    pub const fn at(time: i64) -> Self {
        Self {
            time,
            row_id: RowId::from_parts(0, 0),
        }
    }

    /// The first row there can be after this one, if there can be any.
    fn next(self) -> Option<Self> {
        let row_id = u128::from_be_bytes(self.row_id.to_be_bytes()).checked_add(1);
        match row_id {
            Some(row_id) => Some(Self {
                row_id: row_id.into(),
                ..self
            }),
            None => self.time.checked_add(1).map(Self::at),
        }
    }
}

/// Rows of some windows, as far as the limits let them fit.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The rows, ascending. May have none.
    pub batch: RecordBatch,
    /// The first row that was left out; `None` when the windows are done.
    pub next: Option<RowKey>,
}

/// Assembles the rows in `windows` (ascending, apart) that do not come before `from`, the first ones when the
/// limits do not let all of them fit.
///
/// At least one row is taken if there is any, so that a caller that goes on at [`Assembled::next`] always
/// comes to an end. The view must have an index. `batch_too_large` when a single row cannot be held in an
/// Arrow batch.
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

/// What of `windows` lies within `range`.
pub fn clip(windows: &[TimeRange], range: TimeRange) -> Vec<TimeRange> {
    let within = windows.iter().map(|window| window.intersection(&range));
    within.filter(|window| !window.is_empty()).collect()
}

/// Assembles the one row of static values of a segment; no row when it has none in the view, or lacks one without
/// which there is none.
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
