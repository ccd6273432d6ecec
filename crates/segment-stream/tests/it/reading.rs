//! Which chunks are read for which columns and filters.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::prelude::SessionContext;
use segue_chunk::testing::{ChunkBuilder, ScriptedSource};
use segue_chunk::{Chunk, ChunkSource, Fill};
use segue_segment_stream::{IndexValues, SegmentStreamTable, SegmentStreamTableBuilder};

use crate::support::{SCALAR, config, plan, rows, shown, source};

/// One chunk each of `/a`, `/b`, `/c/d`, a Clear of `/c`, and a static value of `/e`.
fn chunks() -> Vec<Chunk> {
    let chunk = |id: u64, entity: &str| ChunkBuilder::new("s", entity).id(id);
    let values = |id: u64, entity: &str, frames: [i64; 2]| {
        let chunk = chunk(id, entity).sequence("frame", frames);
        let chunk = chunk.sequence("tick", [id as i64, id as i64]);
        chunk.floats(SCALAR, [Some(1.0), Some(2.0)]).build()
    };
    vec![
        values(1, "/a", [0, 1]),
        values(2, "/b", [1, 2]),
        values(3, "/c/d", [1, 3]),
        chunk(4, "/c").sequence("frame", [4]).clear([true]).build(),
        chunk(5, "/e").floats(SCALAR, [Some(5.0)]).build(),
    ]
}

const A: &str = "\"/a:Scalars:scalars\"";
const B: &str = "\"/b:Scalars:scalars\"";
const D: &str = "\"/c/d:Scalars:scalars\"";
const E: &str = "\"/e:Scalars:scalars\"";

type Make = fn(SegmentStreamTableBuilder) -> SegmentStreamTableBuilder;

async fn context(make: Make) -> (SessionContext, Arc<ScriptedSource>) {
    let source = source(chunks());
    let shared: Arc<dyn ChunkSource> = Arc::clone(&source) as _;
    let table = make(SegmentStreamTable::builder(shared, "d").index("frame"));
    let context = SessionContext::new_with_config(config(2, 8192));
    let table = Arc::new(table.build().await.unwrap());
    context.register_table("t", table).unwrap();
    (context, source)
}

/// The number of rows of `sql`, and of chunks that are read for them.
async fn read(make: Make, sql: &str) -> (usize, usize) {
    let (context, source) = context(make).await;
    let rows = rows(&context, sql).await.len();
    (rows, source.counts().chunks)
}

fn filled(builder: SegmentStreamTableBuilder) -> SegmentStreamTableBuilder {
    builder.fill(Fill::LatestAt)
}

fn sampled(builder: SegmentStreamTableBuilder) -> SegmentStreamTableBuilder {
    let values = [1i64, 2].map(ScalarValue::from).to_vec();
    builder.index_values(IndexValues::BySegment([("s".into(), values)].into()))
}

#[tokio::test]
async fn what_can_only_make_rows_that_a_filter_takes_away_is_not_read() {
    let plain: Make = |builder| builder;
    let sql = |columns: &str, filter: &str| format!("SELECT {columns} FROM t WHERE {filter}");
    for (columns, filter, expected) in [
        // All may make rows.
        ("frame", "true", (5, 5)),
        ("frame", "frame < 2", (2, 4)),
        (A, "true", (5, 5)),
        (A, &format!("{B} IS NULL"), (3, 5)),
        (A, &format!("{A} IS NOT NULL OR {B} IS NOT NULL"), (3, 5)),
        // Only rows with a value of `/b` are left.
        ("frame", &format!("{B} IS NOT NULL"), (2, 1)),
        ("frame", &format!("{B}[1] > 1"), (1, 1)),
        ("frame", &format!("NOT ({B}[1] > 1)"), (1, 1)),
        ("frame", &format!("{B}[1] > 1 AND frame < 2"), (0, 1)),
        (A, &format!("{B}[1] > 0"), (2, 2)),
        ("frame", &format!("{A}[1] + {B}[1] > 0"), (1, 2)),
        ("count(*)", &format!("{B} IS NOT NULL"), (1, 1)),
        // A Clear reaches what is read, and is a value.
        ("frame", &format!("{D} IS NOT NULL"), (3, 2)),
        // What is static stands on the rows of others.
        ("frame", &format!("{E} IS NOT NULL"), (5, 5)),
        // Others have a say in the other timeline.
        ("tick", &format!("{B} IS NOT NULL"), (2, 5)),
    ] {
        let sql = sql(columns, filter);
        assert_eq!(read(plain, &sql).await, expected, "{sql}");
    }
    // A filled value may come from before, on the row of another.
    let sql = format!("SELECT frame FROM t WHERE {B} IS NOT NULL");
    assert_eq!(read(filled, &sql).await, (4, 5));
}

