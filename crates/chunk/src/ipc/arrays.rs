//! Arrays of a record batch, validated.
//!
//! Arrow's own validation runs on every array, but panics on some: on bitmaps and typed buffers that are
//! too short or of an odd length, and where a child's length is not exactly its parent's. So buffers are
//! cut to the bytes that an array of its length has, and lengths are compared, before it is called.

use std::vec::IntoIter;

use arrow::array::{ArrayData, ArrayDataBuilder};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow::datatypes::{DataType, UnionMode};

use super::batch::Dictionaries;
use super::body::Body;
use super::error::{IpcError, Result};
use super::schema::Ids;

/// Most elements of an array, as the format's specification wants it.
const MAX_LEN: i64 = i32::MAX as i64;

/// Most elements without bytes that an array may have whatever the size of the body.
const MAX_FREE_LEN: u64 = 1 << 16;

/// The arrays of one record batch, in the order of its nodes and buffers.
pub(super) struct Arrays<'a> {
    rows: usize,
    nodes: IntoIter<(i64, i64)>,
    buffers: IntoIter<(i64, i64)>,
    variadic: IntoIter<i64>,
    body: Body,
    dictionaries: &'a Dictionaries,
}

/// Length and number of nulls of an array, as its node states them.
#[derive(Clone, Copy)]
struct Node {
    len: usize,
    nulls: usize,
}

impl<'a> Arrays<'a> {
    pub(super) fn new(
        batch: arrow_ipc::RecordBatch<'_>,
        body: Buffer,
        dictionaries: &'a Dictionaries,
    ) -> Result<Self> {
        let nodes = batch.nodes().into_iter().flatten();
        let nodes: Vec<_> = nodes
            .map(|node| (node.length(), node.null_count()))
            .collect();
        let buffers = batch.buffers().into_iter().flatten();
        let buffers: Vec<_> = buffers
            .map(|buffer| (buffer.offset(), buffer.length()))
            .collect();
        let variadic: Vec<i64> = batch
            .variadicBufferCounts()
            .into_iter()
            .flat_map(|v| v.iter())
            .collect();
        Ok(Self {
            rows: element_count(batch.length())?,
            nodes: nodes.into_iter(),
            buffers: buffers.into_iter(),
            variadic: variadic.into_iter(),
            body: Body::new(body, batch.compression())?,
            dictionaries,
        })
    }

    /// Rows of the batch, as it states them.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Checks that nothing is left over.
    pub(super) fn finish(mut self) -> Result<()> {
        let left = [
            ("node", self.nodes.next().is_some()),
            ("buffer", self.buffers.next().is_some()),
            ("buffer count", self.variadic.next().is_some()),
        ];
        match left.iter().find(|(_, is_left)| *is_left) {
            Some((what, _)) => Err(IpcError::malformed(format_args!(
                "a {what} belongs to no column"
            ))),
            None => Ok(()),
        }
    }

    /// The next array, which has the type `data_type`.
    pub(super) fn read(&mut self, data_type: &DataType, ids: &Ids) -> Result<ArrayData> {
        let node = self.node()?;
        if takes_no_bytes(data_type) && node.len as u64 > self.body.max_bits().max(MAX_FREE_LEN) {
            let len = node.len;
            return Err(IpcError::unsupported(format_args!(
                "an array of {len} values without bytes"
            )));
        }
        let array = ArrayData::builder(data_type.clone()).len(node.len);
        let array = match data_type {
            DataType::Null => {
                if node.nulls != 0 && node.nulls != node.len {
                    return Err(wrong_nulls(node, node.len));
                }
                array
            }
            DataType::Union(..) | DataType::RunEndEncoded(..) => {
                if node.nulls != 0 {
                    return Err(wrong_nulls(node, 0));
                }
                self.children_without_validity(array, data_type, ids, node)?
            }
            _ => {
                let array = array.nulls(self.validity(node)?);
                self.values(array, data_type, ids, node)?
            }
        };
        array.build().map_err(IpcError::malformed)
    }

