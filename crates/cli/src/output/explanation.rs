//! What EXPLAIN answers.

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Schema};

use super::encoder::Encoder;
use crate::exit::Failure;
use crate::terminal;

/// Whether results of `schema` are those of EXPLAIN: the kind of each plan, and its text of many lines.
pub(super) fn is_one(schema: &Schema) -> bool {
    let columns = schema.fields().iter();
    columns
        .map(|field| (field.name().as_str(), field.data_type()))
        .eq([("plan_type", &DataType::Utf8), ("plan", &DataType::Utf8)])
}

/// Plans one after the other, each whole below its kind: what a plan says may be at the end of its lines.
#[derive(Debug, Default)]
pub(super) struct Explanation {
    is_started: bool,
}

impl Encoder for Explanation {
    fn rows_at_a_time(&self) -> usize {
        1
    }

    /// Writes the plans of a batch of which [`is_one`] holds.
    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), Failure> {
        let [kinds, plans] = batch.columns() else {
            return Ok(());
        };
        let (kinds, plans) = (kinds.as_string::<i32>(), plans.as_string::<i32>());
        for (kind, plan) in kinds.iter().zip(plans) {
            if std::mem::replace(&mut self.is_started, true) {
                out.push(b'\n');
            }
            let kind = terminal::line(kind.unwrap_or_default());
            out.extend_from_slice(format!("{kind}:\n").as_bytes());
            for line in plan.unwrap_or_default().trim_end().lines() {
                out.extend_from_slice(terminal::line(line).as_bytes());
                out.push(b'\n');
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Vec<u8>) -> Result<(), Failure> {
        Ok(())
    }
}
