//! Results, one after the other.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::destination::Destination;
use super::encoder::{Encoder, encoder};
use super::sink::{ENOUGH, Sink};
use crate::args::{Format, OutputArgs};
use crate::exit::Failure;
use crate::supervise::Desk;

/// Takes results and writes them where the command line says.
///
/// A result without columns, such as that of `CREATE VIEW`, is nothing to write. Tables and CSV have an empty line
/// between two results.
pub(crate) struct Results {
    format: Format,
    destination: Destination,
    desk: Desk,
    sink: Sink,
    /// Bytes that are not handed over yet.
    pending: Vec<u8>,
    /// The result that is being written, if it has columns.
    current: Option<Box<dyn Encoder>>,
    /// Results with columns so far.
    count: usize,
}

impl Results {
    /// Opens the destination. A wrong one is an error before there is any work.
    pub(crate) async fn open(args: &OutputArgs, desk: Desk) -> Result<Self, Failure> {
        let format = args.chosen()?;
        let destination = Destination::of(args, format)?;
        let sink = Sink::new(destination.open(&desk).await?);
        Ok(Self {
            format,
            destination,
            desk,
            sink,
            pending: Vec::new(),
            current: None,
            count: 0,
        })
    }

    /// Begins a result with the columns `schema`.
    pub(crate) fn begin(&mut self, schema: &SchemaRef) -> Result<(), Failure> {
        self.current = None;
        if schema.fields().is_empty() {
            return Ok(());
        }
        if self.count > 0 {
            match self.format {
                Format::Parquet | Format::Arrow => return Err(self.second_result()),
                Format::Table | Format::Csv => self.pending.push(b'\n'),
                Format::Json => {}
            }
        }
        self.current = Some(encoder(self.format, schema, self.destination.width())?);
        self.count += 1;
        Ok(())
    }

    /// Writes rows of the result that was begun.
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let Some(encoder) = &mut self.current else {
            return Ok(());
        };
        let step = encoder.rows_at_a_time();
        let mut start = 0;
        while start < batch.num_rows() {
            let length = step.min(batch.num_rows() - start);
            encoder.write(&batch.slice(start, length), &mut self.pending)?;
            start += length;
            if self.pending.len() >= ENOUGH {
                send(&mut self.sink, &mut self.pending, &self.destination).await?;
            }
        }
        // Rows are seen as they come, not when there are enough of them.
        send(&mut self.sink, &mut self.pending, &self.destination).await
    }

    /// Ends the result that was begun, and waits until it is written: what is said after it comes after it.
    pub(crate) async fn end(&mut self) -> Result<(), Failure> {
        if let Some(encoder) = self.current.take() {
            encoder.finish(&mut self.pending)?;
        }
        send(&mut self.sink, &mut self.pending, &self.destination).await?;
        let flushed = self.sink.flush().await;
        flushed.map_err(|error| self.destination.failure(&error))
    }

    /// Writes `rows` as the only result.
    pub(crate) async fn write_all(mut self, rows: &RecordBatch) -> Result<(), Failure> {
        self.begin(rows.schema_ref())?;
        self.write(rows).await?;
        self.end().await?;
        self.finish().await
    }

    /// Waits until all is written, also what came before a failure. After a success, a file has its name then.
    pub(crate) async fn close(mut self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        let Err(failure) = outcome else {
            return self.finish().await;
        };
        // The first failure is the one to tell.
        let _ = self.sink.send(&mut self.pending).await;
        let _ = self.sink.close().await;
        Err(failure)
    }

    async fn finish(self) -> Result<(), Failure> {
        if self.count == 0 && self.format.is_binary() {
            return Err(Failure::Message(format!(
                "there is no result to write as {}",
                self.format.name()
            )));
        }
        let destination = self.destination;
        let written = self.sink.close().await;
        written
            .and_then(|()| self.desk.scratch.keep())
            .map_err(|error| destination.failure(&error))
    }

    fn second_result(&self) -> Failure {
        Failure::Message(format!(
            "this is a second result, and {} holds one; write each with a command of its own",
            self.format.name()
        ))
    }
}

async fn send(
    sink: &mut Sink,
    pending: &mut Vec<u8>,
    destination: &Destination,
) -> Result<(), Failure> {
    let sent = sink.send(pending).await;
    sent.map_err(|error| destination.failure(&error))
}
