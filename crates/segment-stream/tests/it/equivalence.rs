//! The stream equals DataFusion over all rows assembled at once: random chunks, many predicates,
//! partition counts and batch sizes.

use std::sync::Arc;

use datafusion::prelude::SessionContext;
use proptest::prelude::*;
use segue_chunk::Chunk;
use segue_chunk::testing::{ChunkBuilder, Order, ScriptedSource};

use crate::support::{SCALAR, config, reference, rows, table};

/// What a chunk is made of: segment, entity, kind, and per row the index value and the value.
#[derive(Clone, Debug)]
struct Made {
    segment: u8,
    entity: u8,
    kind: Kind,
    rows: Vec<(i64, Option<i8>)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Temporal,
    /// Temporal, with values on the timeline `tick`, too.
    TwoTimelines,
    /// Only on the timeline `tick`.
    OtherTimeline,
    Static,
    Clear,
}

fn made() -> impl Strategy<Value = Made> {
    let kind = prop_oneof![
        6 => Just(Kind::Temporal),
        3 => Just(Kind::TwoTimelines),
        1 => Just(Kind::OtherTimeline),
        1 => Just(Kind::Static),
        1 => Just(Kind::Clear),
    ];
    let row = (-4i64..8, prop::option::weighted(0.8, any::<i8>()));
    let rows = prop::collection::vec(row, 0..6);
    (0u8..3, 0u8..3, kind, rows).prop_map(|(segment, entity, kind, rows)| Made {
        segment,
        entity,
        kind,
        rows,
    })
}

fn build(made: &[Made]) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = made.iter().enumerate().map(|(n, m)| chunk(n, m)).collect();
    // Both timelines and all entities exist whatever was drawn.
    for entity in ["/a", "/a/b", "/c"] {
        let id = chunks.len() as u64 + 1;
        let chunk = ChunkBuilder::new("s0", entity).id(id);
        let chunk = chunk.sequence("frame", [0]).sequence("tick", [0]);
        chunks.push(chunk.floats(SCALAR, [Some(0.5)]).build());
    }
    chunks
}

fn chunk(n: usize, made: &Made) -> Chunk {
    let entity = ["/a", "/a/b", "/c"][made.entity as usize];
    let chunk = ChunkBuilder::new(format!("s{}", made.segment), entity).id(n as u64 + 1);
    let frames = made.rows.iter().map(|(frame, _)| *frame);
    let ticks = made.rows.iter().map(|(frame, _)| 100 - frame);
    let values = made.rows.iter().map(|(_, value)| value.map(f64::from));
    match made.kind {
        Kind::Temporal => chunk.sequence("frame", frames).floats(SCALAR, values),
        Kind::TwoTimelines => chunk
            .sequence("frame", frames)
            .sequence("tick", ticks)
            .floats(SCALAR, values),
        Kind::OtherTimeline => chunk.sequence("tick", ticks).floats(SCALAR, values),
        Kind::Static => chunk.floats(SCALAR, values),
        Kind::Clear => {
            let flags = made.rows.iter().map(|(_, value)| value.is_some());
            chunk
                .sequence("frame", frames)
                .clear(flags.collect::<Vec<_>>())
        }
    }
    .build()
}

