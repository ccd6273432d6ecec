//! Columns of a manifest that depend on what was recorded.

use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, BooleanArray, Int64Array, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::Field;

use super::Written;
use crate::model::{Chunk, TimeColumn, Timeline};

/// First and last time on `timeline`; of the rows with `component`, if one is given.
pub(super) fn bounds(
    timeline: &Timeline,
    component: Option<&str>,
    written: &[Written],
) -> Vec<(Field, ArrayRef)> {
    let ranges: Vec<Option<(i64, i64)>> = written
        .iter()
        .map(|w| {
            let times = times(&w.chunk, timeline, component);
            Some((*times.iter().min()?, *times.iter().max()?))
        })
        .collect();
    let column = |bound: &str, value: fn((i64, i64)) -> i64| {
        let values: Int64Array = ranges.iter().map(|range| range.map(value)).collect();
        let array = cast(&values, &timeline.kind.data_type()).expect("times are cast from numbers");
        let name = match component {
            None => format!("{}:{bound}", timeline.name),
            Some(component) => format!("{}:{component}:{bound}", timeline.name),
        };
        (field(name, &array, &timeline.name, component, true), array)
    };
    vec![
        column("start", |(start, _)| start),
        column("end", |(_, end)| end),
    ]
}

/// What a manifest says of `component`: on a timeline, or statically.
pub(super) fn component_columns(
    timeline: Option<&Timeline>,
    component: &str,
    written: &[Written],
) -> Vec<(Field, ArrayRef)> {
    let Some(timeline) = timeline else {
        let has = written.iter().map(|w| {
            let values = w.chunk.component(component).filter(|_| w.chunk.is_static());
            Some(values.is_some_and(|values| values.null_count() < values.len()))
        });
        let array: ArrayRef = Arc::new(has.collect::<BooleanArray>());
        let name = format!("{component}:has_static_data");
        return vec![(
            field(name, &array, "rerun:static", Some(component), false),
            array,
        )];
    };
    let rows = written
        .iter()
        .map(|w| times(&w.chunk, timeline, Some(component)).len() as u64);
    let rows: ArrayRef = Arc::new(UInt64Array::from_iter_values(rows));
    let name = format!("{}:{component}:num_rows", timeline.name);
    let mut columns = bounds(timeline, Some(component), written);
    columns.push((
        field(name, &rows, &timeline.name, Some(component), true),
        rows,
    ));
    columns
}

/// The times of the rows with a value.
fn times(chunk: &Chunk, timeline: &Timeline, component: Option<&str>) -> Vec<i64> {
    let Some(TimeColumn { times, .. }) = chunk.timeline(&timeline.name) else {
        return Vec::new();
    };
    let Some(component) = component else {
        return times.to_vec();
    };
    let Some(values) = chunk.component(component) else {
        return Vec::new();
    };
    let rows = times.iter().enumerate();
    let valued = rows.filter(|(row, _)| values.is_valid(*row));
    valued.map(|(_, time)| *time).collect()
}

fn field(
    name: String,
    array: &ArrayRef,
    index: &str,
    component: Option<&str>,
    nullable: bool,
) -> Field {
    let mut metadata = vec![("rerun:index".to_owned(), index.to_owned())];
    metadata.extend(component.map(|name| ("rerun:component".to_owned(), name.to_owned())));
    Field::new(name, array.data_type().clone(), nullable)
        .with_metadata(metadata.into_iter().collect())
}
