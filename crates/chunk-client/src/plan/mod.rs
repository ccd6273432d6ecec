//! From what a reader wants to the chunks that a server has.

mod columns;
mod find_chunks;
mod planned;
mod query_dataset;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use segue_chunk::{ChunkInfo, PlanRequest, TimeSelection};
use segue_error::Result;
use segue_proto::cloud::DatasetResponseMeta;
use segue_proto::common::DataframePart;

use crate::catalog::Entry;
use crate::connection::Connection;
use crate::error::Failure;
use planned::Planned;

/// Which form of the protocol a server plans in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `QueryDataset`, as of version 0.36.
    QueryDataset,
    /// `FindChunks`, as of version 0.41.
    FindChunks,
}

/// What is done, for errors.
const DOING: &str = "plan a read";

/// The chunks that `request` needs, each once.
pub(crate) async fn plan(
    connection: &Connection,
    form: Form,
    entry: Arc<Entry>,
    request: &PlanRequest,
) -> Result<Vec<ChunkInfo>, Failure> {
    let no_segment = request.segments.as_ref().is_some_and(|s| s.is_empty());
    if no_segment || request.entities.is_empty() {
        return Ok(Vec::new());
    }
    // Of no time, only what holds at all times; there is no way to ask for an empty range.
    let fixed = PlanRequest {
        time: TimeSelection::Static,
        ..request.clone()
    };
    let request = if never(&request.time) {
        &fixed
    } else {
        request
    };
    let call = entry.scope(connection.call(DOING));
    match form {
        Form::QueryDataset => {
            let message = query_dataset::request(request);
            let start = query_dataset::start_column(&request.time);
            let mut answers = call
                .stream(message, async |mut client, request| {
                    client.query_dataset(request).await
                })
                .await?;
            let mut planned = Planned::new(request, start);
            while let Some(answer) = answers.next().await? {
                let taken = take(&entry, answer.meta, answer.data, &mut planned);
                taken.map_err(|error| answers.rejected(error))?;
            }
            Ok(planned.finish())
        }
        Form::FindChunks => {
            let message = find_chunks::request(request);
            let start = find_chunks::start_column(&request.time);
            let mut answers = call
                .stream(message, async |mut client, request| {
                    client.find_chunks(request).await
                })
                .await?;
            let mut planned = Planned::new(request, start);
            while let Some(answer) = answers.next().await? {
                let taken = take(&entry, answer.meta, answer.data, &mut planned);
                taken.map_err(|error| answers.rejected(error))?;
            }
            Ok(planned.finish())
        }
    }
}

fn take(
    entry: &Entry,
    meta: Option<DatasetResponseMeta>,
    data: Option<DataframePart>,
    planned: &mut Planned<'_>,
) -> Result<()> {
    entry.saw(meta);
    match data {
        Some(part) => planned.add(&part),
        None => Ok(()),
    }
}

/// Whether no time is selected.
fn never(time: &TimeSelection) -> bool {
    matches!(time, TimeSelection::Index { range, .. } if range.is_empty())
}
