//! Planning as of version 0.36.

use segue_chunk::{Fill, PlanRequest, SegmentId, TimeRange, TimeSelection};
use segue_proto::cloud::{IndexValueList, Query, QueryDatasetRequest, QueryLatestAt, QueryRange};
use segue_proto::common::{self, IfMissingBehavior, IndexColumnSelector, ScanParameters, Timeline};

use super::{MIN_TIME, columns, samples};

/// The message that asks for what `request` wants; `has_samples` says whether the server takes index values per segment.
/// One that does not is asked for all that lies between the first and the last.
pub(super) fn request(request: &PlanRequest, has_samples: bool) -> QueryDatasetRequest {
    let entities = request.entities.iter().map(|selection| common::EntityPath {
        path: selection.entity.to_string(),
    });
    let mut wanted: Vec<String> = columns::ALL.map(str::to_owned).into();
    wanted.extend(start_column(&request.time));
    let (segment_ids, query) = match &request.time {
        TimeSelection::Samples { index, fill, .. } => {
            let (ids, values): (Vec<&SegmentId>, Vec<Vec<i64>>) = samples(request).unzip();
            let query = match has_samples {
                true => per_segment(index, values),
                false => {
                    let (first, last) =
                        (values.iter().flatten().min(), values.iter().flatten().max());
                    let hull = first
                        .zip(last)
                        .map(|(first, last)| TimeRange::new(*first, *last));
                    in_range(index, hull.unwrap_or(TimeRange::ALL), *fill)
                }
            };
            (ids.into_iter().map(segment).collect(), Some(query))
        }
        time => {
            let segments = request.segments.iter().flatten();
            (segments.map(segment).collect(), query(time))
        }
    };
    QueryDatasetRequest {
        entity_paths: entities.collect(),
        segment_ids,
        scan_parameters: Some(ScanParameters {
            columns: wanted,
            on_missing_columns: IfMissingBehavior::Skip.into(),
        }),
        query,
        ..QueryDatasetRequest::default()
    }
}

/// The column of first values on the index.
pub(super) fn start_column(time: &TimeSelection) -> Option<String> {
    time.index().map(|index| format!("{index}:start"))
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
        TimeSelection::Index { index, range, fill } => Some(in_range(index, *range, *fill)),
        // Asked for segment by segment.
        TimeSelection::Samples { .. } => None,
    }
}

fn in_range(index: &str, range: TimeRange, fill: Fill) -> Query {
    let has_before = fill == Fill::LatestAt && range.start > MIN_TIME;
    Query {
        // The protocol has the latest values before a range at its start, and nowhere else.
        latest_at: has_before.then(|| QueryLatestAt {
            index: Some(selector(index)),
            at: Some(range.start),
            ..QueryLatestAt::default()
        }),
        range: Some(QueryRange {
            index: Some(selector(index)),
            index_range: Some(common::TimeRange {
                start: range.start.max(MIN_TIME),
                end: range.end.max(MIN_TIME),
            }),
        }),
        ..Query::default()
    }
}

/// The latest values at index values of each segment, in the order of the segments. There is no other way to ask for
/// values: who wants none but those at the index values gets more than that.
fn per_segment(index: &str, values: Vec<Vec<i64>>) -> Query {
    let values = values.into_iter().map(|values| IndexValueList { values });
    Query {
        latest_at: Some(QueryLatestAt {
            index: Some(selector(index)),
            per_segment_values: values.collect(),
            ..QueryLatestAt::default()
        }),
        ..Query::default()
    }
}

fn selector(index: &str) -> IndexColumnSelector {
    IndexColumnSelector {
        timeline: Some(Timeline {
            name: index.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
            fill: Fill::None,
        }
    }

    #[test]
    fn entities_and_segments_are_named_and_the_start_column_is_wanted() {
        let message = request(&wanted(at(1, 2)), true);
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
    fn to_fill_a_range_the_latest_values_at_its_start_are_wanted() {
        let latest_at = |start, fill| {
            let time = TimeSelection::Index {
                index: "frame".into(),
                range: TimeRange::new(start, 9),
                fill,
            };
            let latest_at = query(&time).unwrap().latest_at?;
            assert_eq!(latest_at.index.unwrap().timeline.unwrap().name, "frame");
            latest_at.at
        };
        assert_eq!(latest_at(5, Fill::LatestAt), Some(5));
        assert_eq!(latest_at(5, Fill::None), None);
        // Nothing is before the first.
        assert_eq!(latest_at(i64::MIN, Fill::LatestAt), None);
        assert_eq!(latest_at(MIN_TIME, Fill::LatestAt), None);
    }

    #[test]
    fn index_values_go_with_their_segments_or_are_a_range_where_a_server_does_not_take_them() {
        let values = [
            ("r", vec![]),
            ("s", vec![i64::MIN, MIN_TIME, 4]),
            ("t", vec![9]),
        ];
        let values = values.map(|(id, values)| (SegmentId::from(id), values));
        let wanted = |segments: Option<&str>| PlanRequest {
            segments: segments.map(|id| [SegmentId::from(id)].into()),
            ..wanted(TimeSelection::Samples {
                index: "frame".into(),
                values: Arc::new(values.clone().into()),
                fill: Fill::LatestAt,
            })
        };
        let ids = |message: &QueryDatasetRequest| -> Vec<String> {
            let ids = message.segment_ids.iter();
            ids.map(|id| id.id.clone().unwrap()).collect()
        };
        let message = request(&wanted(None), true);
        assert_eq!(ids(&message), ["s", "t"]);
        let query = message.query.unwrap();
        assert_eq!(query.range, None);
        let latest_at = query.latest_at.unwrap();
        assert_eq!(latest_at.at, None);
        let lists = latest_at.per_segment_values.into_iter();
        let lists: Vec<_> = lists.map(|list| list.values).collect();
        assert_eq!(lists, [vec![MIN_TIME, 4], vec![9]]);
        let message = request(&wanted(Some("t")), false);
        assert_eq!(ids(&message), ["t"]);
        let query = message.query.unwrap();
        assert_eq!(query.latest_at.unwrap().at, Some(9));
        let range = query.range.unwrap().index_range.unwrap();
        assert_eq!((range.start, range.end), (9, 9));
    }

    #[test]
    fn static_values_are_the_latest_at_no_time() {
        let message = request(&wanted(TimeSelection::Static), true);
        let query = message.query.unwrap();
        assert_eq!(query.latest_at, Some(QueryLatestAt::default()));
        assert_eq!(query.range, None);
    }
}
