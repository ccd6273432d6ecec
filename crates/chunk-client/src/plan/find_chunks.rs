//! Planning as of version 0.41.

use segue_chunk::{PlanRequest, TimeSelection};
use segue_proto::cloud::content_selection::Selection as Contents;
use segue_proto::cloud::entity_selection::Components;
use segue_proto::cloud::find_chunks_request::Mode;
use segue_proto::cloud::segment_selection::Selection as Segments;
use segue_proto::cloud::{
    ContentSelection, DirectUrlMode, EntitySelection, EntitySelections, FillMode,
    FindChunksRequest, RangeSelection, SegmentIds, SegmentSelection, StaticSelection,
};
use segue_proto::common;

use super::query_dataset::{MIN_TIME, segment};

/// The message that asks for what `request` wants.
pub(super) fn request(request: &PlanRequest) -> FindChunksRequest {
    // Chunks come whole, so all components of an entity are asked for, as Rerun's own client does.
    let entities = request.entities.iter().map(|selection| EntitySelection {
        entity_path: Some(common::EntityPath {
            path: selection.entity.to_string(),
        }),
        components: Some(Components::All(())),
    });
    let contents = Contents::Explicit(EntitySelections {
        entities: entities.collect(),
    });
    let segments = match &request.segments {
        None => Segments::All(()),
        Some(ids) => Segments::Explicit(SegmentIds {
            ids: ids.iter().map(segment).collect(),
        }),
    };
    let segments = Some(SegmentSelection {
        selection: Some(segments),
    });
    let mode = match &request.time {
        TimeSelection::Static => Mode::Static(StaticSelection { segments }),
        TimeSelection::Index { index, range } => Mode::Range(RangeSelection {
            timeline: index.to_string(),
            start_inclusive: (range.start > MIN_TIME).then_some(range.start),
            end_inclusive: (range.end != i64::MAX).then_some(range.end.max(MIN_TIME)),
            fill_mode: FillMode::None.into(),
            segments,
        }),
    };
    FindChunksRequest {
        contents: Some(ContentSelection {
            selection: Some(contents),
        }),
        direct_url_mode: DirectUrlMode::Omit.into(),
        mode: Some(mode),
    }
}

/// The column of first values on the index.
pub(super) fn start_column(time: &TimeSelection) -> Option<String> {
    match time {
        TimeSelection::Static => None,
        TimeSelection::Index { .. } => Some("chunk_timeline_start".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use segue_chunk::{EntitySelection, SegmentId, TimeRange};

    use super::*;

    fn asked(segments: Option<&str>, time: TimeSelection) -> FindChunksRequest {
        request(&PlanRequest {
            dataset: "d".into(),
            entities: vec![EntitySelection {
                entity: "/a".into(),
                components: ["x".into()].into(),
            }],
            segments: segments.map(|id| [SegmentId::from(id)].into()),
            time,
        })
    }

    fn range(start: i64, end: i64) -> RangeSelection {
        let time = TimeSelection::Index {
            index: "frame".into(),
            range: TimeRange::new(start, end),
        };
        match asked(None, time).mode {
            Some(Mode::Range(range)) => range,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_range_has_the_bounds_that_there_are() {
        let bounds = |start, end| {
            let range = range(start, end);
            assert_eq!(range.timeline, "frame");
            assert_eq!(range.fill_mode(), FillMode::None);
            (range.start_inclusive, range.end_inclusive)
        };
        assert_eq!(bounds(1, 2), (Some(1), Some(2)));
        assert_eq!(bounds(i64::MIN, 2), (None, Some(2)));
        assert_eq!(bounds(i64::MIN, i64::MAX), (None, None));
        assert_eq!(bounds(i64::MIN, i64::MIN), (None, Some(MIN_TIME)));
    }

    #[test]
    fn segments_are_all_or_those_that_are_named() {
        let segments = |segments| match asked(segments, TimeSelection::Static).mode {
            Some(Mode::Static(StaticSelection { segments })) => {
                segments.unwrap().selection.unwrap()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(segments(None), Segments::All(()));
        let Segments::Explicit(ids) = segments(Some("s")) else {
            panic!("one segment is not all");
        };
        assert_eq!(ids.ids[0].id.as_deref(), Some("s"));
    }

    #[test]
    fn entities_are_named_and_no_addresses_are_wanted() {
        let message = asked(None, TimeSelection::Static);
        assert_eq!(message.direct_url_mode(), DirectUrlMode::Omit);
        let Some(Contents::Explicit(entities)) = message.contents.unwrap().selection else {
            panic!("entities are explicit");
        };
        assert_eq!(
            entities.entities[0].entity_path.as_ref().unwrap().path,
            "/a"
        );
    }
}
