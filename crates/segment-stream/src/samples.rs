//! Index values that a reader gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::ScalarValue;
use segue_chunk::schema::keys::SEGMENT_ID_COLUMN;
use segue_chunk::{ChunkSource, SegmentId, TextSet, TimeRange, Timeline};
use segue_error::{Error, ErrorCode, Result};

use crate::filter::{Region, index_value};
use crate::plan::SegmentSamples;

/// Index values at which there is a row, whether something was logged there or not.
///
/// A value is what the index can be equal to: a number for a sequence, a timestamp or its text for a timestamp, a
/// duration or an interval for a duration; for each, also the plain number of nanoseconds. They may come in any order,
/// each once.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexValues {
    /// For all segments: a row at each that is not before the first value of the segment on the index, nor behind
    /// the last.
    Everywhere(Vec<ScalarValue>),
    /// For each segment its own: a row at each, and none in other segments.
    BySegment(BTreeMap<SegmentId, Vec<ScalarValue>>),
}

/// Index values as numbers, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Samples {
    Everywhere(Vec<i64>),
    BySegment(SegmentSamples),
}

impl Samples {
    /// The numbers of `values` on `index`. `invalid_argument` when one is no value of the index, or comes twice.
    pub(crate) fn new(values: &IndexValues, index: &Timeline) -> Result<Self> {
        Ok(match values {
            IndexValues::Everywhere(values) => Self::Everywhere(numbers(values, index)?),
            IndexValues::BySegment(segments) => {
                let segments = segments
                    .iter()
                    .map(|(id, values)| Ok((id.clone(), numbers(values, index)?)));
                Self::BySegment(segments.collect::<Result<_>>()?)
            }
        })
    }

    /// Those within `region`, by segment of `dataset`. Asks the source which segments there are.
    pub(crate) async fn within(
        &self,
        region: &Region,
        index: &Timeline,
        source: &dyn ChunkSource,
        dataset: &Arc<str>,
    ) -> Result<SegmentSamples> {
        let segments = match self {
            Self::Everywhere(_) => region.segments().clone(),
            Self::BySegment(values) => {
                let named: TextSet = values.keys().map(SegmentId::as_str).collect();
                region.segments().intersect(&named)
            }
        };
        let table = source.segment_table(dataset, &segments).await?;
        let mut found = SegmentSamples::new();
        for (segment, range) in known(&table, index, dataset)? {
            let values = match (self, range) {
                (Self::Everywhere(values), Some(range)) => within(values, range),
                (Self::Everywhere(_), None) => &[],
                (Self::BySegment(segments), _) => {
                    segments.get(&segment).map_or(&[][..], Vec::as_slice)
                }
            };
            let values = values.iter().copied();
            let values = values.filter(|&value| region.index().contains(value));
            let values: Vec<i64> = values.collect();
            if !values.is_empty() && region.segments().contains(segment.as_str()) {
                found.insert(segment, values);
            }
        }
        Ok(found)
    }
}

/// Those of `values`, which ascend, that lie in `range`.
fn within(values: &[i64], range: TimeRange) -> &[i64] {
    let start = values.partition_point(|&value| value < range.start);
    let end = values.partition_point(|&value| value <= range.end);
    values.get(start..end).unwrap_or_default()
}

fn numbers(values: &[ScalarValue], index: &Timeline) -> Result<Vec<i64>> {
    let invalid = |message: String| {
        let error = Error::new(
            ErrorCode::InvalidArgument,
            "segment_stream.index_values",
            message,
        );
        error.with_fact("index", &*index.name)
    };
    let numbers = values.iter().map(|value| {
        index_value(index.kind, value).ok_or_else(|| {
            let (name, data_type) = (&index.name, index.kind.data_type());
            let (value, given) = (shown(value), value.data_type());
            invalid(format!(
                "{value} of type {given} is no value of the index '{name}', which has the type {data_type}"
            ))
        })
    });
    let mut numbers = numbers.collect::<Result<Vec<_>>>()?;
    numbers.sort_unstable();
    match numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(invalid(format!(
            "the index value {} is given twice",
            pair[0]
        ))),
        None => Ok(numbers),
    }
}

/// The value as Arrow shows it.
fn shown(value: &ScalarValue) -> String {
    let options = FormatOptions::new().with_null("NULL");
    let shown = value.to_array().ok().and_then(|array| {
        let formatter = ArrayFormatter::try_new(&array, &options).ok()?;
        Some(formatter.value(0).to_string())
    });
    shown.unwrap_or_else(|| value.to_string())
}

/// The segments in `table`, each with its first and last value on `index`.
fn known(
    table: &RecordBatch,
    index: &Timeline,
    dataset: &str,
) -> Result<Vec<(SegmentId, Option<TimeRange>)>> {
    let wrong = |column: &str| {
        let message =
            format!("the segments of dataset '{dataset}' have no usable column '{column}'");
        Error::new(
            ErrorCode::InvalidResponse,
            "segment_stream.index_values",
            message,
        )
    };
    let ids = table.column_by_name(SEGMENT_ID_COLUMN);
    let ids = ids.and_then(|ids| ids.as_string_opt::<i32>());
    let ids = ids.ok_or_else(|| wrong(SEGMENT_ID_COLUMN))?;
    let bound = |marker: &str| {
        let name = format!("{}:{marker}", index.name);
        let Some(column) = table.column_by_name(&name) else {
            return Ok(None);
        };
        // All kinds of time are 64 bit numbers: the cast changes the type, not the bits.
        let column = cast(column, &index.kind.data_type())
            .and_then(|column| cast(&column, &DataType::Int64))
            .map_err(|error| wrong(&name).with_source(error))?;
        Ok(Some(column.as_primitive::<Int64Type>().clone()))
    };
    let (starts, ends) = (bound("start")?, bound("end")?);
    let segments = (0..ids.len()).map(|row| {
        let at = |times: &Option<Int64Array>| {
            let times = times.as_ref()?;
            times.is_valid(row).then(|| times.value(row))
        };
        let range = at(&starts).zip(at(&ends));
        let range = range.map(|(start, end)| TimeRange::new(start, end));
        (SegmentId::from(ids.value(row)), range)
    });
    Ok(segments.collect())
}
