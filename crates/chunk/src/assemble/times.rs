//! Columns of index values.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow::compute::cast;
use segue_error::Result;

use super::SegmentChunks;
use super::gather::internal;
use super::runs::{Run, Runs, What};
use crate::model::Timeline;

/// A column of `timeline` with the given values.
pub(super) fn column(
    timeline: &Timeline,
    times: Vec<i64>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let times = Int64Array::try_new(ScalarBuffer::from(times), nulls).map_err(internal)?;
    let times: ArrayRef = Arc::new(times);
    // All kinds of time are 64 bit numbers: the cast changes the type, not the bits.
    cast(&times, &timeline.kind.data_type()).map_err(internal)
}

/// The largest value of `timeline` among the cells of each of `rows` rows.
pub(super) fn largest(
    chunks: &SegmentChunks<'_>,
    timeline: &Timeline,
    columns: &[Runs],
    rows: usize,
) -> Result<ArrayRef> {
    let mut largest = Largest {
        times: vec![i64::MIN; rows],
        is_known: vec![false; rows],
    };
    for (at, runs) in columns.iter().enumerate() {
        // Components of one chunk mostly stand in the same cells.
        if at > 0 && columns[at - 1] == *runs {
            continue;
        }
        let mut start = 0;
        for run in runs.iter() {
            let end = start + run.len;
            largest.consider(chunks, timeline, run, start..end);
            start = end;
        }
    }
    let nulls = NullBuffer::new(BooleanBuffer::from(largest.is_known));
    let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
    column(timeline, largest.times, nulls)
}

struct Largest {
    times: Vec<i64>,
    is_known: Vec<bool>,
}

impl Largest {
    /// Takes the cells of `run`, which are those of `rows`, into account.
    fn consider(
        &mut self,
        chunks: &SegmentChunks<'_>,
        timeline: &Timeline,
        run: Run,
        rows: std::ops::Range<usize>,
    ) {
        let (What::From(cell) | What::Again(cell)) = run.what else {
            return;
        };
        let Some(column) = chunks.chunks[cell.chunk].timeline(&timeline.name) else {
            return;
        };
        self.is_known[rows.clone()].fill(true);
        let known = &mut self.times[rows];
        match run.what {
            What::From(_) => {
                let times = &column.times[cell.row..cell.row + run.len];
                for (known, time) in known.iter_mut().zip(times) {
                    *known = (*known).max(*time);
                }
            }
            _ => {
                let time = column.times[cell.row];
                for known in known {
                    *known = (*known).max(time);
                }
            }
        }
    }
}
