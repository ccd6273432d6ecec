//! The columns of a plan.

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, FixedSizeBinaryArray, PrimitiveArray,
    RecordBatch, StringArray,
};
use arrow::datatypes::{
    DataType, DurationNanosecondType, Int64Type, Time64NanosecondType, TimeUnit,
    TimestampNanosecondType, UInt64Type,
};
use bytes::Bytes;
use segue_error::{Error, ErrorCode, Result};

const CHUNK_ID: &str = "chunk_id";
const SEGMENT: &str = "chunk_segment_id";
const LAYER: &str = "rerun_segment_layer";
const KEY: &str = "chunk_key";
const ENTITY: &str = "chunk_entity_path";
const IS_STATIC: &str = "chunk_is_static";
const BYTE_LEN: &str = "chunk_byte_len";
const UNCOMPRESSED: &str = "chunk_byte_size_uncompressed";

/// The columns that are read, whatever the index.
pub(super) const ALL: [&str; 8] = [
    CHUNK_ID,
    SEGMENT,
    LAYER,
    KEY,
    ENTITY,
    IS_STATIC,
    BYTE_LEN,
    UNCOMPRESSED,
];

/// The columns of one part of a plan, checked: no nulls but where a fact may be unknown.
pub(super) struct Columns<'a> {
    id: &'a FixedSizeBinaryArray,
    pub(super) segment: &'a StringArray,
    pub(super) layer: &'a StringArray,
    /// All keys one after the other, and where each begins.
    keys: (Bytes, &'a BinaryArray),
    pub(super) entity: &'a StringArray,
    pub(super) is_static: &'a BooleanArray,
    pub(super) byte_len: &'a PrimitiveArray<UInt64Type>,
    pub(super) uncompressed: Option<&'a PrimitiveArray<UInt64Type>>,
    pub(super) start: Option<PrimitiveArray<Int64Type>>,
}

impl<'a> Columns<'a> {
    /// The columns of `batch`; `start` names that of first values on the index, where one is of interest.
    /// `invalid_response` when one is missing, has another type, or has a null.
    pub(super) fn new(batch: &'a RecordBatch, start: Option<&str>) -> Result<Self> {
        let uncompressed = match batch.column_by_name(UNCOMPRESSED) {
            Some(array) => Some(as_type(array, UNCOMPRESSED, |a| a.as_primitive_opt())?),
            None => None,
        };
        let start = match start.and_then(|name| Some((name, batch.column_by_name(name)?))) {
            Some((name, array)) => Some(times(name, array)?),
            None => None,
        };
        Ok(Self {
            id: typed(batch, CHUNK_ID, |array| array.as_fixed_size_binary_opt())?,
            segment: typed(batch, SEGMENT, |array| array.as_string_opt())?,
            layer: typed(batch, LAYER, |array| array.as_string_opt())?,
            keys: keys(batch)?,
            entity: typed(batch, ENTITY, |array| array.as_string_opt())?,
            is_static: typed(batch, IS_STATIC, |array| array.as_boolean_opt())?,
            byte_len: typed(batch, BYTE_LEN, |array| array.as_primitive_opt())?,
            uncompressed,
            start,
        })
    }
}

impl Columns<'_> {
    /// The key of the chunk in row `row`, which is less than the number of rows.
    pub(super) fn key(&self, row: usize) -> Bytes {
        let (all, column) = &self.keys;
        // Offsets ascend from zero on: a valid array has no others.
        let offset = |at: usize| usize::try_from(column.value_offsets()[at]).unwrap_or(0);
        all.slice(offset(row)..offset(row + 1))
    }

    /// The id of the chunk in row `row`, which is less than the number of rows.
    pub(super) fn id(&self, row: usize) -> Result<[u8; 16]> {
        let id = <[u8; 16]>::try_from(self.id.value(row));
        id.map_err(|_| mistyped(CHUNK_ID, self.id.data_type()))
    }
}

/// The keys, copied once for all rows: the rest of what was received is not kept for them.
fn keys(batch: &RecordBatch) -> Result<(Bytes, &BinaryArray)> {
    let column: &BinaryArray = typed(batch, KEY, |array| array.as_binary_opt())?;
    Ok((Bytes::copy_from_slice(column.value_data()), column))
}

/// The column `name`, without a null.
fn typed<'a, T: Array>(
    batch: &'a RecordBatch,
    name: &str,
    cast: impl FnOnce(&'a dyn Array) -> Option<&'a T>,
) -> Result<&'a T> {
    let array = batch.column_by_name(name);
    let array = array.ok_or_else(|| wrong(format!("a plan without the column '{name}'")))?;
    if array.null_count() != 0 {
        return Err(wrong(format!("a plan with a null in '{name}'")));
    }
    as_type(array, name, cast)
}

fn as_type<'a, T: Array>(
    array: &'a ArrayRef,
    name: &str,
    cast: impl FnOnce(&'a dyn Array) -> Option<&'a T>,
) -> Result<&'a T> {
    cast(array.as_ref()).ok_or_else(|| mistyped(name, array.data_type()))
}

/// The values of a time column, as plain numbers.
fn times(name: &str, array: &ArrayRef) -> Result<PrimitiveArray<Int64Type>> {
    Ok(match array.data_type() {
        DataType::Int64 => array.as_primitive::<Int64Type>().clone(),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => array
            .as_primitive::<TimestampNanosecondType>()
            .reinterpret_cast(),
        DataType::Duration(TimeUnit::Nanosecond) => array
            .as_primitive::<DurationNanosecondType>()
            .reinterpret_cast(),
        DataType::Time64(TimeUnit::Nanosecond) => array
            .as_primitive::<Time64NanosecondType>()
            .reinterpret_cast(),
        other => return Err(mistyped(name, other)),
    })
}

fn mistyped(name: &str, data_type: &DataType) -> Error {
    wrong(format!("a plan with type {data_type} in '{name}'"))
}

fn wrong(what: String) -> Error {
    let message = format!("the server's answer does not follow the protocol: {what}");
    Error::new(ErrorCode::InvalidResponse, "client.plan", message)
}