#[tokio::test]
async fn of_rows_that_are_given_only_what_is_shown_is_read() {
    assert_eq!(read(sampled, "SELECT frame FROM t").await, (2, 0));
    assert_eq!(read(sampled, "SELECT count(*) FROM t").await, (1, 0));
    assert_eq!(
        read(sampled, &format!("SELECT {B}, {E} FROM t")).await,
        (2, 2)
    );
    assert_eq!(read(sampled, "SELECT tick FROM t").await, (2, 4));
    let filtered = format!("SELECT frame FROM t WHERE {A} IS NOT NULL");
    assert_eq!(read(sampled, &filtered).await, (1, 1));
}

#[tokio::test]
async fn a_filter_that_the_scan_answers_is_gone_and_a_limit_reaches_it() {
    let (context, _) = context(|builder| builder).await;
    let sql = format!("SELECT frame FROM t WHERE {B} IS NOT NULL AND frame < 9 LIMIT 1");
    let answered = shown(&plan(&context, &sql).await);
    assert!(!answered.contains("FilterExec"), "{answered}");
    assert!(
        answered.contains("not_null=[/b:Scalars:scalars]"),
        "{answered}"
    );
    assert!(answered.contains("fetch=1"), "{answered}");
    // What it cannot answer stays: of a value that must be there more is asked, and a filled one may be another's.
    let sql = format!("SELECT frame FROM t WHERE {B}[1] > 1 LIMIT 1");
    assert!(shown(&plan(&context, &sql).await).contains("FilterExec"));
    let (context, _) = self::context(filled).await;
    let sql = format!("SELECT frame FROM t WHERE {B} IS NOT NULL");
    let left = shown(&plan(&context, &sql).await);
    assert!(
        left.contains("FilterExec") && left.contains("fill=latest_at"),
        "{left}"
    );
}

#[tokio::test]
async fn nothing_is_asked_for_what_cannot_be() {
    for (make, sql) in [
        (
            sampled as Make,
            "SELECT * FROM t WHERE frame > 2".to_owned(),
        ),
        (
            filled,
            "SELECT * FROM t WHERE frame > 2 AND frame < 2".to_owned(),
        ),
        (
            |builder| builder,
            format!("SELECT * FROM t WHERE {A} IS NOT NULL AND frame IN (NULL)"),
        ),
    ] {
        let (context, source) = context(make).await;
        let before = source.counts().plans;
        assert!(rows(&context, &sql).await.is_empty());
        assert_eq!(source.counts().plans, before, "{sql}");
    }
}

#[tokio::test]
async fn of_what_came_before_a_range_only_the_last_is_read() {
    let chunk = |id: u64, frame: i64| {
        let chunk = ChunkBuilder::new("s", "/a")
            .id(id)
            .sequence("frame", [frame, frame + 1]);
        chunk.floats(SCALAR, [Some(id as f64), None]).build()
    };
    let source = source((1..=9).map(|id| chunk(id, 10 * id as i64)).collect());
    let shared: Arc<dyn ChunkSource> = Arc::clone(&source) as _;
    let table = filled(SegmentStreamTable::builder(shared, "d").index("frame"));
    let context = SessionContext::new_with_config(config(1, 8192));
    let table = Arc::new(table.build().await.unwrap());
    context.register_table("t", table).unwrap();
    let sql = format!("SELECT frame, {A} FROM t WHERE frame BETWEEN 55 AND 71");
    assert_eq!(
        rows(&context, &sql).await,
        ["| 60 | [6.0] |", "| 70 | [7.0] |"]
    );
    assert_eq!(source.counts().chunks, 3);
}
