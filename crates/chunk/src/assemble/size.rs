//! Sizes of rows, known from offsets before anything is copied.

use arrow::array::{Array, ArrayData, ListArray};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::DataType;
use segue_error::{Error, ErrorCode, Result};

use super::order::Key;
use super::runs::{Runs, What};
use super::{Cell, SegmentChunks};

/// Most bytes of a batch, and so of each of its columns: list offsets are 32 bit.
pub(super) const MOST_COLUMN_BYTES: usize = i32::MAX as usize;

/// Bytes of the offset of a list.
const OFFSET_BYTES: usize = size_of::<i32>();

/// What stands in the rows of a component of the view.
pub(super) struct Column<'a> {
    /// Position of the component.
    pub(super) component: usize,
    pub(super) runs: &'a Runs,
}

/// How many of the rows `keys` stay within `limit` bytes of values of `columns`: at least one, if there are any.
///
/// `batch_too_large` when the values of a single row are together larger than a column can be.
pub(super) fn rows_that_fit<K: Key>(
    chunks: &SegmentChunks<'_>,
    keys: &[K],
    columns: &[Column<'_>],
    limit: usize,
) -> Result<usize> {
    // The limit holds for all columns together, so it also keeps each below what offsets can say.
    let limit = limit.min(MOST_COLUMN_BYTES);
    let most = columns.iter().map(|column| column.most_bytes(chunks));
    if most.fold(0, usize::saturating_add) <= limit {
        return Ok(keys.len());
    }
    let mut bytes = vec![0usize; keys.len()];
    for column in columns {
        column.add_bytes(chunks, &mut bytes);
    }
    let mut total = 0usize;
    for (row, (key, own)) in keys.iter().zip(bytes).enumerate() {
        if own > MOST_COLUMN_BYTES {
            let time = key.time();
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
pub(super) fn check_static_row(chunks: &SegmentChunks<'_>, columns: &[Column<'_>]) -> Result<()> {
    let mut bytes = [0];
    for column in columns {
        column.add_bytes(chunks, &mut bytes);
    }
    match bytes {
        [bytes] if bytes > MOST_COLUMN_BYTES => {
            Err(too_large(chunks, format_args!(" of static values"), bytes))
        }
        _ => Ok(()),
    }
}

impl Column<'_> {
    /// A number of bytes that the column does not exceed.
    fn most_bytes(&self, chunks: &SegmentChunks<'_>) -> usize {
        let mut sizes = Sizes::new(chunks, self.component);
        let runs = self.runs.iter().map(|run| match run.what {
            What::Nothing => 0,
            What::From(cell) => sizes.most(cell, run.len),
            What::Again(cell) => sizes.most(cell, 1).saturating_mul(run.len),
        });
        runs.fold(0, usize::saturating_add)
    }

    /// Adds to `bytes` those of each row.
    fn add_bytes(&self, chunks: &SegmentChunks<'_>, bytes: &mut [usize]) {
        let mut sizes = Sizes::new(chunks, self.component);
        let mut rest = bytes;
        for run in self.runs.iter() {
            let (own, others) = rest.split_at_mut(run.len);
            let mut add = |row: &mut usize, cell| *row = row.saturating_add(sizes.exact(cell));
            match run.what {
                What::Nothing => {}
                What::From(cell) => {
                    let rows = own.iter_mut().enumerate();
                    rows.for_each(|(at, row)| add(row, cell.after(at)));
                }
                What::Again(cell) => {
                    let mut one = 0;
                    add(&mut one, cell);
                    own.iter_mut()
                        .for_each(|row| *row = row.saturating_add(one));
                }
            }
            rest = others;
        }
    }
}

/// Sizes of the cells of a component.
struct Sizes<'a> {
    chunks: &'a SegmentChunks<'a>,
    component: usize,
    /// The chunk that was last looked at, its lists and their items.
    last: Option<(usize, &'a ListArray, ArrayData)>,
}

impl<'a> Sizes<'a> {
    fn new(chunks: &'a SegmentChunks<'a>, component: usize) -> Self {
        Self {
            chunks,
            component,
            last: None,
        }
    }

    /// Bytes of a cell.
    fn exact(&mut self, cell: Cell) -> usize {
        self.size(cell, 1, Count::Exact)
    }

    /// A number of bytes that the cells of `rows` rows from that of `first` on do not exceed together.
    fn most(&mut self, first: Cell, rows: usize) -> usize {
        self.size(first, rows, Count::Most)
    }

    fn size(&mut self, first: Cell, rows: usize, count: Count) -> usize {
        let offsets = rows.saturating_mul(OFFSET_BYTES);
        if first.is_cleared {
            return offsets;
        }
        if self.last.as_ref().is_none_or(|(at, ..)| *at != first.chunk) {
            let name = &self.chunks.view.components()[self.component].component;
            let lists = self.chunks.chunks[first.chunk].component(name);
            self.last = lists.map(|lists| (first.chunk, lists, lists.values().to_data()));
        }
        let Some((_, lists, items)) = &self.last else {
            return offsets;
        };
        let ends = lists.value_offsets();
        let (start, end) = (ends[first.row] as usize, ends[first.row + rows] as usize);
        items_size(items, start, end - start, count).saturating_add(offsets)
    }
}

/// Bytes of neighbouring lists.
pub(super) fn lists_size(lists: &ListArray, first: usize, rows: usize) -> usize {
    let ends = lists.value_offsets();
    let (start, end) = (ends[first] as usize, ends[first + rows] as usize);
    let items = range_size(&lists.values().to_data(), start, end - start, Count::Exact);
    items.saturating_add(rows.saturating_mul(OFFSET_BYTES))
}

/// How bytes are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// As they are, of the items of one row.
    Exact,
    /// Not below what the rows take together, one by one.
    Most,
}

/// Bytes of list items, or those that it takes to gather them when that is more: other items than numbers
/// are picked one by one, and may have no bytes themselves.
pub(super) fn items_size(items: &ArrayData, start: usize, len: usize, count: Count) -> usize {
    let picks = match items.data_type().is_primitive() {
        true => 0,
        false => len.saturating_mul(size_of::<(usize, usize)>()),
    };
    let own = range_size(items, start, len, count);
    match count {
        Count::Exact => own.max(picks),
        Count::Most => own.saturating_add(picks),
    }
}

/// Bytes of the values `start .. start + len` of an array, without its validity.
fn range_size(data: &ArrayData, start: usize, len: usize, count: Count) -> usize {
    let at = data.offset() + start;
    let child = |child: usize, start: usize, len: usize| {
        range_size(&data.child_data()[child], start, len, count)
    };
    let items = |start: usize, len: usize| items_size(&data.child_data()[0], start, len, count);
    let listed = |start: usize, end: usize, width: usize| {
        items(start, end.saturating_sub(start)).saturating_add(len * width)
    };
    match data.data_type() {
        DataType::Null => 0,
        DataType::Boolean if count == Count::Most => len,
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
            None if count == Count::Most => usize::MAX,
            None => data.get_slice_memory_size().unwrap_or(0),
        },
    }
}

pub(super) fn too_large(
    chunks: &SegmentChunks<'_>,
    which: std::fmt::Arguments<'_>,
    bytes: usize,
) -> Error {
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
