//! Sizes of rows, known from offsets before anything is copied.

use std::collections::HashMap;

use arrow::array::{Array, ArrayData};
use segue_error::Result;

use super::super::size::{Count, MOST_COLUMN_BYTES, items_size, too_large};
use super::super::{Cell, RowKey, SegmentChunks, StaticCells};
use super::cells::TemporalCells;
use crate::view::ViewColumn;

/// How many of the rows `keys` stay within `limit` bytes: at least one.
///
/// `batch_too_large` when the values of a single row are together larger than a column can be.
pub(super) fn rows_that_fit(
    chunks: &SegmentChunks<'_>,
    keys: &[RowKey],
    statics: &StaticCells,
    cells: &TemporalCells,
    limit: usize,
) -> Result<usize> {
    let wanted = wanted(chunks);
    // The limit holds for all columns together, so it also keeps each below what offsets can say.
    let limit = limit.min(MOST_COLUMN_BYTES);
    let mut sizes = Sizes {
        chunks,
        items: HashMap::new(),
    };
    let static_bytes = sizes.statics(&wanted, statics);
    let mut total = 0usize;
    for (row, key) in keys.iter().enumerate() {
        let own = wanted
            .iter()
            .filter(|&&at| statics[at].is_none())
            .filter_map(|&at| Some(sizes.cell(at, cells.at(at, key)?)))
            .fold(static_bytes, usize::saturating_add);
        if own > MOST_COLUMN_BYTES {
            let time = key.time;
            return Err(too_large(
                chunks,
                format_args!(" at index value {time}"),
                own,
            ));
        }
        total = total.saturating_add(own);
        if total > limit && row > 0 {
            return Ok(row);
        }
    }
    Ok(keys.len())
}

/// Checks that the row of static values is not larger than a column can be; else `batch_too_large`.
pub(super) fn check_static_row(chunks: &SegmentChunks<'_>, statics: &StaticCells) -> Result<()> {
    let mut sizes = Sizes {
        chunks,
        items: HashMap::new(),
    };
    match sizes.statics(&wanted(chunks), statics) {
        bytes if bytes > MOST_COLUMN_BYTES => {
            Err(too_large(chunks, format_args!(" of static values"), bytes))
        }
        _ => Ok(()),
    }
}

/// Positions of the wanted components in the view.
fn wanted(chunks: &SegmentChunks<'_>) -> Vec<usize> {
    let columns = chunks.projection.iter();
    let columns = columns.filter_map(|&position| chunks.view.column(position));
    let components = columns.filter_map(|column| match column {
        ViewColumn::Component(at) => Some(at),
        _ => None,
    });
    components.collect()
}

/// Sizes of cells.
struct Sizes<'a> {
    chunks: &'a SegmentChunks<'a>,
    /// List items by component and chunk.
    items: HashMap<(usize, usize), ArrayData>,
}

impl Sizes<'_> {
    fn statics(&mut self, wanted: &[usize], statics: &StaticCells) -> usize {
        let cells = wanted
            .iter()
            .filter_map(|&at| Some(self.cell(at, statics[at].as_ref()?)));
        cells.fold(0, usize::saturating_add)
    }

    fn cell(&mut self, component: usize, cell: &Cell) -> usize {
        let name = &self.chunks.view.components()[component].component;
        let values = self.chunks.chunks[cell.chunk].component(name);
        let Some(values) = values.filter(|_| !cell.is_cleared) else {
            return size_of::<i32>();
        };
        let items = self
            .items
            .entry((component, cell.chunk))
            .or_insert_with(|| values.values().to_data());
        let offsets = values.value_offsets();
        let (start, end) = (offsets[cell.row] as usize, offsets[cell.row + 1] as usize);
        items_size(items, start, end - start, Count::Exact).saturating_add(size_of::<i32>())
    }
}
