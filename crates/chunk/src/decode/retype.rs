//! Values of a type to one with more nullable fields.

use arrow::array::{Array, ArrayData, ListArray};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use super::Step;
use crate::ipc::IpcError;
use crate::schema::widen;

/// `list` as an array of type `declared`, sharing its memory.
pub(super) fn list(list: &ListArray, declared: &DataType) -> Step<ListArray> {
    let own = list.data_type();
    if widen(declared, own).as_ref() != Some(declared) {
        return Err(IpcError::malformed(format_args!(
            "type {own} where the dataset schema has {declared}"
        )));
    }
    retype(list.to_data(), declared)
        .map(ListArray::from)
        .map_err(IpcError::malformed)
}

fn retype(data: ArrayData, wanted: &DataType) -> Result<ArrayData, ArrowError> {
    if data.data_type() == wanted {
        return Ok(data);
    }
    let children = match wanted {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            vec![field.data_type()]
        }
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        _ => Vec::new(),
    };
    let children = data.child_data().iter().cloned().zip(children);
    let children = children
        .map(|(child, wanted)| retype(child, wanted))
        .collect::<Result<_, _>>()?;
    data.into_builder()
        .data_type(wanted.clone())
        .child_data(children)
        .build()
}
