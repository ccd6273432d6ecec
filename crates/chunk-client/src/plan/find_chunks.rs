//! Planning as of version 0.41.

use segue_chunk::{Fill, PlanRequest, TimeSelection};
use segue_proto::cloud::content_selection::Selection as Contents;
use segue_proto::cloud::entity_selection::Components;
use segue_proto::cloud::find_chunks_request::Mode;
use segue_proto::cloud::segment_selection::Selection as Segments;
use segue_proto::cloud::{
    ContentSelection, DirectUrlMode, EntitySelection, EntitySelections, FillMode,
    FindChunksRequest, RangeSelection, SegmentIds, SegmentSamples, SegmentSamplesSelection,
    SegmentSelection, StaticSelection,
};
use segue_proto::common;

use super::query_dataset::segment;
use super::{MIN_TIME, samples};

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
        TimeSelection::Index { index, range, fill } => {
            let start = (range.start > MIN_TIME).then_some(range.start);
            Mode::Range(RangeSelection {
                timeline: index.to_string(),
                start_inclusive: start,
                end_inclusive: (range.end != i64::MAX).then_some(range.end.max(MIN_TIME)),
                // Without a start there is nothing before it, and the protocol has no fill.
                fill_mode: start.map_or(FillMode::None, |_| fill_mode(*fill)).into(),
                segments,
            })
        }
        TimeSelection::Samples { index, fill, .. } => Mode::Samples(SegmentSamplesSelection {
            timeline: index.to_string(),
            segments: samples(request)
                .map(|(id, values)| SegmentSamples {
                    segment_id: Some(segment(id)),
                    values,
                })
                .collect(),
            fill_mode: fill_mode(*fill).into(),
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
    time.index().map(|_| "chunk_timeline_start".to_owned())
}

fn fill_mode(fill: Fill) -> FillMode {
    match fill {
        Fill::None => FillMode::None,
        Fill::LatestAt => FillMode::LatestAt,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
            fill: Fill::None,
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
    fn what_is_filled_and_what_is_sampled_is_said() {
        let filled = |start| {
            let time = TimeSelection::Index {
                index: "frame".into(),
                range: TimeRange::new(start, 9),
                fill: Fill::LatestAt,
            };
            match asked(None, time).mode {
                Some(Mode::Range(range)) => (range.start_inclusive, range.fill_mode()),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(filled(5), (Some(5), FillMode::LatestAt));
        assert_eq!(filled(i64::MIN), (None, FillMode::None));
        let values = [("s", vec![1, 4]), ("t", vec![9])];
        let values = values.map(|(id, values)| (SegmentId::from(id), values));
        let sampled = |segments, fill| {
            let time = TimeSelection::Samples {
                index: "frame".into(),
                values: Arc::new(values.clone().into()),
                fill,
            };
            let Some(Mode::Samples(samples)) = asked(segments, time).mode else {
                panic!("samples are asked for as such");
            };
            assert_eq!(samples.timeline, "frame");
            let mode = samples.fill_mode();
            let lists = samples.segments.into_iter();
            let lists = lists.map(|list| (list.segment_id.unwrap().id.unwrap(), list.values));
            (lists.collect::<Vec<_>>(), mode)
        };
        let (s, t) = (("s".to_owned(), vec![1, 4]), ("t".to_owned(), vec![9]));
        assert_eq!(
            sampled(None, Fill::None),
            (vec![s, t.clone()], FillMode::None)
        );
        assert_eq!(
            sampled(Some("t"), Fill::LatestAt),
            (vec![t], FillMode::LatestAt)
        );
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
