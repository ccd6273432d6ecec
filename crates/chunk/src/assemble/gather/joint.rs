//! Whether arrays can be put together without a panic in Arrow.
//!
//! Most types are gathered with errors for what does not fit. Dictionaries of other values than numbers,
//! texts and bytes are joined whole instead, as is all that a union or such a dictionary holds; there, Arrow
//! takes for granted that the keys and offsets of the result are large enough. Of lists of the fixed size 0 it
//! forgets how many there are.

use arrow::array::{Array, ArrayData};
use arrow::datatypes::DataType;

/// Most values of one array that is joined whole: offsets are 32 bit.
const MOST: usize = i32::MAX as usize;

/// Checks that `arrays`, which are of one type, can be put together; the reason when they cannot.
pub(in crate::assemble) fn check(arrays: &[&dyn Array]) -> Result<(), String> {
    let Some(first) = arrays.first() else {
        return Ok(());
    };
    if !is_delicate(first.data_type()) {
        return Ok(());
    }
    let data: Vec<ArrayData> = arrays.iter().map(|array| array.to_data()).collect();
    check_data(&data.iter().collect::<Vec<_>>(), false)
}

/// Whether arrays of the type have to be looked at.
fn is_delicate(data_type: &DataType) -> bool {
    match data_type {
        DataType::FixedSizeList(_, 0) => true,
        DataType::Dictionary(_, values) => !is_interned(values),
        DataType::Union(..) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)
        | DataType::RunEndEncoded(_, item) => is_delicate(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|f| is_delicate(f.data_type())),
        _ => false,
    }
}

/// Whether arrays of the type are joined by copying what is in them, without a look at the values.
pub(in crate::assemble) fn is_copied(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(..) | DataType::Union(..) | DataType::RunEndEncoded(..) => false,
        DataType::ListView(_) | DataType::LargeListView(_) | DataType::FixedSizeList(_, 0) => false,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => is_copied(item.data_type()),
        DataType::Struct(fields) => fields.iter().all(|f| is_copied(f.data_type())),
        _ => true,
    }
}

/// Whether Arrow looks for equal values when it joins dictionaries of the type.
fn is_interned(values: &DataType) -> bool {
    use DataType::{Binary, LargeBinary, LargeUtf8, Utf8};
    values.is_primitive() || matches!(values, Utf8 | LargeUtf8 | Binary | LargeBinary)
}

fn check_data(arrays: &[&ArrayData], whole: bool) -> Result<(), String> {
    let Some(first) = arrays.first() else {
        return Ok(());
    };
    let sum = |count: &dyn Fn(&ArrayData) -> usize| {
        let counts = arrays.iter().map(|array| count(array));
        counts.fold(0, usize::saturating_add)
    };
    let mut whole = whole;
    match first.data_type() {
        DataType::Dictionary(key, values) if whole || !is_interned(values) => {
            let total = sum(&|array| array.child_data().iter().map(ArrayData::len).sum());
            let most = most_key(key);
            if total > most {
                return Err(format!("{total} values where keys reach to {most}"));
            }
            whole = true;
        }
        DataType::Union(..) => whole = true,
        DataType::FixedSizeList(_, 0) if !whole && sum(&|array| array.len()) > 0 => {
            return Err("lists of the size 0".to_owned());
        }
        DataType::RunEndEncoded(..) if whole => {
            return Err("runs within a union or dictionary".to_owned());
        }
        DataType::Utf8 | DataType::Binary if whole => {
            let bytes = sum(&|array| array.buffers().last().map_or(0, |values| values.len()));
            if bytes > MOST {
                return Err(format!("{bytes} bytes of text where {MOST} fit"));
            }
        }
        _ => {}
    }
    let len = sum(&|array| array.len());
    if whole && len > MOST {
        return Err(format!("{len} values where {MOST} fit"));
    }
    (0..first.child_data().len()).try_for_each(|child| {
        let children = arrays
            .iter()
            .filter_map(|array| array.child_data().get(child));
        check_data(&children.collect::<Vec<_>>(), whole)
    })
}

/// The largest key of the type.
fn most_key(key: &DataType) -> usize {
    match key {
        DataType::Int8 => i8::MAX as usize,
        DataType::UInt8 => u8::MAX as usize,
        DataType::Int16 => i16::MAX as usize,
        DataType::UInt16 => u16::MAX as usize,
        DataType::UInt32 => u32::MAX as usize,
        // No array is longer.
        _ => MOST,
    }
}
