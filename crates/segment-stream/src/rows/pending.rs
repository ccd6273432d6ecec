//! Rows that wait until there are enough for a batch.

use std::collections::VecDeque;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::SchemaRef;
use segue_error::{Error, ErrorCode, Result};

/// Rows that are assembled but not emitted.
pub(super) struct Pending {
    schema: SchemaRef,
    batches: VecDeque<RecordBatch>,
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

impl Pending {
    pub(super) fn new(schema: SchemaRef) -> Self {
        Self {
            schema,
            batches: VecDeque::new(),
            rows: 0,
            bytes: 0,
        }
    }

    pub(super) fn push(&mut self, batch: RecordBatch) {
        if batch.num_rows() > 0 {
            self.rows += batch.num_rows();
            self.bytes += batch.get_array_memory_size();
            self.batches.push_back(batch);
        }
    }

    /// The first rows as one batch of at most `bytes`, unless the first piece alone has more; `None` if
    /// there are none.
    pub(super) fn take(&mut self, bytes: usize) -> Result<Option<RecordBatch>> {
        let mut taken = Vec::new();
        let mut size = 0usize;
        while let Some(batch) = self.batches.front() {
            let own = batch.get_array_memory_size();
            if !taken.is_empty() && size.saturating_add(own) > bytes {
                break;
            }
            size = size.saturating_add(own);
            self.rows -= batch.num_rows();
            self.bytes -= own;
            taken.extend(self.batches.pop_front());
        }
        if taken.len() <= 1 {
            return Ok(taken.pop());
        }
        let batch = concat_batches(&self.schema, &taken).map_err(|error| {
            Error::new(
                ErrorCode::Internal,
                "segment_stream.emit",
                format!("arrow could not join batches: {error}"),
            )
            .with_source(error)
        })?;
        Ok(Some(batch))
    }
}
