//! What requests mean, and what they cannot mean.

use segue_proto::cloud::find_chunks_request::Mode;
use segue_proto::cloud::*;
use segue_proto::common::{EntityPath, IndexColumnSelector, SegmentId, TimeRange, Timeline, Tuid};
use tonic::Code;

use super::*;
use crate::plan::{Components, Entities, Samples, Times, Wanted};

fn index(name: &str) -> Option<IndexColumnSelector> {
    let timeline = Some(Timeline {
        name: name.to_owned(),
    });
    Some(IndexColumnSelector { timeline })
}

fn ids(names: &[&str]) -> Vec<SegmentId> {
    let id = |name: &&str| SegmentId {
        id: Some((*name).to_owned()),
    };
    names.iter().map(id).collect()
}

fn all() -> QueryDatasetRequest {
    QueryDatasetRequest {
        select_all_entity_paths: true,
        ..Default::default()
    }
}

fn with(query: Query) -> QueryDatasetRequest {
    QueryDatasetRequest {
        query: Some(query),
        ..all()
    }
}

fn latest(latest_at: QueryLatestAt) -> Query {
    Query {
        latest_at: Some(latest_at),
        ..Default::default()
    }
}

fn lists(lists: &[&[i64]]) -> QueryLatestAt {
    let list = |values: &&[i64]| IndexValueList {
        values: values.to_vec(),
    };
    QueryLatestAt {
        index: index("frame"),
        at: None,
        per_segment_values: lists.iter().map(list).collect(),
    }
}

fn refused(request: QueryDatasetRequest) -> Code {
    query_dataset(request).unwrap_err().code()
}

#[test]
fn no_narrowing_is_all_and_an_empty_latest_at_is_static_only() {
    assert_eq!(query_dataset(all()).unwrap().times, Times::All);
    let times = |query| query_dataset(with(query)).unwrap().times;
    assert_eq!(times(Query::default()), Times::All);
    for empty in [None, index("frame")] {
        let latest_at = QueryLatestAt {
            index: empty,
            ..Default::default()
        };
        assert_eq!(times(latest(latest_at)), Times::Terms(Vec::new()));
    }
}

#[test]
fn a_range_and_a_latest_at_are_two_terms() {
    let query = Query {
        range: Some(QueryRange {
            index: index("frame"),
            index_range: Some(TimeRange { start: 3, end: 8 }),
        }),
        ..latest(QueryLatestAt {
            at: Some(3),
            ..lists(&[])
        })
    };
    let Times::Terms(terms) = query_dataset(with(query)).unwrap().times else {
        panic!("times are narrowed")
    };
    let wanted: Vec<&Wanted> = terms.iter().map(|term| &term.wanted).collect();
    let range = Wanted::Range(segue_chunk::TimeRange::new(3, 8));
    assert_eq!(
        wanted,
        [&range, &Wanted::LatestAt(Samples::Everywhere([3]))]
    );
    assert!(terms.iter().all(|term| &*term.timeline == "frame"));
}

#[test]
fn times_of_segments_go_by_position_and_an_empty_list_drops_its_segment() {
    let request = QueryDatasetRequest {
        segment_ids: ids(&["b", "a"]),
        ..with(latest(lists(&[&[5, 1, 5], &[]])))
    };
    let query = query_dataset(request).unwrap();
    assert_eq!(query.segments, Some(["b".into()].into()));
    let Times::Terms(terms) = query.times else {
        panic!("times are narrowed")
    };
    let Wanted::LatestAt(samples) = &terms[0].wanted else {
        panic!("the latest values are wanted")
    };
    assert_eq!(samples.of(&"b".into()), [1, 5]);
    assert_eq!(samples.of(&"a".into()), [0_i64; 0]);
}

#[test]
fn times_of_segments_follow_their_rules() {
    let two = || QueryDatasetRequest {
        segment_ids: ids(&["a", "b"]),
        ..all()
    };
    let asks = |query| QueryDatasetRequest {
        query: Some(query),
        ..two()
    };
    let good = || lists(&[&[1], &[2]]);
    assert!(query_dataset(asks(latest(good()))).is_ok());
    let bad = [
        with(latest(good())),
        asks(latest(lists(&[&[1]]))),
        asks(latest(QueryLatestAt {
            at: Some(1),
            ..good()
        })),
        asks(latest(QueryLatestAt {
            index: None,
            ..good()
        })),
        asks(Query {
            range: Some(QueryRange {
                index: index("frame"),
                index_range: Some(TimeRange { start: 0, end: 1 }),
            }),
            ..latest(good())
        }),
        QueryDatasetRequest {
            segment_ids: ids(&["a", "a"]),
            ..asks(latest(good()))
        },
    ];
    for request in bad {
        assert_eq!(
            refused(request.clone()),
            Code::InvalidArgument,
            "{request:?}"
        );
    }
}

