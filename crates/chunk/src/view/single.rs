//! Columns of single values.

use arrow::datatypes::{DataType, Field};

use super::Unnest;
use crate::schema::ComponentColumn;

/// Components of which Rerun's archetypes declare one value per row, ascending.
const SINGLE: [&str; 2] = ["TextLog:level", "TextLog:text"];

/// Whether the column of `component` is plain values.
pub(super) fn is_plain(component: &ComponentColumn, unnest: &Unnest) -> bool {
    match unnest {
        Unnest::Off => false,
        Unnest::Auto => SINGLE.binary_search(&&*component.component).is_ok(),
        Unnest::Selected(contents) => contents.selects(component),
    }
}

/// The field of the values in the lists of `field`. They can be null: a list may be absent or empty.
pub(super) fn plain(field: Field) -> Field {
    match field.data_type() {
        DataType::List(item) => {
            let data_type = item.data_type().clone();
            field.with_data_type(data_type)
        }
        _ => field,
    }
}
