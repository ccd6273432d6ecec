use futures::StreamExt;

use super::*;
use crate::model::{ChunkId, TimeRange};
use crate::source::EntitySelection;
use crate::testing::ChunkBuilder;
use crate::{Fill, TimeSelection};

fn chunk(id: u64) -> Chunk {
    let time = id as i64;
    ChunkBuilder::new("s", "/a")
        .id(id)
        .sequence("frame", [time, time + 1])
        .floats("x", [Some(1.0), Some(2.0)])
        .build()
}

fn source() -> ScriptedSource {
    ScriptedSource::new().dataset("d", (1..=5).map(chunk))
}

fn request() -> PlanRequest {
    PlanRequest {
        dataset: "d".into(),
        entities: vec![EntitySelection {
            entity: "/a".into(),
            components: ["x".into()].into(),
        }],
        segments: None,
        time: TimeSelection::Index {
            index: "frame".into(),
            range: TimeRange::ALL,
            fill: Fill::None,
        },
    }
}

fn id(id: u64) -> ChunkId {
    ChunkId::from(u128::from(id))
}

/// Ids in the order of delivery, with 0 for a failure.
async fn delivered(source: &ScriptedSource) -> Vec<u64> {
    let infos = source.plan(&request()).await.unwrap();
    let stream = source.fetch("d", infos);
    let id = |item: Result<EncodedChunk>| item.map_or(0, |chunk| chunk.id.parts().1);
    stream.map(id).collect().await
}

#[tokio::test]
async fn delivery_follows_the_order_of_the_script() {
    assert_eq!(delivered(&source()).await, [1, 2, 3, 4, 5]);
    let reversed = source().order(Order::Reversed);
    assert_eq!(delivered(&reversed).await, [5, 4, 3, 2, 1]);

    let shuffled = |seed| source().order(Order::Shuffled(seed));
    let first = delivered(&shuffled(1)).await;
    assert_eq!(delivered(&shuffled(1)).await, first);
    let mut orders: Vec<_> = vec![];
    for seed in 0..8 {
        orders.push(delivered(&shuffled(seed)).await);
    }
    assert!(orders.iter().any(|order| *order != orders[0]));
    for mut order in orders {
        order.sort_unstable();
        assert_eq!(order, [1, 2, 3, 4, 5]);
    }
}

#[tokio::test]
async fn faults_of_delivery_strike_where_the_script_says() {
    let code = ErrorCode::TransportUnavailable;
    let foreign = encode(&chunk(9), Compression::None);
    for (fault, expected) in [
        (Fault::Withhold(id(2)), vec![1, 3, 4, 5]),
        (Fault::Repeat(id(2)), vec![1, 2, 2, 3, 4, 5]),
        (Fault::Replace(id(2), foreign.clone()), vec![1, 9, 3, 4, 5]),
        (Fault::Foreign(foreign), vec![9, 1, 2, 3, 4, 5]),
        (Fault::Error(id(2), code), vec![1, 0]),
        (
            Fault::ErrorAt {
                fetch: 0,
                chunk: 3,
                code,
            },
            vec![1, 2, 3, 0],
        ),
        (
            Fault::ErrorAt {
                fetch: 0,
                chunk: 99,
                code,
            },
            vec![1, 2, 3, 4, 5, 0],
        ),
        (
            Fault::ErrorAt {
                fetch: 1,
                chunk: 3,
                code,
            },
            vec![1, 2, 3, 4, 5],
        ),
    ] {
        let name = format!("{fault:?}");
        assert_eq!(delivered(&source().fault(fault)).await, expected, "{name}");
    }
}

