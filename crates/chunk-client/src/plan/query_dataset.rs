//! Planning as of version 0.36.

use segue_chunk::{PlanRequest, SegmentId, TimeRange, TimeSelection};
use segue_proto::cloud::{Query, QueryDatasetRequest, QueryLatestAt, QueryRange};
use segue_proto::common::{self, IfMissingBehavior, IndexColumnSelector, ScanParameters, Timeline};

use super::columns;

/// Smallest value that the protocol has for a time: the one below stands for "static".
pub(super) const MIN_TIME: i64 = i64::MIN + 1;

/// The message that asks for what `request` wants.
pub(super) fn request(request: &PlanRequest) -> QueryDatasetRequest {
    let entities = request.entities.iter().map(|selection| common::EntityPath {
        path: selection.entity.to_string(),
    });
    let mut wanted: Vec<String> = columns::ALL.map(str::to_owned).into();
    wanted.extend(start_column(&request.time));
    let segments = request.segments.iter().flatten();
    QueryDatasetRequest {
        entity_paths: entities.collect(),
        segment_ids: segments.map(segment).collect(),
        scan_parameters: Some(ScanParameters {
            columns: wanted,
            on_missing_columns: IfMissingBehavior::Skip.into(),
        }),
        query: query(&request.time),
        ..QueryDatasetRequest::default()
    }
}

/// The column of first values on the index.
pub(super) fn start_column(time: &TimeSelection) -> Option<String> {
    match time {
        TimeSelection::Static => None,
        TimeSelection::Index { index, .. } => Some(format!("{index}:start")),
    }
}

pub(super) fn segment(id: &SegmentId) -> common::SegmentId {
    common::SegmentId {
        id: Some(id.to_string()),
    }
}

fn query(time: &TimeSelection) -> Option<Query> {
    match time {
        // The latest at no time: what holds at all times.
        TimeSelection::Static => Some(Query {
            latest_at: Some(QueryLatestAt::default()),
            ..Query::default()
        }),
        TimeSelection::Index { range, .. } if *range == TimeRange::ALL => None,
        TimeSelection::Index { index, range } => Some(Query {
            range: Some(QueryRange {
                index: Some(IndexColumnSelector {
                    timeline: Some(Timeline {
                        name: index.to_string(),
                    }),
                }),
                index_range: Some(common::TimeRange {
                    start: range.start.max(MIN_TIME),
                    end: range.end.max(MIN_TIME),
                }),
            }),
            ..Query::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use segue_chunk::EntitySelection;

    use super::*;

    fn wanted(time: TimeSelection) -> PlanRequest {
        PlanRequest {
            dataset: "d".into(),
            entities: vec![EntitySelection {
                entity: "/a".into(),
                components: ["x".into()].into(),
            }],
            segments: Some([SegmentId::from("s")].into()),
            time,
        }
    }

    fn at(start: i64, end: i64) -> TimeSelection {
        TimeSelection::Index {
            index: "frame".into(),
            range: TimeRange::new(start, end),
        }
    }

    #[test]
    fn entities_and_segments_are_named_and_the_start_column_is_wanted() {
        let message = request(&wanted(at(1, 2)));
        assert_eq!(message.entity_paths[0].path, "/a");
        assert!(!message.select_all_entity_paths);
        assert_eq!(message.segment_ids[0].id.as_deref(), Some("s"));
        let scan = message.scan_parameters.unwrap();
        assert_eq!(scan.columns.last().unwrap(), "frame:start");
        assert!(scan.columns.contains(&"chunk_key".to_owned()));
        assert_eq!(scan.on_missing_columns(), IfMissingBehavior::Skip);
    }

    #[test]
    fn a_range_is_sent_unless_it_is_everything() {
        let range = |time| {
            let range = query(&time).map(|query| query.range.unwrap());
            range.map(|range| {
                assert_eq!(range.index.unwrap().timeline.unwrap().name, "frame");
                let range = range.index_range.unwrap();
                (range.start, range.end)
            })
        };
        assert_eq!(range(at(1, 2)), Some((1, 2)));
        assert_eq!(range(at(i64::MIN, 2)), Some((MIN_TIME, 2)));
        assert_eq!(range(at(i64::MIN, i64::MIN)), Some((MIN_TIME, MIN_TIME)));
        assert_eq!(range(at(i64::MIN, i64::MAX)), None);
    }

    #[test]
    fn static_values_are_the_latest_at_no_time() {
        let message = request(&wanted(TimeSelection::Static));
        let query = message.query.unwrap();
        assert_eq!(query.latest_at, Some(QueryLatestAt::default()));
        assert_eq!(query.range, None);
    }
}
