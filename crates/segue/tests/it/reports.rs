//! Mistakes that people reported of other systems.

use std::sync::Arc;

use arrow::compute::concat_batches;
use datafusion::prelude::SessionConfig;
use segue::SegueSession;
use segue::chunk::Chunk;
use segue::chunk::testing::{ChunkBuilder, Order, ScriptedSource};

use crate::support::{SETTINGS, query, rows, session_at};

/// The dataset `d` of these chunks, delivered out of order.
fn source(chunks: impl IntoIterator<Item = Chunk>) -> Arc<ScriptedSource> {
    Arc::new(
        ScriptedSource::new()
            .dataset("d", chunks)
            .order(Order::Shuffled(7)),
    )
}

/// `segments` segments `s00`, `s01`, …, of `frames` frames each in chunks of 100, with x = 1000 times the
/// number of the segment plus the frame.
fn grid(segments: u64, frames: i64) -> Vec<Chunk> {
    let chunks = (0..segments).flat_map(|segment| {
        let starts = (0..frames).step_by(100);
        starts.map(move |start| {
            let range = start..frames.min(start + 100);
            let x = range
                .clone()
                .map(move |frame| Some((segment as i64 * 1000 + frame) as f64));
            ChunkBuilder::new(format!("s{segment:02}"), "/a")
                .id(segment * 1000 + start as u64 + 1)
                .sequence("frame", range)
                .floats("x", x)
                .build()
        })
    });
    chunks.collect()
}

/// rerun-io/rerun#7651
#[tokio::test]
async fn a_range_holds_exactly_its_rows_and_no_index_is_null() {
    let chunks = [
        ChunkBuilder::new("s", "/a")
            .id(1)
            .sequence("frame", [-5, 2])
            .floats("x", [Some(1.), Some(2.)]),
        ChunkBuilder::new("s", "/b")
            .id(2)
            .sequence("frame", [0, 3])
            .floats("x", [Some(3.), Some(4.)]),
        ChunkBuilder::new("s", "/c").id(3).floats("x", [Some(9.)]),
    ];
    let source = source(chunks.map(ChunkBuilder::build));
    for (partitions, batch_size) in SETTINGS {
        let session = session_at(Arc::clone(&source) as _, partitions, batch_size).await;
        let sql =
            r#"SELECT frame, "/a:x", "/b:x", "/c:x" FROM d.frame WHERE frame BETWEEN 0 AND 4"#;
        assert_eq!(
            rows(&session, sql).await,
            ["0||[3.0]|[9.0]", "2|[2.0]||[9.0]", "3||[4.0]|[9.0]"]
        );
    }
}

/// rerun-io/rerun PR#7773
#[tokio::test]
async fn a_column_is_the_same_column_in_every_selection() {
    let chunks = [
        ChunkBuilder::new("s", "/a")
            .id(1)
            .sequence("frame", [1, 2])
            .floats("x", [Some(1.), None]),
        ChunkBuilder::new("s", "/b").id(2).floats("x", [Some(20.)]),
        ChunkBuilder::new("s", "/c")
            .id(3)
            .sequence("frame", [2, 3])
            .texts("t", [Some("y"), None]),
        ChunkBuilder::new("s", "/d")
            .id(4)
            .texts("t", [Some("static")]),
        ChunkBuilder::new("s", "/e")
            .id(5)
            .sequence("frame", [1, 3])
            .floats("x", [None, Some(5.)]),
    ];
    let columns = ["/a:x", "/b:x", "/c:t", "/d:t", "/e:x"];
    let session = session_at(source(chunks.map(ChunkBuilder::build)), 1, 8192).await;
    let all = query(&session, "SELECT * FROM d.frame").await;
    assert_eq!(all.num_rows(), 3);
    for static_column in ["/b:x", "/d:t"] {
        assert_eq!(all.column_by_name(static_column).unwrap().null_count(), 0);
    }
    let mut choices: Vec<Vec<&str>> = vec![vec![]];
    for _ in 0..3 {
        let longer = choices.iter().flat_map(|choice| {
            let rest = columns.iter().filter(|column| !choice.contains(column));
            rest.map(|column| [&choice[..], &[*column]].concat())
        });
        choices.extend(longer.collect::<Vec<_>>());
    }
    choices.sort();
    choices.dedup();
    assert_eq!(choices.len(), 1 + 5 + 20 + 60);
    for choice in choices {
        for index in [&[][..], &["frame"]] {
            let names = [index, &choice].concat();
            if names.is_empty() {
                continue;
            }
            let list: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            let sql = format!("SELECT {} FROM d.frame", list.join(", "));
            let some = query(&session, &sql).await;
            for (name, column) in names.iter().zip(some.columns()) {
                assert_eq!(column, all.column_by_name(name).unwrap(), "{name} in {sql}");
            }
        }
    }
}

