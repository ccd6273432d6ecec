//! From runs of cells to arrays: one gather per column.

mod flat;
pub(super) mod joint;
pub(super) mod plain;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, new_empty_array, new_null_array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{concat, interleave};
use arrow::datatypes::{DataType, FieldRef};
use arrow::error::ArrowError;
use segue_error::{Error, ErrorCode, Result};

use super::runs::{Run, Runs, What};
use super::size::lists_size;
use super::{Cell, SegmentChunks};
use crate::schema::ComponentColumn;
use flat::FlatLists;

/// The column of the component at position `at`: lists, or values where the view unnests them.
pub(super) fn component(chunks: &SegmentChunks<'_>, at: usize, runs: &Runs) -> Result<ArrayRef> {
    let column = &chunks.view.components()[at];
    let lists = Gather::new(chunks, column)?.lists(runs)?;
    match chunks.view.is_unnested(at) {
        true => plain::values(chunks, column, &lists),
        false => Ok(lists),
    }
}

/// Puts the values of one component together.
struct Gather<'a> {
    chunks: &'a SegmentChunks<'a>,
    component: &'a ComponentColumn,
    item: &'a FieldRef,
}

impl<'a> Gather<'a> {
    fn new(chunks: &'a SegmentChunks<'a>, component: &'a ComponentColumn) -> Result<Self> {
        let DataType::List(item) = &component.data_type else {
            let data_type = &component.data_type;
            return Err(Error::new(
                ErrorCode::Invariant,
                "assemble.gather",
                format!("a component of type {data_type} is not a list"),
            ));
        };
        Ok(Self {
            chunks,
            component,
            item,
        })
    }

    /// One list per row; null where there is nothing.
    fn lists(&self, runs: &Runs) -> Result<ArrayRef> {
        let mut all = runs.iter();
        match (all.next(), all.next()) {
            (None, _) => return Ok(new_empty_array(&self.component.data_type)),
            (Some(run), None) => {
                if let Some(whole) = self.whole(run)? {
                    return Ok(whole);
                }
            }
            _ => {}
        }
        let sources = Sources::new(self, runs)?;
        match FlatLists::new(&sources.lists) {
            Some(flat) => flat.gather(self.item, runs, |cell| sources.place(cell)),
            None => self.by_arrow(&sources, runs),
        }
    }

    /// A run for which nothing has to be copied.
    fn whole(&self, run: Run) -> Result<Option<ArrayRef>> {
        match run.what {
            What::Nothing => Ok(Some(new_null_array(&self.component.data_type, run.len))),
            What::From(cell) if !cell.is_cleared => {
                let lists = self.values(cell)?;
                // What is not read of the chunk stays in memory with the slice.
                let own = lists_size(lists, cell.row, run.len);
                let is_most = own >= lists.get_buffer_memory_size() / 2;
                Ok(is_most.then(|| Arc::new(lists.slice(cell.row, run.len)) as ArrayRef))
            }
            _ => Ok(None),
        }
    }

    /// The lists of the chunk of a cell.
    fn values(&self, cell: Cell) -> Result<&'a ListArray> {
        let chunk = &self.chunks.chunks[cell.chunk];
        let values = chunk.component(&self.component.component);
        values.ok_or_else(|| {
            let name = self.component.column_name();
            Error::new(
                ErrorCode::Invariant,
                "assemble.gather",
                format!("a cell of '{name}' points to a chunk without it"),
            )
        })
    }

    fn by_arrow(&self, sources: &Sources<'a>, runs: &Runs) -> Result<ArrayRef> {
        /// Rows per run from which on whole runs are joined.
        const LONG: usize = 8;
        let missing = new_null_array(&self.component.data_type, 1);
        let cleared = empty_list(self.item)?;
        let lists = sources.lists.iter().map(|lists| *lists as &dyn Array);
        let arrays: Vec<&dyn Array> = [&*missing, &*cleared].into_iter().chain(lists).collect();
        joint::check(&arrays).map_err(|reason| not_joinable(self.component, reason))?;
        let place = |cell: Cell| match sources.place(cell) {
            Some(source) => (source + 2, cell.row),
            None => (1, 0),
        };
        let is_long = runs.len() / runs.count() >= LONG;
        let joined = if is_long && joint::is_copied(&self.component.data_type) {
            let parts = runs.iter().map(|run| match run.what {
                What::From(cell) if !cell.is_cleared => {
                    let (source, row) = place(cell);
                    Ok(arrays[source].slice(row, run.len))
                }
                What::Nothing => Ok(new_null_array(&self.component.data_type, run.len)),
                What::From(cell) | What::Again(cell) => {
                    interleave(&arrays, &vec![place(cell); run.len])
                }
            });
            let parts = parts.collect::<Result<Vec<_>, _>>();
            parts.and_then(|parts| concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>()))
        } else {
            let mut picks = Vec::with_capacity(runs.len());
            for run in runs.iter() {
                match run.what {
                    What::Nothing => picks.resize(picks.len() + run.len, (0, 0)),
                    What::Again(cell) => picks.resize(picks.len() + run.len, place(cell)),
                    What::From(cell) => picks.extend((0..run.len).map(|at| place(cell.after(at)))),
                }
            }
            interleave(&arrays, &picks)
        };
        joined.map_err(|error| match error {
            ArrowError::DictionaryKeyOverflowError | ArrowError::ComputeError(_) => {
                not_joinable(self.component, error.to_string()).with_source(error)
            }
            error => internal(error),
        })
    }
}

/// The lists that the cells of a column point into.
struct Sources<'a> {
    lists: Vec<&'a ListArray>,
    /// By position among the chunks at hand.
    places: HashMap<usize, usize>,
}

impl<'a> Sources<'a> {
    fn new(gather: &Gather<'a>, runs: &Runs) -> Result<Self> {
        let mut sources = Self {
            lists: Vec::new(),
            places: HashMap::new(),
        };
        let mut last = None;
        for run in runs.iter() {
            let (What::From(cell) | What::Again(cell)) = run.what else {
                continue;
            };
            if cell.is_cleared
                || last == Some(cell.chunk)
                || sources.places.contains_key(&cell.chunk)
            {
                continue;
            }
            last = Some(cell.chunk);
            sources.places.insert(cell.chunk, sources.lists.len());
            sources.lists.push(gather.values(cell)?);
        }
        Ok(sources)
    }

    /// Where the lists of a cell stand; `None` for an empty one.
    fn place(&self, cell: Cell) -> Option<usize> {
        match cell.is_cleared {
            true => None,
            false => self.places.get(&cell.chunk).copied(),
        }
    }
}

/// One empty list of the given items.
fn empty_list(item: &FieldRef) -> Result<ArrayRef> {
    let values = new_empty_array(item.data_type());
    let offsets = OffsetBuffer::from_lengths([0]);
    let list = ListArray::try_new(Arc::clone(item), offsets, values, None).map_err(internal)?;
    Ok(Arc::new(list))
}

/// The values of `component` cannot stand in one array, because of how its type keeps them.
pub(super) fn not_joinable(component: &ComponentColumn, reason: String) -> Error {
    let (name, data_type) = (component.column_name(), &component.data_type);
    Error::new(
        ErrorCode::Unsupported,
        "assemble.gather",
        format!(
            "the values of column '{name}' of type {data_type} cannot be put together: {reason}"
        ),
    )
    .with_fact("column", name)
}

pub(super) fn internal(error: ArrowError) -> Error {
    Error::new(
        ErrorCode::Internal,
        "assemble.gather",
        format!("arrow could not build a column: {error}"),
    )
    .with_source(error)
}