#[test]
fn entities_are_listed_or_all_and_not_both() {
    let path = |path: &str| EntityPath {
        path: path.to_owned(),
    };
    let entities = |request| query_dataset(request).unwrap().entities;
    assert_eq!(entities(all()), Entities::All(Components::All));
    assert_eq!(
        entities(QueryDatasetRequest::default()),
        Entities::These(Default::default())
    );
    let listed = QueryDatasetRequest {
        entity_paths: vec![path("a/b")],
        fuzzy_descriptors: vec!["x".to_owned()],
        ..Default::default()
    };
    let components = Components::These(["x".into()].into());
    let wanted = Entities::These([("/a/b".into(), components)].into());
    assert_eq!(entities(listed), wanted);
    let both = QueryDatasetRequest {
        entity_paths: vec![path("/a")],
        ..all()
    };
    assert_eq!(refused(both), Code::InvalidArgument);
}

#[test]
fn what_is_left_out_of_a_request_is_refused_where_it_is_needed() {
    let chunk_ids = vec![Tuid::default()];
    assert_eq!(
        refused(QueryDatasetRequest { chunk_ids, ..all() }),
        Code::Unimplemented
    );
    let segment_ids = vec![SegmentId { id: None }];
    assert_eq!(
        refused(QueryDatasetRequest {
            segment_ids,
            ..all()
        }),
        Code::InvalidArgument
    );
    let range = |index, index_range| Query {
        range: Some(QueryRange { index, index_range }),
        ..Default::default()
    };
    for query in [
        range(None, Some(TimeRange { start: 0, end: 1 })),
        range(
            Some(IndexColumnSelector { timeline: None }),
            Some(TimeRange { start: 0, end: 1 }),
        ),
        range(index("frame"), None),
        latest(QueryLatestAt {
            at: Some(1),
            ..Default::default()
        }),
    ] {
        assert_eq!(
            refused(with(query.clone())),
            Code::InvalidArgument,
            "{query:?}"
        );
    }
}

fn find(mode: Mode) -> FindChunksRequest {
    FindChunksRequest {
        contents: Some(ContentSelection {
            selection: Some(content_selection::Selection::All(())),
        }),
        mode: Some(mode),
        direct_url_mode: 0,
    }
}

fn everywhere() -> Option<SegmentSelection> {
    let selection = Some(segment_selection::Selection::All(()));
    Some(SegmentSelection { selection })
}

fn frames(start: Option<i64>, end: Option<i64>, fill_mode: i32) -> RangeSelection {
    RangeSelection {
        timeline: "frame".to_owned(),
        start_inclusive: start,
        end_inclusive: end,
        fill_mode,
        segments: everywhere(),
    }
}

fn wanted(mode: Mode) -> Vec<Wanted> {
    let (query, _) = find_chunks(find(mode)).unwrap();
    let Times::Terms(terms) = query.times else {
        panic!("FindChunks always narrows")
    };
    terms.into_iter().map(|term| term.wanted).collect()
}

#[test]
fn a_filled_range_needs_the_latest_before_its_start() {
    let range = |start, end| Wanted::Range(segue_chunk::TimeRange::new(start, end));
    let asked = |start, end, fill: FillMode| wanted(Mode::Range(frames(start, end, fill.into())));
    let latest = Wanted::LatestAt(Samples::Everywhere([3]));
    assert_eq!(asked(Some(3), Some(8), FillMode::None), [range(3, 8)]);
    assert_eq!(
        asked(Some(3), None, FillMode::Unspecified),
        [range(3, i64::MAX)]
    );
    assert_eq!(
        asked(Some(3), Some(8), FillMode::LatestAt),
        [range(3, 8), latest]
    );
    assert_eq!(
        asked(None, Some(8), FillMode::LatestAt),
        [range(i64::MIN, 8)]
    );
}