#[tokio::test]
async fn an_error_of_one_fetch_spares_the_others() {
    let code = ErrorCode::TransportUnavailable;
    let source = source().fault(Fault::ErrorAt {
        fetch: 1,
        chunk: 0,
        code,
    });
    assert_eq!(delivered(&source).await, [1, 2, 3, 4, 5]);
    assert_eq!(delivered(&source).await, [0]);
    assert_eq!(delivered(&source).await, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn plan_and_schema_fail_or_lie_as_told() {
    let code = ErrorCode::PermissionDenied;
    let broken = source()
        .fault(Fault::PlanError(code))
        .fault(Fault::SchemaError(code));
    assert_eq!(broken.plan(&request()).await.unwrap_err().code(), code);
    assert_eq!(broken.schema("d").await.unwrap_err().code(), code);

    let lying = source().fault(Fault::Announce(id(3), |info| info.start = Some(-7)));
    let starts = lying
        .plan(&request())
        .await
        .unwrap()
        .into_iter()
        .map(|i| i.start);
    let truth = [1, 2, -7, 4, 5].map(Some);
    assert_eq!(starts.collect::<Vec<_>>(), truth);
    assert_eq!(delivered(&lying).await, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn optional_facts_are_announced_only_when_asked_to() {
    let facts = |info: &ChunkInfo| {
        (
            info.end,
            info.num_rows,
            info.byte_len_uncompressed.is_some(),
        )
    };
    let all = source().plan(&request()).await.unwrap();
    assert_eq!(facts(&all[0]), (Some(2), Some(2), true));
    let none = source()
        .announcing(Announced::NOTHING)
        .plan(&request())
        .await
        .unwrap();
    assert_eq!(facts(&none[0]), (None, None, false));
    assert_eq!(none[0].start, Some(1));
}

#[tokio::test]
async fn a_gate_releases_deliveries_one_by_one() {
    let gate = Gate::new();
    let source = source().gated(&gate);
    let infos = source.plan(&request()).await.unwrap();
    let mut stream = source.fetch("d", infos);
    assert_eq!(source.counts().started, 0);

    assert!(futures::poll!(stream.next()).is_pending());
    let counts = source.when(|counts| counts.waiting == 1).await;
    assert_eq!((counts.started, counts.chunks), (1, 0));

    gate.release(2);
    assert!(stream.next().await.is_some() && stream.next().await.is_some());
    assert!(futures::poll!(stream.next()).is_pending());
    assert_eq!(source.counts().chunks, 2);
    gate.open();
    assert_eq!(stream.by_ref().count().await, 3);
    assert_eq!((source.counts().waiting, source.counts().streams), (0, 0));
}

#[tokio::test]
async fn counts_tell_calls_bytes_and_live_streams() {
    let source = source();
    let infos = source.plan(&request()).await.unwrap();
    source.schema("d").await.unwrap();
    let bytes = infos[0].byte_len;
    let mut stream = source.fetch("d", infos.clone());
    let other = source.fetch("d", infos);
    assert!(stream.next().await.is_some());
    let expected = Counts {
        segment_tables: 0,
        schemas: 1,
        plans: 1,
        fetches: 2,
        started: 1,
        waiting: 0,
        chunks: 1,
        bytes,
        streams: 2,
    };
    assert_eq!(source.counts(), expected);
    drop((stream, other));
    assert_eq!(source.counts().streams, 0);
}

#[tokio::test]
async fn a_stream_dropped_at_the_gate_waits_no_more() {
    let source = source().gated(&Gate::new());
    let infos = source.plan(&request()).await.unwrap();
    let mut stream = source.fetch("d", infos);
    assert!(futures::poll!(stream.next()).is_pending());
    drop(stream);
    assert_eq!((source.counts().waiting, source.counts().streams), (0, 0));
}

#[tokio::test]
async fn a_chunk_without_its_key_cannot_be_found_again() {
    let source = source();
    let mut infos = source.plan(&request()).await.unwrap();
    infos[1].key = Bytes::new();
    let items: Vec<_> = source.fetch("d", infos).collect().await;
    let [Err(error)] = &items[..] else {
        panic!("one failure, not {items:?}")
    };
    assert_eq!(error.code(), ErrorCode::SourceChanged);
}
