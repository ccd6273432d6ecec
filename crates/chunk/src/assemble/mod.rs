//! From the chunks of a segment to rows of its table.
//!
//! [`assemble`] is a pure function over Arrow arrays: it takes the chunks at hand and windows of index
//! values, and gives the rows in them. `reference` says the same one value at a time, to be read and to
//! compare with.
//!
//! The cell rule: the value of a component at an index value is the last non-null one there, by row id,
//! then chunk id; with fill, the last one there or before. A static value hides all temporal ones and stands on
//! every row. Clear writes an empty list to every component of its entity, and of the entities below when it is
//! recursive. A row exists where some component of the view has a value of its own, or where a row is asked for.
//! A column of another timeline holds the largest of its values among the cells of the row.
//!
//! Where all duplicates are read, rows are told apart by row id as well: what is said above of an index value
//! is then true of an index value and a row id.
//!
//! The way is: what the chunks say of which component (`sources`), which rows there are (`keys`), where the value of
//! each column in each row comes from, as runs of neighbouring rows (`standing`, `runs`), how many of the rows fit
//! (`size`), and one gather per column (`columns`, `gather`). Costs follow the rows, not the chunks at hand, and the
//! runs, not the values.

mod carry;
mod columns;
mod gather;
mod keys;
mod merge;
mod order;
#[cfg(any(test, feature = "test-util"))]
pub mod reference;
mod runs;
mod size;
mod sources;
mod standing;
#[cfg(test)]
mod tests;
mod times;

use std::sync::Arc;

use arrow::array::RecordBatch;
use segue_error::Result;

use crate::model::{Chunk, RowId, SegmentId, TimeRange};
use crate::view::{Duplicates, View};

pub use carry::Carry;
use columns::Cells;
use order::Key;
use sources::Sources;

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
    match chunks.view.duplicates() {
        Duplicates::Last => rows::<i64>(chunks, windows, from, limits),
        Duplicates::All => rows::<RowKey>(chunks, windows, from, limits),
    }
}

fn rows<K: Key>(
    chunks: &SegmentChunks<'_>,
    windows: &[TimeRange],
    from: RowKey,
    limits: Limits,
) -> Result<Assembled> {
    let statics = sources::static_cells(chunks);
    let sources = Sources::new(chunks.view, chunks.chunks, &statics);
    let limit = limits.rows.max(1);
    let (keys, next) = keys::row_keys::<K>(chunks, &sources, &statics, windows, from, limit);
    let mut cells = Cells::temporal(chunks, &sources, &statics, &keys);
    let fitting = size::rows_that_fit(chunks, &keys, &cells.columns(), limits.bytes)?;
    let next = keys.get(fitting).copied().or(next);
    cells.truncate(fitting);
    let batch = cells.rows(&keys[..fitting])?;
    let next = next.map(Key::row_key);
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
    let statics = sources::static_cells(chunks);
    let has_all = chunks.not_null.iter().all(|&at| statics[at].is_some());
    let rows = usize::from(has_all && statics.iter().any(Option::is_some));
    let cells = Cells::fixed(chunks, &statics, rows);
    size::check_static_row(chunks, &cells.columns())?;
    cells.static_row(rows)
}

/// Where a cell's value stands, which is not null.
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
