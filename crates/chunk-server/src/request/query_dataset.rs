//! `QueryDataset`, the form of version 0.36.

use std::collections::{BTreeSet, HashMap, HashSet};

use segue_chunk::{EntityPath, SegmentId, TimeRange};
use segue_proto::cloud::{Query, QueryDatasetRequest, QueryLatestAt, QueryRange};
use segue_proto::common::IndexColumnSelector;
use tonic::Status;

use super::{invalid, segment};
use crate::plan::{ChunkQuery, Components, Entities, Samples, Term, Times, Wanted};

/// What `request` asks for.
pub(crate) fn query_dataset(request: QueryDatasetRequest) -> Result<ChunkQuery, Status> {
    if !request.chunk_ids.is_empty() {
        return Err(Status::unimplemented("QueryDataset by 'chunk_ids'"));
    }
    let components = match request.fuzzy_descriptors.is_empty() {
        true => Components::All,
        false => Components::These(
            request
                .fuzzy_descriptors
                .into_iter()
                .map(Into::into)
                .collect(),
        ),
    };
    let entities = match (request.select_all_entity_paths, request.entity_paths) {
        (true, paths) if !paths.is_empty() => {
            let reason = "'select_all_entity_paths' together with 'entity_paths'";
            return Err(invalid(reason));
        }
        (true, _) => Entities::All(components),
        (false, paths) => {
            let paths = paths.into_iter().map(|path| EntityPath::from(path.path));
            let each: HashMap<_, _> = paths.map(|path| (path, components.clone())).collect();
            Entities::These(each)
        }
    };
    let listed = request.segment_ids.into_iter().map(segment);
    let listed = listed.collect::<Result<Vec<SegmentId>, Status>>()?;
    let mut segments: Option<BTreeSet<SegmentId>> = match listed.is_empty() {
        true => None,
        false => Some(listed.iter().cloned().collect()),
    };
    let times = match request.query {
        None => Times::All,
        Some(query) => times(query, &listed, &mut segments)?,
    };
    Ok(ChunkQuery {
        entities,
        segments,
        times,
        with_static: !request.exclude_static_data,
        with_temporal: !request.exclude_temporal_data,
    })
}

fn times(
    query: Query,
    listed: &[SegmentId],
    segments: &mut Option<BTreeSet<SegmentId>>,
) -> Result<Times, Status> {
    let mut terms = Vec::new();
    if query.latest_at.is_none() && query.range.is_none() {
        return Ok(Times::All);
    }
    let has_range = query.range.is_some();
    if let Some(range) = query.range {
        terms.push(self::range(range)?);
    }
    if let Some(latest_at) = query.latest_at {
        if !latest_at.per_segment_values.is_empty() {
            if has_range {
                return Err(invalid("'per_segment_values' together with a range"));
            }
            terms.push(per_segment(latest_at, listed, segments)?);
        } else if let Some(at) = latest_at.at {
            terms.push(Term {
                timeline: timeline(latest_at.index)?,
                wanted: Wanted::LatestAt(Samples::Everywhere([at])),
            });
        }
    }
    Ok(Times::Terms(terms))
}

fn range(range: QueryRange) -> Result<Term, Status> {
    let bounds = range.index_range;
    let bounds = bounds.ok_or_else(|| invalid("a range without 'index_range'"))?;
    Ok(Term {
        timeline: timeline(range.index)?,
        wanted: Wanted::Range(TimeRange::new(bounds.start, bounds.end)),
    })
}

/// The times of each segment. Segments without any are of no interest.
fn per_segment(
    latest_at: QueryLatestAt,
    listed: &[SegmentId],
    segments: &mut Option<BTreeSet<SegmentId>>,
) -> Result<Term, Status> {
    let lists = latest_at.per_segment_values;
    if latest_at.at.is_some() {
        return Err(invalid("'per_segment_values' together with 'at'"));
    }
    if lists.len() != listed.len() {
        let (lists, ids) = (lists.len(), listed.len());
        let reason = format!("{lists} lists in 'per_segment_values' for {ids} 'segment_ids'");
        return Err(invalid(reason));
    }
    let mut known = HashSet::new();
    if let Some(twice) = listed.iter().find(|id| !known.insert(*id)) {
        return Err(invalid(format!(
            "segment '{twice}' stands twice in 'segment_ids', which 'per_segment_values' goes by"
        )));
    }
    let timeline = timeline(latest_at.index)?;
    let lists = lists.into_iter().map(|list| list.values);
    let times: Vec<_> = listed.iter().cloned().zip(lists).collect();
    let with_times = times.iter().filter(|(_, times)| !times.is_empty());
    *segments = Some(with_times.map(|(id, _)| id.clone()).collect());
    Ok(Term {
        timeline,
        wanted: Wanted::LatestAt(Samples::by_segment(times)),
    })
}

fn timeline(index: Option<IndexColumnSelector>) -> Result<std::sync::Arc<str>, Status> {
    let timeline = index.and_then(|index| index.timeline);
    let timeline = timeline.ok_or_else(|| invalid("a time without the name of its index"))?;
    Ok(timeline.name.into())
}
