//! Requests of the protocol as queries.
//!
//! What cannot be meant is refused: `InvalidArgument` for what contradicts the protocol, `Unimplemented` for
//! what this server does not do.

mod find_chunks;
mod query_dataset;
#[cfg(test)]
mod tests;

use segue_chunk::SegmentId;
use segue_proto::common;
use tonic::Status;

pub(crate) use find_chunks::find_chunks;
pub(crate) use query_dataset::query_dataset;

fn invalid(reason: impl Into<String>) -> Status {
    Status::invalid_argument(reason)
}

/// The segment that a message names.
fn segment(id: common::SegmentId) -> Result<SegmentId, Status> {
    let id = id.id.ok_or_else(|| invalid("a segment without an id"))?;
    Ok(SegmentId::from(id))
}
