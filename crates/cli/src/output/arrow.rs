//! Arrow's IPC format, as a stream.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;

use super::encoder::Encoder;
use crate::exit::Failure;

/// A stream of batches, as large as they come.
pub(super) struct ArrowEncoder(StreamWriter<Vec<u8>>);

impl ArrowEncoder {
    pub(super) fn try_new(schema: &Schema) -> Result<Self, Failure> {
        let writer = StreamWriter::try_new(Vec::new(), schema);
        writer.map(Self).map_err(failure)
    }
}

impl Encoder for ArrowEncoder {
    fn rows_at_a_time(&self) -> usize {
        usize::MAX
    }

    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.0.write(batch).map_err(failure)?;
        out.append(self.0.get_mut());
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.append(&mut self.0.into_inner().map_err(failure)?);
        Ok(())
    }
}

fn failure(error: ArrowError) -> Failure {
    Failure::Message(format!("the result cannot be written as arrow: {error}"))
}
