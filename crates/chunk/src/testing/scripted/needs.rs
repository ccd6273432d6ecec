//! Which chunks an answer needs, found by looking at every row.

use arrow::array::Array;

use crate::model::{Chunk, ChunkId, Fill, RowId};
use crate::schema::keys::CLEAR_COMPONENT;
use crate::source::{PlanRequest, TimeSelection};

/// Whether an answer to `request` needs `chunk`, one of `all`. Exact but for Clears: of those, every one that has come
/// before is needed to fill.
pub(in super::super) fn is_needed<'a>(
    chunk: &Chunk,
    request: &PlanRequest,
    all: impl Iterator<Item = &'a Chunk> + Clone,
) -> bool {
    let mut selections = request.entities.iter();
    let mut selected = selections
        .by_ref()
        .filter(|selection| selection.entity == *chunk.entity())
        .flat_map(|selection| &selection.components)
        .filter(|name| chunk.component(name).is_some())
        .peekable();
    if !request.wants(chunk.segment()) || selected.peek().is_none() {
        return false;
    }
    if chunk.is_static() {
        return true;
    }
    let (samples, fill) = match &request.time {
        TimeSelection::Static => return false,
        TimeSelection::Index { range, .. } if range.is_empty() => return false,
        TimeSelection::Index { range, fill, .. } => (std::slice::from_ref(&range.start), *fill),
        TimeSelection::Samples { values, fill, .. } => {
            let values = values.get(chunk.segment());
            (values.map_or(&[][..], Vec::as_slice), *fill)
        }
    };
    let is_in_time = |time: i64| match &request.time {
        TimeSelection::Index { range, .. } => range.contains(time),
        _ => samples.contains(&time),
    };
    let index = request.time.index().map_or("", |index| index);
    let times = chunk.timeline(index).map(|column| &column.times);
    if times.is_some_and(|times| times.iter().any(|&time| is_in_time(time))) {
        return true;
    }
    let is_latest = |name: &str| {
        samples.iter().any(|&at| {
            let own = last(chunk, index, name, at);
            let of_all = all.clone().filter(|other| {
                other.segment() == chunk.segment() && other.entity() == chunk.entity()
            });
            let latest = of_all
                .filter_map(|other| last(other, index, name, at))
                .max();
            own.is_some() && (name == CLEAR_COMPONENT || own == latest)
        })
    };
    fill == Fill::LatestAt && selected.any(|name| is_latest(name))
}

/// The last value of `component` in `chunk` at the index value `at` or before.
fn last(chunk: &Chunk, index: &str, component: &str, at: i64) -> Option<(i64, RowId, ChunkId)> {
    let times = &chunk.timeline(index)?.times;
    let values = chunk.component(component)?;
    let rows = (0..chunk.num_rows()).filter(|&row| times[row] <= at && values.is_valid(row));
    let rows = rows.map(|row| (times[row], chunk.row_id(row), chunk.id()));
    rows.max()
}
