//! The columns of a manifest that depend on what was recorded: times and components.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray, RecordBatch};
use arrow::datatypes::{
    DataType, DurationNanosecondType, Field, Int64Type, TimeUnit, TimestampNanosecondType,
    UInt64Type,
};

use super::index::TimeSpan;
use crate::model::{ComponentName, TimeRange, Timeline};
use crate::schema::keys;

/// Name of the timeline that a column is about, or [`STATIC`].
const INDEX: &str = "rerun:index";
/// Stands in place of a timeline for static data.
const STATIC: &str = "rerun:static";

/// First and last times, per timeline.
pub(super) struct TimeColumns(Vec<(Arc<str>, Option<Bounds>)>);

struct Bounds {
    start: PrimitiveArray<Int64Type>,
    end: PrimitiveArray<Int64Type>,
}

impl TimeColumns {
    /// The bounds of `timelines`; the reason when they cannot be right.
    pub(super) fn new(batch: &RecordBatch, timelines: &[Timeline]) -> Result<Self, String> {
        let mut columns = BTreeMap::new();
        for (field, array) in fields(batch) {
            let (Some(index), None) = (text(field, INDEX), text(field, keys::COMPONENT)) else {
                continue;
            };
            let bound = field.name().rsplit(':').next().unwrap_or_default();
            if index != STATIC && (bound == "start" || bound == "end") {
                columns.insert((index, bound), times(field.name(), array)?);
            }
        }
        let mut bounds = Vec::new();
        for timeline in timelines {
            let name = &*timeline.name;
            let start = columns.remove(&(name, "start"));
            let end = columns.remove(&(name, "end"));
            let both = start.zip(end).map(|(start, end)| Bounds { start, end });
            bounds.push((Arc::clone(&timeline.name), both));
        }
        if let Some(((name, _), _)) = columns.first_key_value() {
            return Err(format!(
                "times of '{name}', which is no timeline of the store"
            ));
        }
        // An index lists timelines by name.
        bounds.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Self(bounds))
    }

    /// The timelines of the temporal chunk in row `row`.
    pub(super) fn of(&self, row: usize) -> Result<Vec<TimeSpan>, String> {
        let mut spans = Vec::new();
        for (timeline, bounds) in &self.0 {
            let range = match bounds {
                None => None,
                Some(Bounds { start, end }) => match (start.is_null(row), end.is_null(row)) {
                    (true, true) => continue,
                    (false, false) if start.value(row) <= end.value(row) => {
                        Some(TimeRange::new(start.value(row), end.value(row)))
                    }
                    _ => return Err(format!("a chunk without a range on '{timeline}'")),
                },
            };
            spans.push(TimeSpan {
                timeline: Arc::clone(timeline),
                range,
            });
        }
        Ok(spans)
    }
}

/// Which components a chunk has values of.
pub(super) struct ComponentColumns<'a> {
    rows: Vec<(ComponentName, &'a PrimitiveArray<UInt64Type>)>,
    statics: Vec<(ComponentName, &'a BooleanArray)>,
    /// Most chunks of an entity have the same components: each set is kept once.
    sets: HashSet<Arc<[ComponentName]>>,
}

impl<'a> ComponentColumns<'a> {
    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self, String> {
        let (mut rows, mut statics) = (Vec::new(), Vec::new());
        for (field, array) in fields(batch) {
            let Some(component) = text(field, keys::COMPONENT) else {
                continue;
            };
            let mistyped = || format!("the manifest's column '{}' has another type", field.name());
            if field.name().ends_with(":num_rows") {
                let array = array.as_primitive_opt().ok_or_else(mistyped)?;
                rows.push((component.into(), array));
            } else if field.name().ends_with(":has_static_data") {
                let array = array.as_boolean_opt().ok_or_else(mistyped)?;
                statics.push((component.into(), array));
            }
        }
        Ok(Self {
            rows,
            statics,
            sets: HashSet::new(),
        })
    }

    /// The components of the chunk in row `row`; `None` when the manifest does not say.
    pub(super) fn of(&mut self, row: usize, is_static: bool) -> Option<Arc<[ComponentName]>> {
        let names: BTreeSet<&ComponentName> = if is_static {
            let has = self
                .statics
                .iter()
                .filter(|(_, c)| c.is_valid(row) && c.value(row));
            has.map(|(name, _)| name).collect()
        } else {
            let has = self
                .rows
                .iter()
                .filter(|(_, c)| c.is_valid(row) && c.value(row) > 0);
            has.map(|(name, _)| name).collect()
        };
        let said = if is_static {
            !self.statics.is_empty()
        } else {
            !self.rows.is_empty()
        };
        if !said {
            return None;
        }
        let names: Vec<ComponentName> = names.into_iter().cloned().collect();
        if let Some(known) = self.sets.get(names.as_slice()) {
            return Some(Arc::clone(known));
        }
        let set: Arc<[ComponentName]> = names.into();
        self.sets.insert(Arc::clone(&set));
        Some(set)
    }
}

fn fields(batch: &RecordBatch) -> impl Iterator<Item = (&Field, &ArrayRef)> {
    let fields = batch.schema_ref().fields().iter().map(AsRef::as_ref);
    fields.zip(batch.columns())
}

fn text<'a>(field: &'a Field, key: &str) -> Option<&'a str> {
    field.metadata().get(key).map(String::as_str)
}

/// The values of a time column, as plain numbers.
fn times(name: &str, array: &dyn Array) -> Result<PrimitiveArray<Int64Type>, String> {
    match array.data_type() {
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().clone()),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Ok(array
            .as_primitive::<TimestampNanosecondType>()
            .reinterpret_cast()),
        DataType::Duration(TimeUnit::Nanosecond) => Ok(array
            .as_primitive::<DurationNanosecondType>()
            .reinterpret_cast()),
        other => Err(format!("the manifest's column '{name}' has type {other}")),
    }
}
