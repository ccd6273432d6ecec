//! Sizes of rows, known from offsets before anything is copied.

use std::collections::HashMap;

use arrow::array::{Array, ArrayData};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::DataType;
use segue_error::{Error, ErrorCode, Result};

use super::cells::TemporalCells;
use super::{Cell, RowKey, SegmentChunks, StaticCells};
use crate::view::ViewColumn;

/// Most bytes of a batch, and so of each of its columns: list offsets are 32 bit.
const MOST_COLUMN_BYTES: usize = i32::MAX as usize;

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
        items_size(items, start, end - start).saturating_add(size_of::<i32>())
    }
}

/// Bytes of list items, or those that it takes to gather them when that is more: other items than numbers
/// are picked one by one, and may have no bytes themselves.
fn items_size(items: &ArrayData, start: usize, len: usize) -> usize {
    let picks = match items.data_type().is_primitive() {
        true => 0,
        false => len.saturating_mul(size_of::<(usize, usize)>()),
    };
    range_size(items, start, len).max(picks)
}

/// Bytes of the values `start .. start + len` of an array, without its validity.
fn range_size(data: &ArrayData, start: usize, len: usize) -> usize {
    let at = data.offset() + start;
    let child =
        |child: usize, start: usize, len: usize| range_size(&data.child_data()[child], start, len);
    let items = |start: usize, len: usize| items_size(&data.child_data()[0], start, len);
    let listed = |start: usize, end: usize, width: usize| {
        items(start, end.saturating_sub(start)).saturating_add(len * width)
    };
    match data.data_type() {
        DataType::Null => 0,
        DataType::Boolean => len.div_ceil(8),
        DataType::Utf8 | DataType::Binary => {
            let offsets = &data.buffer::<i32>(0)[data.offset()..];
            len * 4 + (offsets[start + len] - offsets[start]) as usize
        }
        DataType::LargeUtf8 | DataType::LargeBinary => {
            let offsets = &data.buffer::<i64>(0)[data.offset()..];
            len * 8 + (offsets[start + len] - offsets[start]) as usize
        }
        DataType::Utf8View | DataType::BinaryView => {
            let views: ScalarBuffer<u128> = ScalarBuffer::new(data.buffers()[0].clone(), at, len);
            let length = |view: &u128| (*view as u32) as usize;
            let apart = views.iter().map(length).filter(|&n| n > 12);
            len * 16 + apart.sum::<usize>()
        }
        DataType::FixedSizeBinary(width) => len * (*width).max(0) as usize,
        DataType::List(_) | DataType::Map(_, _) => {
            let offsets = &data.buffer::<i32>(0)[data.offset()..];
            listed(offsets[start] as usize, offsets[start + len] as usize, 4)
        }
        DataType::LargeList(_) => {
            let offsets = &data.buffer::<i64>(0)[data.offset()..];
            listed(offsets[start] as usize, offsets[start + len] as usize, 8)
        }
        DataType::FixedSizeList(_, width) => {
            let width = (*width).max(0) as usize;
            items(at * width, len * width)
        }
        DataType::Struct(_) => (0..data.child_data().len())
            .map(|field| child(field, at, len))
            .fold(0, usize::saturating_add),
        // Dictionaries and the like share their values between rows: they are gathered whole, once.
        other => match other.primitive_width() {
            Some(width) => len * width,
            None => data.get_slice_memory_size().unwrap_or(0),
        },
    }
}

fn too_large(chunks: &SegmentChunks<'_>, which: std::fmt::Arguments<'_>, bytes: usize) -> Error {
    let segment = chunks.segment;
    Error::new(
        ErrorCode::BatchTooLarge,
        "assemble.rows",
        format!(
            "the row of segment '{segment}'{which} takes {bytes} bytes, \
             more than the {MOST_COLUMN_BYTES} that fit in a batch"
        ),
    )
    .with_fact("segment", segment.as_str())
    .with_fact("row_bytes", bytes)
}
