//! `FindChunks`, the form of version 0.41.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use segue_chunk::{EntityPath, SegmentId, TimeRange};
use segue_proto::cloud::find_chunks_request::Mode;
use segue_proto::cloud::{
    ContentSelection, DirectUrlMode, EntitySelection, FillMode, FindChunksRequest, RangeSelection,
    SegmentSamplesSelection, SegmentSelection, content_selection, entity_selection,
    segment_selection,
};
use tonic::Status;

use super::{invalid, segment};
use crate::plan::{ChunkQuery, Components, Entities, Samples, Term, Times, Wanted};

/// What `request` asks for, and the timeline of which first values are told.
pub(crate) fn find_chunks(
    request: FindChunksRequest,
) -> Result<(ChunkQuery, Option<Arc<str>>), Status> {
    if DirectUrlMode::try_from(request.direct_url_mode).is_err() {
        let mode = request.direct_url_mode;
        return Err(invalid(format!("there is no 'direct_url_mode' {mode}")));
    }
    let entities = entities(request.contents)?;
    let mode = request
        .mode
        .ok_or_else(|| invalid("a request without a mode"))?;
    let (segments, times, timeline) = match mode {
        Mode::Static(selection) => (
            segments(selection.segments)?,
            Times::Terms(Vec::new()),
            None,
        ),
        Mode::Range(selection) => range(selection)?,
        Mode::Samples(selection) => samples(selection)?,
    };
    let query = ChunkQuery {
        entities,
        segments,
        times,
        with_static: true,
        with_temporal: true,
    };
    Ok((query, timeline))
}

type Selected = (Option<BTreeSet<SegmentId>>, Times, Option<Arc<str>>);

fn entities(contents: Option<ContentSelection>) -> Result<Entities, Status> {
    let selection = contents.and_then(|contents| contents.selection);
    let selection = selection.ok_or_else(|| invalid("a request without contents"))?;
    let listed = match selection {
        content_selection::Selection::All(()) => return Ok(Entities::All(Components::All)),
        content_selection::Selection::Explicit(listed) => listed.entities,
    };
    let mut entities: HashMap<EntityPath, Components> = HashMap::new();
    for EntitySelection {
        entity_path,
        components,
    } in listed
    {
        let path = entity_path.ok_or_else(|| invalid("an entity without a path"))?;
        let path = EntityPath::from(path.path);
        let components = match components {
            None => return Err(invalid(format!("entity '{path}' without its components"))),
            Some(entity_selection::Components::All(())) => Components::All,
            Some(entity_selection::Components::Explicit(ids)) => {
                Components::These(ids.ids.into_iter().map(Into::into).collect())
            }
        };
        entities
            .entry(path)
            .or_insert_with(|| Components::These(HashSet::new()))
            .merge(components);
    }
    Ok(Entities::These(entities))
}

fn segments(selection: Option<SegmentSelection>) -> Result<Option<BTreeSet<SegmentId>>, Status> {
    let selection = selection.and_then(|segments| segments.selection);
    match selection.ok_or_else(|| invalid("a request without segments"))? {
        segment_selection::Selection::All(()) => Ok(None),
        segment_selection::Selection::Explicit(listed) => listed
            .ids
            .into_iter()
            .map(segment)
            .collect::<Result<_, _>>()
            .map(Some),
    }
}

/// Whether the latest values before count, too.
fn is_filled(mode: i32) -> Result<bool, Status> {
    match FillMode::try_from(mode) {
        // What is not said is none.
        Ok(FillMode::Unspecified | FillMode::None) => Ok(false),
        Ok(FillMode::LatestAt) => Ok(true),
        Ok(FillMode::EarliestAt) => Err(Status::unimplemented("FindChunks with earliest-at fill")),
        Err(_) => Err(invalid(format!("there is no 'fill_mode' {mode}"))),
    }
}

fn range(selection: RangeSelection) -> Result<Selected, Status> {
    let is_filled = is_filled(selection.fill_mode)?;
    let timeline: Arc<str> = selection.timeline.into();
    let start = selection.start_inclusive;
    let segments = segments(selection.segments)?;
    if start.is_none() && selection.end_inclusive.is_none() {
        // Nothing to narrow by. Rerun's clients look for Clears in chunks without the timeline, too.
        return Ok((segments, Times::All, Some(timeline)));
    }
    let end = selection.end_inclusive.unwrap_or(i64::MAX);
    let term = |wanted| Term {
        timeline: Arc::clone(&timeline),
        wanted,
    };
    let range = TimeRange::new(start.unwrap_or(i64::MIN), end);
    let mut terms = vec![term(Wanted::Range(range))];
    // Without a start, the range has all that came before.
    if let (true, Some(start)) = (is_filled, start) {
        terms.push(term(Wanted::LatestAt(Samples::Everywhere([start]))));
    }
    Ok((segments, Times::Terms(terms), Some(timeline)))
}

fn samples(selection: SegmentSamplesSelection) -> Result<Selected, Status> {
    let is_filled = is_filled(selection.fill_mode)?;
    let mut times = HashMap::new();
    for samples in selection.segments {
        let id = samples.segment_id;
        let id = segment(id.ok_or_else(|| invalid("samples without their segment"))?)?;
        if times.insert(id.clone(), samples.values).is_some() {
            return Err(invalid(format!("segment '{id}' has samples twice")));
        }
    }
    times.retain(|_, times| !times.is_empty());
    let segments = times.keys().cloned().collect();
    let samples = Samples::by_segment(times);
    let timeline: Arc<str> = selection.timeline.into();
    let term = Term {
        timeline: Arc::clone(&timeline),
        wanted: match is_filled {
            true => Wanted::LatestAt(samples),
            false => Wanted::At(samples),
        },
    };
    Ok((Some(segments), Times::Terms(vec![term]), Some(timeline)))
}
