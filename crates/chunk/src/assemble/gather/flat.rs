//! Lists of items of one width, copied as bytes.

use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, BooleanBufferBuilder, ListArray, make_array};
use arrow::buffer::{Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, FieldRef};
use segue_error::{Error, ErrorCode, Result};

use super::internal;
use crate::assemble::Cell;
use crate::assemble::runs::{Runs, What};

/// Lists whose items are numbers, or arrays of them of one length, none of them null.
pub(super) struct FlatLists<'a> {
    sources: Vec<(&'a ListArray, ArrayData)>,
    /// Bytes of an item.
    width: usize,
}

impl<'a> FlatLists<'a> {
    /// `None` if their items are others.
    pub(super) fn new(lists: &[&'a ListArray]) -> Option<Self> {
        let width = width(&lists.first()?.value_type())?;
        let sources = lists.iter().map(|lists| {
            let items = lists.values().to_data();
            is_full(&items).then_some((*lists, items))
        });
        Some(Self {
            sources: sources.collect::<Option<_>>()?,
            width,
        })
    }

    /// The lists of `runs`, whose items are called `item`. `place` says where the lists of a cell stand; an empty one is
    /// nowhere.
    pub(super) fn gather(
        &self,
        item: &FieldRef,
        runs: &Runs,
        place: impl Fn(Cell) -> Option<usize>,
    ) -> Result<ArrayRef> {
        let bytes: Vec<&[u8]> = self.sources.iter().map(|(_, items)| bytes(items)).collect();
        let span = |source: usize, row: usize, rows: usize| {
            let offsets = self.sources[source].0.value_offsets();
            (offsets[row] as usize, offsets[row + rows] as usize)
        };
        let count = runs.iter().map(|run| match run.what {
            What::Nothing => 0,
            What::From(cell) => place(cell).map_or(0, |source| {
                let (start, end) = span(source, cell.row, run.len);
                end - start
            }),
            What::Again(cell) => place(cell).map_or(0, |source| {
                let (start, end) = span(source, cell.row, 1);
                (end - start).saturating_mul(run.len)
            }),
        });
        let count = count.fold(0, usize::saturating_add);
        if i32::try_from(count).is_err() {
            return Err(too_many(count));
        }
        let mut out = Out::new(count * self.width, runs.len());
        for run in runs.iter() {
            let (cell, source) = match run.what {
                What::Nothing => {
                    out.empty(run.len, false);
                    continue;
                }
                What::From(cell) | What::Again(cell) => match place(cell) {
                    Some(source) => (cell, source),
                    None => {
                        out.empty(run.len, true);
                        continue;
                    }
                },
            };
            let rows = match run.what {
                What::Again(_) => 1,
                _ => run.len,
            };
            let (start, end) = span(source, cell.row, rows);
            let items = &bytes[source][start * self.width..end * self.width];
            match run.what {
                What::Again(_) => out.again(items, end - start, run.len),
                _ => {
                    let offsets = self.sources[source].0.value_offsets();
                    out.lists(items, &offsets[cell.row..=cell.row + rows]);
                }
            }
        }
        out.finish(item, count)
    }
}

/// Lists as they are put together.
struct Out {
    items: MutableBuffer,
    offsets: Vec<i32>,
    valid: BooleanBufferBuilder,
}

impl Out {
    fn new(bytes: usize, rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self {
            items: MutableBuffer::with_capacity(bytes),
            offsets,
            valid: BooleanBufferBuilder::new(rows),
        }
    }

    fn end(&self) -> i32 {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Rows without items: nulls, unless they are valid.
    fn empty(&mut self, rows: usize, is_valid: bool) {
        self.offsets.resize(self.offsets.len() + rows, self.end());
        self.valid.append_n(rows, is_valid);
    }

    /// One list of `len` items, in so many `rows`.
    fn again(&mut self, items: &[u8], len: usize, rows: usize) {
        self.items.repeat_slice_n_times(items, rows);
        // It was checked that the offsets of all items fit.
        let (end, len) = (self.end(), len as i32);
        self.offsets
            .extend((1..=rows as i32).map(|row| end + row * len));
        self.valid.append_n(rows, true);
    }

    /// Neighbouring lists, with the offsets that they had.
    fn lists(&mut self, items: &[u8], offsets: &[i32]) {
        self.items.extend_from_slice(items);
        let shift = self.end() - offsets[0];
        self.offsets
            .extend(offsets[1..].iter().map(|offset| offset + shift));
        self.valid.append_n(offsets.len() - 1, true);
    }

    fn finish(mut self, item: &FieldRef, count: usize) -> Result<ArrayRef> {
        let items = array(item.data_type(), count, self.items.into())?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let nulls = NullBuffer::new(self.valid.finish());
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        let lists = ListArray::try_new(Arc::clone(item), offsets, make_array(items), nulls);
        Ok(Arc::new(lists.map_err(internal)?))
    }
}

/// Bytes of an item of the type, if all have as many and these are all there is to them.
fn width(item: &DataType) -> Option<usize> {
    match item {
        DataType::FixedSizeList(field, len) => {
            let len = usize::try_from(*len).ok().filter(|len| *len > 0)?;
            width(field.data_type())?.checked_mul(len)
        }
        DataType::FixedSizeBinary(len) => usize::try_from(*len).ok().filter(|len| *len > 0),
        other => other.primitive_width(),
    }
}

/// Whether there is no null among items of a type that has a width.
fn is_full(items: &ArrayData) -> bool {
    items.null_count() == 0 && items.child_data().iter().all(is_full)
}

/// The bytes of items of a type that has a width.
fn bytes(items: &ArrayData) -> &[u8] {
    match items.data_type() {
        DataType::FixedSizeList(_, len) => {
            let all = bytes(&items.child_data()[0]);
            let width = width(items.data_type()).unwrap_or(0);
            debug_assert!(*len > 0, "a width is more than zero");
            &all[items.offset() * width..(items.offset() + items.len()) * width]
        }
        data_type => {
            let width = width(data_type).unwrap_or(0);
            let all = items.buffers()[0].as_slice();
            &all[items.offset() * width..(items.offset() + items.len()) * width]
        }
    }
}

/// An array of `len` items of a type that has a width, of their bytes.
fn array(data_type: &DataType, len: usize, bytes: Buffer) -> Result<ArrayData> {
    let array = ArrayData::builder(data_type.clone()).len(len);
    let array = match data_type {
        DataType::FixedSizeList(field, each) => {
            let each = usize::try_from(*each).unwrap_or(0);
            array.add_child_data(self::array(field.data_type(), len * each, bytes)?)
        }
        _ => array.add_buffer(bytes),
    };
    array.build().map_err(internal)
}

fn too_many(items: usize) -> Error {
    Error::new(
        ErrorCode::Invariant,
        "assemble.gather",
        format!("{items} list items are more than one array holds"),
    )
}
