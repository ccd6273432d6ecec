//! Values instead of lists of one.

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::compute::take;
use segue_error::{Error, ErrorCode, Result};

use super::{SegmentChunks, internal};
use crate::schema::ComponentColumn;

/// The values in `lists`, the lists of `component`: null where there is no list or no value in it. `unsupported` where
/// a list has more than one.
pub(in crate::assemble) fn values(
    chunks: &SegmentChunks<'_>,
    component: &ComponentColumn,
    lists: &ArrayRef,
) -> Result<ArrayRef> {
    let Some(lists) = lists.as_list_opt::<i32>() else {
        return Ok(ArrayRef::clone(lists));
    };
    let places = lists.value_offsets().windows(2).enumerate();
    let places = places.map(|(row, bounds)| match bounds[1] - bounds[0] {
        _ if lists.is_null(row) => Ok(None),
        0 => Ok(None),
        // Offsets are not negative.
        1 => Ok(Some(bounds[0].unsigned_abs().into())),
        several => Err(too_many(chunks, component, several)),
    });
    let places = places.collect::<Result<UInt64Array>>()?;
    take(lists.values(), &places, None).map_err(internal)
}

fn too_many(chunks: &SegmentChunks<'_>, component: &ComponentColumn, count: i32) -> Error {
    let (name, segment) = (component.column_name(), chunks.segment);
    let message = format!(
        "a row of segment '{segment}' has {count} values in column '{name}', which can be unnested only where \
         there is one"
    );
    Error::new(ErrorCode::Unsupported, "assemble.unnest", message)
        .with_fact("column", name)
        .with_fact("segment", segment.as_str())
}