/// Queries with the numbers `x`, `y` in them.
fn queries(x: i64, y: i64) -> Vec<String> {
    let a = "\"/a:Scalars:scalars\"";
    let c = "\"/c:Scalars:scalars\"";
    let all = |filter: String| format!("SELECT * FROM t WHERE {filter}");
    vec![
        "SELECT * FROM t".to_owned(),
        format!("SELECT {c} FROM t"),
        "SELECT tick FROM t".to_owned(),
        "SELECT count(*) FROM t".to_owned(),
        format!("SELECT count({a}), count(*), min(frame), max(frame) FROM t"),
        format!("SELECT rerun_segment_id, count(*) FROM t WHERE frame < {x} GROUP BY 1"),
        all(format!("frame >= {x} AND frame < {y}")),
        all(format!("NOT (frame >= {x} AND frame < {y})")),
        all(format!("frame < {x} OR frame > {y}")),
        all(format!("frame NOT IN ({x}, {y}, 0, 1, 2)")),
        all(format!("frame IN ({x}, {y}, 0, 1, NULL)")),
        all(format!("frame NOT IN ({x}, {y}, 0, NULL)")),
        all(format!("frame NOT BETWEEN {x} AND {y} AND frame <> 3")),
        all("rerun_segment_id IN ('s0', 's2')".to_owned()),
        all(format!("rerun_segment_id <> 's1' AND frame <= {y}")),
        all(format!("rerun_segment_id = 's1' OR frame = {x}")),
        all(format!(
            "(rerun_segment_id = 's1' AND frame < {x}) OR rerun_segment_id = 's2'"
        )),
        all(format!("{c} IS NULL AND frame > {x}")),
        all(format!("{a} IS NOT NULL OR frame > {x}")),
        all(format!("tick > {x} AND frame > {y}")),
        all(format!("frame + 1 > {x}")),
        all(format!("{x} <= frame AND '{y}' <> rerun_segment_id")),
        format!(
            "SELECT a.frame FROM t a JOIN t b USING (rerun_segment_id, frame) WHERE a.frame > {x}"
        ),
        format!("SELECT frame, {a} FROM t WHERE frame = {x} UNION ALL SELECT frame, {c} FROM t"),
    ]
}

async fn compare(chunks: Vec<Chunk>, x: i64, y: i64, seed: u64) {
    let plain = SessionContext::new_with_config(config(1, 8192));
    let reference = Arc::new(reference(&chunks, Some("frame")));
    plain.register_table("t", reference).unwrap();
    let source = ScriptedSource::new()
        .dataset("d", chunks)
        .order(Order::Shuffled(seed));
    let source = Arc::new(source);
    let table = table(&source, Some("frame")).await;
    for (partitions, batch_size) in [(1, 8192), (2, 3), (7, 1)] {
        let stream = SessionContext::new_with_config(config(partitions, batch_size));
        stream.register_table("t", Arc::clone(&table) as _).unwrap();
        stream
            .sql("SET segue_stream.unit_bytes = 4000")
            .await
            .unwrap();
        for sql in queries(x, y) {
            let (want, got) = (rows(&plain, &sql).await, rows(&stream, &sql).await);
            assert_eq!(
                got, want,
                "{sql} at {partitions} partitions, batches of {batch_size}"
            );
        }
    }
    assert_eq!(source.counts().streams, 0);
}

proptest! {
    // Each case is hundreds of queries.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_stream_equals_the_rows_assembled_at_once(
        made in prop::collection::vec(made(), 0..10),
        x in -5i64..9,
        y in -5i64..9,
        seed in any::<u64>(),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        runtime.block_on(compare(build(&made), x, y, seed));
    }
}

#[tokio::test]
async fn static_values_without_an_index_equal_the_rows_assembled_at_once() {
    let made: Vec<Made> = (0..3)
        .map(|segment| Made {
            segment,
            entity: segment % 2,
            kind: if segment == 1 {
                Kind::Temporal
            } else {
                Kind::Static
            },
            rows: vec![(0, Some(1)), (1, None), (2, Some(segment as i8))],
        })
        .collect();
    let chunks = build(&made);
    let plain = SessionContext::new_with_config(config(1, 8192));
    let reference = Arc::new(reference(&chunks, None));
    plain.register_table("t", reference).unwrap();
    let stream = SessionContext::new_with_config(config(2, 1));
    let source = Arc::new(ScriptedSource::new().dataset("d", chunks));
    stream
        .register_table("t", table(&source, None).await as _)
        .unwrap();
    for sql in [
        "SELECT * FROM t",
        "SELECT count(*) FROM t",
        "SELECT frame FROM t WHERE frame IS NULL",
    ] {
        assert_eq!(rows(&stream, sql).await, rows(&plain, sql).await, "{sql}");
    }
    assert_eq!(rows(&stream, "SELECT * FROM t").await.len(), 2);
}