    fn values(
        &mut self,
        array: ArrayDataBuilder,
        data_type: &DataType,
        ids: &Ids,
        node: Node,
    ) -> Result<ArrayDataBuilder> {
        Ok(match data_type {
            DataType::Boolean => array.add_buffer(self.sized(node.len.div_ceil(8))?),
            DataType::FixedSizeBinary(width) => {
                let width = usize::try_from(*width).map_err(IpcError::malformed)?;
                array.add_buffer(self.fixed(node.len, width, 1)?)
            }
            DataType::Utf8 | DataType::Binary => array
                .add_buffer(self.offsets(node.len, 4)?)
                .add_buffer(self.buffer()?),
            DataType::LargeUtf8 | DataType::LargeBinary => array
                .add_buffer(self.offsets(node.len, 8)?)
                .add_buffer(self.buffer()?),
            DataType::Utf8View | DataType::BinaryView => {
                let array = array.add_buffer(self.fixed(node.len, 16, 16)?);
                array.add_buffers(self.view_buffers()?)
            }
            DataType::List(item) | DataType::Map(item, _) => {
                let array = array.add_buffer(self.offsets(node.len, 4)?);
                array.add_child_data(self.child(item.data_type(), ids, 0)?)
            }
            DataType::LargeList(item) => {
                let array = array.add_buffer(self.offsets(node.len, 8)?);
                array.add_child_data(self.child(item.data_type(), ids, 0)?)
            }
            DataType::FixedSizeList(item, size) => {
                let size = usize::try_from(*size).map_err(IpcError::malformed)?;
                let child = self.child(item.data_type(), ids, 0)?;
                // Nulls of the list are spread over the items to check these.
                let is_bounded = item.is_nullable()
                    || node.nulls == 0
                    || child.len() as u64 <= self.body.max_bits();
                if !is_bounded {
                    return Err(IpcError::unsupported(
                        "a list of so many items without bytes",
                    ));
                }
                same_len(&child, node.len.checked_mul(size))?;
                array.add_child_data(child)
            }
            DataType::Struct(fields) => {
                let mut array = array;
                for (index, field) in fields.iter().enumerate() {
                    let child = self.child(field.data_type(), ids, index)?;
                    same_len(&child, Some(node.len))?;
                    array = array.add_child_data(child);
                }
                array
            }
            DataType::Dictionary(key, values) => {
                let width = key.primitive_width().unwrap_or(1);
                let keys = self.fixed(node.len, width, width)?;
                array
                    .add_buffer(keys)
                    .add_child_data(self.dictionary(ids, values, node)?)
            }
            _ => {
                let Some(width) = data_type.primitive_width() else {
                    return Err(IpcError::unsupported(format_args!("type {data_type}")));
                };
                array.add_buffer(self.fixed(node.len, width, width.min(16))?)
            }
        })
    }

    fn children_without_validity(
        &mut self,
        mut array: ArrayDataBuilder,
        data_type: &DataType,
        ids: &Ids,
        node: Node,
    ) -> Result<ArrayDataBuilder> {
        match data_type {
            DataType::Union(fields, mode) => {
                array = array.add_buffer(self.fixed(node.len, 1, 1)?);
                if *mode == UnionMode::Dense {
                    array = array.add_buffer(self.fixed(node.len, 4, 4)?);
                }
                for (index, (_, field)) in fields.iter().enumerate() {
                    let child = self.child(field.data_type(), ids, index)?;
                    if *mode == UnionMode::Sparse {
                        same_len(&child, Some(node.len))?;
                    }
                    array = array.add_child_data(child);
                }
            }
            DataType::RunEndEncoded(ends, values) => {
                let ends = self.child(ends.data_type(), ids, 0)?;
                let values = self.child(values.data_type(), ids, 1)?;
                if node.len == 0 {
                    // Of an empty slice, some writers leave one run that ends at 0.
                    return Ok(ArrayData::new_empty(data_type).into_builder());
                }
                array = array.add_child_data(ends).add_child_data(values);
            }
            _ => {}
        }
        Ok(array)
    }

    fn child(&mut self, data_type: &DataType, ids: &Ids, index: usize) -> Result<ArrayData> {
        let ids = ids.children.get(index);
        let ids = ids.ok_or_else(|| IpcError::malformed("a type lacks a child"))?;
        self.read(data_type, ids)
    }

