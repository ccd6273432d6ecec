//! Cases that were answered wrongly elsewhere, and the right answers.

use segue_chunk::testing::ChunkBuilder;
use segue_chunk::{Fill, ViewOptions};

use super::*;
use crate::support::SCALAR;

/// `/a` at the frames -5 and 2, `/b` at 0 and 3, and a static value.
fn two_rates() -> Vec<Chunk> {
    let chunk = |id: u64, entity: &str| ChunkBuilder::new("s", entity).id(id);
    let a = chunk(1, "/a").sequence("frame", [-5, 2]);
    let b = chunk(2, "/b").sequence("frame", [0, 3]);
    vec![
        a.floats(SCALAR, [Some(-5.0), Some(2.0)]).build(),
        b.floats(SCALAR, [Some(0.0), Some(3.0)]).build(),
        chunk(3, "/c").floats(SCALAR, [Some(9.0)]).build(),
    ]
}

async fn check(asked: &Asked, cases: &[(&str, &[&str])]) {
    for (partitions, batch_size, is_pushed) in SETTINGS {
        let source = Arc::new(ScriptedSource::new().dataset("d", two_rates()));
        let table = Arc::new(asked.table(Arc::clone(&source) as _).await);
        let context = SessionContext::new_with_config(config(partitions, batch_size));
        let table = match is_pushed {
            true => table as _,
            false => Arc::new(Unpushed(table)) as _,
        };
        context.register_table("t", table).unwrap();
        for (sql, expected) in cases {
            let expected: Vec<String> = expected.iter().map(|row| format!("| {row} |")).collect();
            assert_eq!(rows(&context, sql).await, expected, "{sql}");
        }
    }
}

const B: &str = "\"/b:Scalars:scalars\"";

fn filled() -> Asked {
    Asked {
        options: ViewOptions {
            fill: Fill::LatestAt,
            ..ViewOptions::default()
        },
        ..Asked::by(Some("frame"))
    }
}

#[tokio::test]
async fn a_range_has_its_own_rows_and_is_filled_from_before() {
    let range = "WHERE frame BETWEEN 0 AND 4";
    let sql = format!("SELECT frame, \"/a:Scalars:scalars\", {B} FROM t {range}");
    let plain = ["0 | | [0.0]", "2 | [2.0] |", "3 | | [3.0]"];
    check(&Asked::by(Some("frame")), &[(&sql, &plain)]).await;
    let full = [
        "0 | [-5.0] | [0.0]",
        "2 | [2.0] | [0.0]",
        "3 | [2.0] | [3.0]",
    ];
    check(&filled(), &[(&sql, &full)]).await;
}

#[tokio::test]
async fn what_is_filled_is_not_null() {
    let sql = format!("SELECT frame FROM t WHERE {B} IS NOT NULL");
    check(&Asked::by(Some("frame")), &[(&sql, &["0", "3"])]).await;
    check(&filled(), &[(&sql, &["0", "2", "3"])]).await;
    let null = format!("SELECT frame FROM t WHERE {B} IS NULL");
    check(&filled(), &[(&null, &["-5"])]).await;
}

#[tokio::test]
async fn what_stands_on_all_rows_because_it_is_static_takes_none_away() {
    let sql = "SELECT frame FROM t WHERE \"/c:Scalars:scalars\" IS NOT NULL";
    let all = ["-5", "0", "2", "3"];
    check(&Asked::by(Some("frame")), &[(sql, &all)]).await;
}

#[tokio::test]
async fn a_contradiction_has_no_rows_and_no_error() {
    let nothing: &[&str] = &[];
    let sql = |filter: &str| format!("SELECT frame FROM t WHERE {filter}");
    for filter in [
        "frame < 0 AND frame > 0",
        "rerun_segment_id = 's' AND rerun_segment_id = 'u'",
        "frame IN (1) AND frame NOT IN (1, 2, 3, 4)",
        "rerun_segment_id LIKE 's%' AND rerun_segment_id < 's'",
    ] {
        check(&Asked::by(Some("frame")), &[(&sql(filter), nothing)]).await;
    }
    let elsewhere = Asked {
        segments: Some(["u"].into()),
        ..Asked::by(Some("frame"))
    };
    check(&elsewhere, &[(&sql("rerun_segment_id = 's'"), nothing)]).await;
    check(&elsewhere, &[("SELECT count(*) FROM t", &["0"])]).await;
}

#[tokio::test]
async fn what_is_left_out_by_not_is_left_out() {
    let sql = |filter: &str| format!("SELECT frame FROM t WHERE {filter}");
    let asked = Asked::by(Some("frame"));
    check(
        &asked,
        &[
            (&sql("frame NOT IN (-5, 0, 7, 8, 9)"), &["2", "3"]),
            (&sql("frame NOT BETWEEN 0 AND 2"), &["-5", "3"]),
            (
                &sql("rerun_segment_id NOT IN ('a', 'b', 'c', 'd')"),
                &["-5", "0", "2", "3"],
            ),
            (&sql("rerun_segment_id NOT IN ('a', 'b', 'c', 's')"), &[]),
            (&sql("NOT (frame > 0 OR frame = -5)"), &["0"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn static_values_without_an_index_are_one_row() {
    let sql = "SELECT rerun_segment_id, frame, \"/c:Scalars:scalars\" FROM t";
    check(&Asked::by(None), &[(sql, &["s | | [9.0]"])]).await;
    let count = "SELECT count(*) FROM t WHERE \"/c:Scalars:scalars\" IS NULL";
    check(&Asked::by(None), &[(count, &["0"])]).await;
}
