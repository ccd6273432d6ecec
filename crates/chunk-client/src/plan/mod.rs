//! From what a reader wants to the chunks that a server has.

mod columns;
mod find_chunks;
mod planned;
mod query_dataset;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use segue_chunk::schema::keys::CLEAR_COMPONENT;
use segue_chunk::{
    ChunkId, ChunkInfo, EntitySelection, Fill, PlanRequest, SegmentId, TimeRange, TimeSelection,
};
use segue_error::Result;
use segue_proto::cloud::{DatasetResponseMeta, VersionRequest, VersionResponse};
use segue_proto::common::DataframePart;
use tonic::Code;

use crate::catalog::Entry;
use crate::connection::{Client, Connection};
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

/// What a server says that takes index values of each segment in `QueryDataset`.
const HAS_SAMPLES: &str = "per_segment_index_values";

/// What is done, for errors.
const DOING: &str = "plan a read";

/// Smallest value that the protocol has for a time: the one below stands for "static".
const MIN_TIME: i64 = i64::MIN + 1;

/// The chunks that `request` needs, each once.
///
/// Taken for granted of a server that is asked for the latest values at a time: that it names every chunk that may hold
/// the last value of a component at or before it, all of them where several do, and looks past nulls; but for Clears.
pub(crate) async fn plan(
    connection: &Connection,
    form: Form,
    entry: Arc<Entry>,
    request: &PlanRequest,
) -> Result<Vec<ChunkInfo>, Failure> {
    let mut infos = ask(connection, form, Arc::clone(&entry), request).await?;
    if let Some(clears) = clears(request) {
        let known: HashSet<(SegmentId, ChunkId)> = infos
            .iter()
            .map(|info| (info.segment.clone(), info.id))
            .collect();
        let more = ask(connection, form, entry, &clears).await?;
        let is_new = |info: &ChunkInfo| !known.contains(&(info.segment.clone(), info.id));
        infos.extend(more.into_iter().filter(is_new));
    }
    Ok(infos)
}

/// Asks for all Clears that have come before what `request` wants to fill.
///
/// A server that is asked for the latest values knows of each entity the latest Clear alone. An earlier one that
/// reaches the entities below may still be the latest there.
fn clears(request: &PlanRequest) -> Option<PlanRequest> {
    let (index, end, fill) = match &request.time {
        TimeSelection::Static => return None,
        TimeSelection::Index { range, .. } if range.start <= MIN_TIME => return None,
        TimeSelection::Index { index, range, fill } => (index, range.end, fill),
        TimeSelection::Samples { index, fill, .. } => {
            let last = samples(request).filter_map(|(_, values)| values.last().copied());
            (index, last.max()?, fill)
        }
    };
    let is_clear = |selection: &&EntitySelection| selection.components.contains(CLEAR_COMPONENT);
    let entities = request.entities.iter().filter(is_clear);
    let entities: Vec<EntitySelection> = entities
        .map(|selection| EntitySelection {
            entity: selection.entity.clone(),
            components: BTreeSet::from([CLEAR_COMPONENT.into()]),
        })
        .collect();
    if *fill == Fill::None || entities.is_empty() {
        return None;
    }
    let segments = match &request.time {
        TimeSelection::Samples { .. } => Some(samples(request).map(|(id, _)| id.clone()).collect()),
        _ => request.segments.clone(),
    };
    Some(PlanRequest {
        dataset: Arc::clone(&request.dataset),
        entities,
        segments,
        time: TimeSelection::Index {
            index: Arc::clone(index),
            range: TimeRange::new(i64::MIN, end),
            fill: Fill::None,
        },
    })
}

/// The segments with index values that `request` asks for, each with the values that the protocol has for them.
fn samples(request: &PlanRequest) -> impl Iterator<Item = (&SegmentId, Vec<i64>)> {
    let segments = match &request.time {
        TimeSelection::Samples { values, .. } => Some(values.iter()),
        _ => None,
    };
    let segments = segments.into_iter().flatten();
    let segments = segments.filter(|(id, values)| request.wants(id) && !values.is_empty());
    segments.map(|(id, values)| {
        let mut values: Vec<i64> = values.iter().map(|&value| value.max(MIN_TIME)).collect();
        values.dedup();
        (id, values)
    })
}

async fn ask(
    connection: &Connection,
    form: Form,
    entry: Arc<Entry>,
    request: &PlanRequest,
) -> Result<Vec<ChunkInfo>, Failure> {
    let no_segment = match &request.time {
        TimeSelection::Samples { .. } => samples(request).next().is_none(),
        _ => request.segments.as_ref().is_some_and(|s| s.is_empty()),
    };
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
            let has_samples = match &request.time {
                TimeSelection::Samples { .. } => has_samples(connection).await?,
                _ => false,
            };
            let message = query_dataset::request(request, has_samples);
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

/// Asks whether the server takes index values of each segment in `QueryDataset`.
async fn has_samples(connection: &Connection) -> Result<bool, Failure> {
    let ask = async |mut client: Client, request| client.version(request).await;
    let read = |answer: VersionResponse| Ok(answer.features.iter().any(|name| name == HAS_SAMPLES));
    let answer = connection
        .call(DOING)
        .unary(VersionRequest {}, ask, read)
        .await;
    match answer {
        Err(failure) if failure.is(Code::Unimplemented) => Ok(false),
        answer => answer,
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