    /// The values of a dictionary; a stream may leave them out as long as nothing refers to them.
    fn dictionary(&self, ids: &Ids, values: &DataType, node: Node) -> Result<ArrayData> {
        let known = ids.dictionary.and_then(|id| self.dictionaries.get(&id));
        match known {
            Some(known) => Ok(known.clone()),
            None if node.nulls == node.len => Ok(ArrayData::new_empty(values)),
            None => Err(IpcError::malformed("its dictionary is missing")),
        }
    }

    fn validity(&mut self, node: Node) -> Result<Option<NullBuffer>> {
        let bits = self.buffer()?;
        if bits.is_empty() || node.len == 0 {
            return if node.nulls == 0 {
                Ok(None)
            } else {
                Err(wrong_nulls(node, 0))
            };
        }
        let bits = cut(bits, node.len.div_ceil(8))?;
        let nulls = NullBuffer::new(BooleanBuffer::new(bits, 0, node.len));
        if nulls.null_count() != node.nulls {
            return Err(wrong_nulls(node, nulls.null_count()));
        }
        Ok(Some(nulls))
    }

    /// Offsets of `len` values. An empty array may have none.
    fn offsets(&mut self, len: usize, width: usize) -> Result<Buffer> {
        let buffer = self.buffer()?;
        if len == 0 && buffer.is_empty() {
            return Ok(buffer);
        }
        let bytes = len
            .checked_add(1)
            .and_then(|count| count.checked_mul(width));
        let buffer = cut(buffer, bytes.unwrap_or(usize::MAX))?;
        self.body.aligned(buffer, width)
    }

    fn fixed(&mut self, len: usize, width: usize, alignment: usize) -> Result<Buffer> {
        let buffer = self.sized(len.saturating_mul(width))?;
        self.body.aligned(buffer, alignment)
    }

    fn sized(&mut self, bytes: usize) -> Result<Buffer> {
        cut(self.buffer()?, bytes)
    }

    fn view_buffers(&mut self) -> Result<Vec<Buffer>> {
        let count = self.variadic.next();
        let count = count.ok_or_else(|| IpcError::malformed("a buffer count is missing"))?;
        let left = self.buffers.len();
        match usize::try_from(count) {
            Ok(count) if count <= left => (0..count).map(|_| self.buffer()).collect(),
            _ => Err(IpcError::malformed(format_args!(
                "{count} view buffers where {left} are left"
            ))),
        }
    }

    fn node(&mut self) -> Result<Node> {
        let node = self.nodes.next();
        let (len, nulls) = node.ok_or_else(|| IpcError::malformed("a node is missing"))?;
        Ok(Node {
            len: element_count(len)?,
            nulls: element_count(nulls)?,
        })
    }

    fn buffer(&mut self) -> Result<Buffer> {
        let buffer = self.buffers.next();
        let (offset, len) = buffer.ok_or_else(|| IpcError::malformed("a buffer is missing"))?;
        self.body.buffer(offset, len)
    }
}

/// Whether values of the type leave no trace in buffers or children that their number could be held against.
fn takes_no_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null | DataType::FixedSizeBinary(0) | DataType::FixedSizeList(_, 0) => true,
        DataType::Struct(fields) => fields.is_empty(),
        _ => false,
    }
}

fn element_count(count: i64) -> Result<usize> {
    match usize::try_from(count) {
        Ok(valid) if count <= MAX_LEN => Ok(valid),
        _ => Err(IpcError::malformed(format_args!("{count} elements"))),
    }
}

/// The first `len` bytes of `buffer`.
fn cut(buffer: Buffer, len: usize) -> Result<Buffer> {
    if buffer.len() < len {
        let has = buffer.len();
        return Err(IpcError::malformed(format_args!(
            "a buffer has {has} of {len} bytes"
        )));
    }
    Ok(buffer.slice_with_length(0, len))
}

fn same_len(child: &ArrayData, wanted: Option<usize>) -> Result<()> {
    let len = child.len();
    if Some(len) == wanted {
        return Ok(());
    }
    let wanted = wanted.unwrap_or(usize::MAX);
    Err(IpcError::malformed(format_args!(
        "a child has {len} of {wanted} values"
    )))
}

fn wrong_nulls(node: Node, found: usize) -> IpcError {
    let stated = node.nulls;
    IpcError::malformed(format_args!(
        "{stated} nulls are stated where {found} are found"
    ))
}