/// apache/datafusion#17188
#[tokio::test]
async fn a_join_keeps_the_rows_of_every_key_of_its_build_side() {
    let source = source(grid(8, 1000));
    let sql = "SELECT frame, count(*) FROM d.frame
        JOIN (SELECT value FROM generate_series(1, 10000) WHERE value = 1 OR value = 998) b
        ON frame = value GROUP BY frame ORDER BY frame";
    for partitions in [1, 2, 7] {
        for batch_size in [3, 8192] {
            let session = session_at(Arc::clone(&source) as _, partitions, batch_size).await;
            assert_eq!(rows(&session, sql).await, ["1|8", "998|8"]);
        }
    }
}

/// Names repeat in a join of segment tables, and DataFusion 55.2 binds pushed filters by name.
#[tokio::test]
async fn joins_of_tables_with_equal_names_give_the_same_rows_with_dynamic_filters_on_and_off() {
    let source = source(grid(8, 50));
    let join = r#"FROM d.frame a
        JOIN d.frame b ON a.rerun_segment_id = b.rerun_segment_id AND a.frame = b.frame + 1
        JOIN d.frame c ON b.rerun_segment_id = c.rerun_segment_id AND b.frame = c.frame + 1"#;
    let x = |table: &str| format!(r#"array_element({table}."/a:x", 1)"#);
    let columns = format!("{}, {}, {}", x("a"), x("b"), x("c"));
    let statements = [
        format!(
            "SELECT {columns} {join} WHERE {} > 7040 ORDER BY 1, 2, 3",
            x("c")
        ),
        format!(
            "SELECT {columns} {join} WHERE {} < 5 ORDER BY 1, 2, 3",
            x("a")
        ),
        format!("SELECT {columns} {join} ORDER BY {} DESC LIMIT 2", x("c")),
        format!(
            "SELECT a.frame, b.frame, c.frame {join} ORDER BY c.frame DESC, a.rerun_segment_id LIMIT 2"
        ),
    ];
    let expected = [
        (7043..7050)
            .map(|x| format!("{x}.0|{}.0|{}.0", x - 1, x - 2))
            .collect(),
        (2..5)
            .map(|x| format!("{x}.0|{}.0|{}.0", x - 1, x - 2))
            .collect(),
        vec![
            "7049.0|7048.0|7047.0".to_owned(),
            "7048.0|7047.0|7046.0".to_owned(),
        ],
        vec!["49|48|47".to_owned(), "49|48|47".to_owned()],
    ];
    for (partitions, batch_size) in [(1, 8192), (7, 3)] {
        for (is_on, reorders) in [(true, true), (true, false), (false, true)] {
            let mut config = SessionConfig::new()
                .with_target_partitions(partitions)
                .with_batch_size(batch_size);
            let optimizer = &mut config.options_mut().optimizer;
            optimizer.enable_join_dynamic_filter_pushdown = is_on;
            optimizer.enable_topk_dynamic_filter_pushdown = is_on;
            optimizer.enable_aggregate_dynamic_filter_pushdown = is_on;
            optimizer.join_reordering = reorders;
            let builder = SegueSession::builder().with_source(Arc::clone(&source) as _);
            let session = builder.with_session_config(config).build().await.unwrap();
            for (sql, expected) in statements.iter().zip(&expected) {
                let found: Vec<String> = rows(&session, sql).await;
                let context = format!("{partitions} {batch_size} {is_on} {reorders}: {sql}");
                assert_eq!(&found, expected, "{context}");
            }
        }
    }
}

/// apache/datafusion#13745
#[tokio::test]
async fn a_limit_counts_rows_after_the_filter() {
    let mut chunks = grid(20, 200);
    let frames = [195, 196];
    let x = ChunkBuilder::new("s19", "/m")
        .id(99_999)
        .sequence("frame", frames);
    chunks.push(x.floats("x", [Some(42.0), Some(42.0)]).build());
    let source = source(chunks);
    for (partitions, batch_size) in [(1, 3), (2, 8192), (7, 1)] {
        let session = session_at(Arc::clone(&source) as _, partitions, batch_size).await;
        let select =
            r#"SELECT rerun_segment_id, frame FROM d.frame WHERE array_element("/m:x", 1) = 42"#;
        let one = rows(&session, &format!("{select} LIMIT 1")).await;
        assert!(one == ["s19|195"] || one == ["s19|196"], "{one:?}");
        let one = rows(&session, &format!("{select} AND frame >= 196 LIMIT 1")).await;
        assert_eq!(one, ["s19|196"]);
        let ordered = format!("{select} ORDER BY rerun_segment_id, frame LIMIT 1 OFFSET 1");
        assert_eq!(rows(&session, &ordered).await, ["s19|196"]);
        let one = rows(&session, &format!("{select} LIMIT 1 OFFSET 1")).await;
        assert_eq!(one.len(), 1);
        assert!(
            rows(&session, &format!("{select} LIMIT 1 OFFSET 2"))
                .await
                .is_empty()
        );
    }
}

/// apache/datafusion#15569
#[tokio::test]
async fn rows_are_counted_when_no_column_is_asked_for() {
    let source = source(grid(3, 150));
    for (partitions, batch_size) in SETTINGS {
        let session = session_at(Arc::clone(&source) as _, partitions, batch_size).await;
        for (sql, expected) in [
            ("SELECT count(*) FROM d.frame", "450"),
            ("SELECT count(1) FROM d.frame", "450"),
            (
                "SELECT count(*) FROM d.frame WHERE rerun_segment_id = 's01'",
                "150",
            ),
            ("SELECT count(*) FROM d.frame WHERE frame >= 100", "150"),
            ("SELECT count(*) FROM (SELECT 1 FROM d.frame)", "450"),
            (
                "SELECT count(*) FROM (SELECT 1 FROM d.frame LIMIT 70)",
                "70",
            ),
            (
                "SELECT count(*) FROM (VALUES (1)) WHERE EXISTS (SELECT 1 FROM d.frame)",
                "1",
            ),
            (
                "SELECT count(*) FROM (VALUES (1)) WHERE NOT EXISTS (SELECT 1 FROM d.frame)",
                "0",
            ),
        ] {
            assert_eq!(rows(&session, sql).await, [expected], "{sql}");
        }
        let ones = query(&session, "SELECT 1 FROM d.frame").await;
        assert_eq!((ones.num_rows(), ones.num_columns()), (450, 1));
    }
}

/// apache/datafusion#12735
#[tokio::test]
async fn columns_with_metadata_pass_through_every_operator() {
    let chunks = [
        ChunkBuilder::new("s", "/a")
            .id(1)
            .sequence("frame", [1, 2, 3])
            .floats("x", [1., 2., 3.].map(Some)),
        ChunkBuilder::new("s", "/b")
            .id(2)
            .sequence("frame", [2])
            .floats("x", [Some(5.0)]),
    ];
    let source = source(chunks.map(ChunkBuilder::build));
    let session = session_at(source, 2, 8192).await;
    let union = |all: &str| {
        format!(
            r#"SELECT count(*) FROM ((SELECT frame, NULL AS a, "/b:x" FROM d.frame)
               UNION {all} (SELECT frame, "/a:x", NULL FROM d.frame))"#
        )
    };
    for (sql, expected) in [
        (union("").as_str(), vec!["6"]),
        (&union("ALL"), vec!["6"]),
        (
            "SELECT count(*) FROM d.frame a CROSS JOIN d.frame b",
            vec!["9"],
        ),
        ("SELECT count(DISTINCT frame) FROM d.frame", vec!["3"]),
        (
            r#"SELECT a."/a:x" FROM d.frame a JOIN d.frame b ON a.frame = b.frame ORDER BY a.frame"#,
            vec!["[1.0]", "[2.0]", "[3.0]"],
        ),
        (
            r#"SELECT LAG("/a:x") OVER (ORDER BY frame) FROM d.frame ORDER BY frame"#,
            vec!["", "[1.0]", "[2.0]"],
        ),
        (
            r#"SELECT CASE WHEN frame = 2 THEN "/a:x" ELSE "/b:x" END FROM d.frame ORDER BY frame"#,
            vec!["", "[2.0]", ""],
        ),
        (
            "WITH t AS (SELECT * FROM d.frame) SELECT count(*) FROM t a JOIN t b ON a.frame < b.frame",
            vec!["3"],
        ),
    ] {
        assert_eq!(rows(&session, sql).await, expected, "{sql}");
    }
    let frame = session
        .sql("SELECT frame, \"/a:x\" FROM d.frame")
        .await
        .unwrap();
    let batches = frame.collect().await.unwrap();
    let batch = concat_batches(&batches[0].schema(), &batches).unwrap();
    for (column, key, value) in [
        (0, "rerun:index_name", "frame"),
        (1, "rerun:entity_path", "/a"),
    ] {
        let schema = batch.schema();
        assert_eq!(
            schema.field(column).metadata().get(key).map(String::as_str),
            Some(value)
        );
    }
}
