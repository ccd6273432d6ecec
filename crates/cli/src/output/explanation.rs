//! What EXPLAIN answers.

use std::io::{self, Write};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Schema};

use crate::terminal;

/// Whether results of `schema` are those of EXPLAIN: the kind of each plan, and its text of many lines.
pub(super) fn is_one(schema: &Schema) -> bool {
    let columns = schema.fields().iter();
    columns
        .map(|field| (field.name().as_str(), field.data_type()))
        .eq([("plan_type", &DataType::Utf8), ("plan", &DataType::Utf8)])
}

/// Plans one after the other, each whole below its kind: what a plan says may be at the end of its lines.
#[derive(Debug)]
pub(crate) struct Explanation<W: Write> {
    out: W,
    is_started: bool,
}

impl<W: Write> Explanation<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            is_started: false,
        }
    }

    /// Writes the plans of a batch of which [`is_one`] holds.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let [kinds, plans] = batch.columns() else {
            return Ok(());
        };
        let (kinds, plans) = (kinds.as_string::<i32>(), plans.as_string::<i32>());
        for (kind, plan) in kinds.iter().zip(plans) {
            if std::mem::replace(&mut self.is_started, true) {
                writeln!(self.out)?;
            }
            writeln!(self.out, "{}:", terminal::line(kind.unwrap_or_default()))?;
            for line in plan.unwrap_or_default().trim_end().lines() {
                writeln!(self.out, "{}", terminal::line(line))?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> W {
        self.out
    }
}