#[test]
fn samples_are_of_their_segment_and_filled_or_not() {
    let samples = |id: &str, values: &[i64]| SegmentSamples {
        segment_id: ids(&[id]).pop(),
        values: values.to_vec(),
    };
    let asked = |segments: Vec<SegmentSamples>, fill: FillMode| {
        find(Mode::Samples(SegmentSamplesSelection {
            timeline: "frame".to_owned(),
            segments,
            fill_mode: fill.into(),
        }))
    };
    let both = vec![samples("a", &[2, 1]), samples("b", &[])];
    let (query, timeline) = find_chunks(asked(both, FillMode::LatestAt)).unwrap();
    assert_eq!(timeline.as_deref(), Some("frame"));
    assert_eq!(query.segments, Some(["a".into()].into()));
    let by_segment = || Samples::by_segment([("a".into(), vec![1, 2])]);
    let wanted = |query: crate::plan::ChunkQuery| match query.times {
        Times::Terms(mut terms) => terms.pop().unwrap().wanted,
        Times::All => panic!("FindChunks always narrows"),
    };
    assert_eq!(wanted(query), Wanted::LatestAt(by_segment()));
    let (query, _) = find_chunks(asked(vec![samples("a", &[2, 1])], FillMode::None)).unwrap();
    assert_eq!(wanted(query), Wanted::At(by_segment()));
    let twice = asked(vec![samples("a", &[1]), samples("a", &[2])], FillMode::None);
    assert_eq!(
        find_chunks(twice).unwrap_err().code(),
        Code::InvalidArgument
    );
    let nameless = SegmentSamples {
        segment_id: None,
        values: vec![1],
    };
    let nameless = asked(vec![nameless], FillMode::None);
    assert_eq!(
        find_chunks(nameless).unwrap_err().code(),
        Code::InvalidArgument
    );
}

#[test]
fn an_entity_that_is_listed_twice_is_read_for_both() {
    let select = |components| EntitySelection {
        entity_path: Some(EntityPath {
            path: "/a".to_owned(),
        }),
        components,
    };
    let explicit = |name: &str| {
        let ids = vec![name.to_owned()];
        select(Some(entity_selection::Components::Explicit(ComponentIds {
            ids,
        })))
    };
    let everything = || select(Some(entity_selection::Components::All(())));
    let asked = |entities: Vec<EntitySelection>| {
        let selection = content_selection::Selection::Explicit(EntitySelections { entities });
        let contents = Some(ContentSelection {
            selection: Some(selection),
        });
        let mode = Mode::Static(StaticSelection {
            segments: everywhere(),
        });
        find_chunks(FindChunksRequest {
            contents,
            ..find(mode)
        })
        .map(|(query, _)| query.entities)
    };
    let these = |components| Entities::These([("/a".into(), components)].into());
    let both = Components::These(["x".into(), "y".into()].into());
    assert_eq!(
        asked(vec![explicit("x"), explicit("y")]).unwrap(),
        these(both)
    );
    assert_eq!(
        asked(vec![explicit("x"), everything()]).unwrap(),
        these(Components::All)
    );
    assert_eq!(
        asked(vec![everything(), explicit("x")]).unwrap(),
        these(Components::All)
    );
    assert_eq!(
        asked(Vec::new()).unwrap(),
        Entities::These(Default::default())
    );
    assert_eq!(
        asked(vec![select(None)]).unwrap_err().code(),
        Code::InvalidArgument
    );
    let pathless = EntitySelection {
        entity_path: None,
        ..everything()
    };
    assert_eq!(
        asked(vec![pathless]).unwrap_err().code(),
        Code::InvalidArgument
    );
}

#[test]
fn what_find_chunks_lacks_or_cannot_mean_is_refused() {
    let good = || {
        find(Mode::Static(StaticSelection {
            segments: everywhere(),
        }))
    };
    assert!(find_chunks(good()).is_ok());
    let bad = [
        FindChunksRequest {
            contents: None,
            ..good()
        },
        FindChunksRequest {
            contents: Some(ContentSelection { selection: None }),
            ..good()
        },
        FindChunksRequest {
            mode: None,
            ..good()
        },
        FindChunksRequest {
            direct_url_mode: 99,
            ..good()
        },
        find(Mode::Static(StaticSelection { segments: None })),
        find(Mode::Static(StaticSelection {
            segments: Some(SegmentSelection::default()),
        })),
        find(Mode::Range(frames(None, None, 99))),
        find(Mode::Range(RangeSelection {
            segments: None,
            ..frames(None, None, 0)
        })),
    ];
    for request in bad {
        let status = find_chunks(request.clone()).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{request:?}");
    }
    let earliest = frames(Some(1), None, FillMode::EarliestAt.into());
    let status = find_chunks(find(Mode::Range(earliest))).unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
}
