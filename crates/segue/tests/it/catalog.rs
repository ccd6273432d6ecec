//! Datasets as schemas, indexes as tables, and a schema of one's own.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::CatalogProvider;
use datafusion::prelude::{SessionConfig, SessionContext};
use segue::chunk::testing::{ChunkBuilder, ScriptedSource};
use segue::chunk::{ChunkInfo, ChunkSource, ChunkStream, DatasetSchema, PlanRequest, TextSet};
use segue::stream::SegmentStreamOptions;
use segue::{Error, ErrorCode, PUBLIC_SCHEMA, Result, SegueSession, find_segue_error, install};

use crate::support::{examples, rows, session};

/// Datasets that are all alike, but for one of which nothing is known but its name.
#[derive(Debug)]
struct HalfBroken {
    inner: ScriptedSource,
    names: Vec<String>,
    broken: &'static str,
}

impl HalfBroken {
    fn new() -> Self {
        Self::of(vec!["bad".to_owned(), "good".to_owned()], "bad")
    }

    fn of(names: Vec<String>, broken: &'static str) -> Self {
        let inner = ScriptedSource::new().dataset("good", [chunk()]);
        Self {
            inner,
            names,
            broken,
        }
    }
}

fn chunk() -> segue::chunk::Chunk {
    ChunkBuilder::new("s", "/a")
        .sequence("frame", [1, 2])
        .floats("x", [Some(1.0), Some(2.0)])
        .build()
}

#[async_trait]
impl ChunkSource for HalfBroken {
    async fn datasets(&self) -> Result<Vec<String>> {
        Ok(self.names.clone())
    }

    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        if dataset == self.broken {
            let message = format!("dataset '{dataset}' cannot be reached");
            let code = ErrorCode::TransportUnavailable;
            return Err(Error::new(code, "test.schema", message));
        }
        self.inner.schema("good").await
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
        self.inner.plan(request).await
    }

    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
        self.inner.segment_table(dataset, segments).await
    }

    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
        self.inner.fetch(dataset, chunks)
    }
}

#[tokio::test]
async fn views_and_tables_of_ones_own_live_in_public() {
    let session = session(examples()).await;
    let run = async |sql: &str| {
        session.sql(sql).await.unwrap().collect().await.unwrap();
    };
    run("CREATE VIEW long AS SELECT * FROM robots.frame_nr WHERE frame_nr > 90").await;
    run("CREATE TABLE kept AS SELECT rerun_segment_id, frame_nr FROM long").await;
    let counts = rows(
        &session,
        "SELECT count(*) FROM long UNION ALL SELECT count(*) FROM kept",
    )
    .await;
    assert_eq!(counts[0], counts[1]);
    assert_ne!(counts[0], "0");
    run("CREATE OR REPLACE VIEW long AS SELECT 1 AS one").await;
    assert_eq!(rows(&session, "SELECT * FROM public.long").await, ["1"]);
    run("DROP VIEW long").await;
    run("DROP TABLE kept").await;
    assert!(session.sql("SELECT * FROM long").await.is_err());
}

#[tokio::test]
async fn listings_show_datasets_and_indexes() {
    let session = session(examples()).await;
    let sql = "SELECT table_name FROM information_schema.tables
        WHERE table_catalog = 'segue' AND table_schema = 'robots' ORDER BY 1";
    let expected = [
        "_chunks",
        "_segments",
        "_static",
        "elapsed",
        "frame_nr",
        "log_time",
        "time",
    ];
    assert_eq!(rows(&session, sql).await, expected);
    let all = rows(&session, "SHOW TABLES").await;
    assert!(
        all.contains(&"segue|drive|message_log_time|BASE TABLE".to_owned()),
        "{all:?}"
    );
    let columns = rows(&session, "DESCRIBE robots.frame_nr").await;
    assert!(
        columns.contains(&"frame_nr|Int64|NO".to_owned()),
        "{columns:?}"
    );
}

#[tokio::test]
async fn a_broken_dataset_does_not_break_a_listing() {
    let session = session(Arc::new(HalfBroken::new())).await;
    let tables = rows(
        &session,
        "SELECT table_schema, table_name FROM information_schema.columns
        WHERE table_catalog = 'segue' AND column_name = '/a:x' ORDER BY 2",
    )
    .await;
    assert_eq!(tables, ["good|frame"]);
    let listed = rows(
        &session,
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'bad' ORDER BY 1",
    )
    .await;
    assert_eq!(listed, ["_chunks", "_segments", "_static"]);
    // Also when it is planned now and read later.
    let prepared = "PREPARE p AS SELECT table_schema FROM information_schema.tables WHERE table_name = 'frame'";
    session.sql(prepared).await.unwrap();
    assert_eq!(rows(&session, "EXECUTE p").await, ["good"]);
    let unreadable = session.catalog().unreadable();
    assert_eq!(unreadable.len(), 1);
    assert_eq!(
        (&*unreadable[0].0, unreadable[0].1.code()),
        ("bad", ErrorCode::TransportUnavailable)
    );
    let schemas = rows(
        &session,
        "SELECT schema_name FROM information_schema.schemata
        WHERE catalog_name = 'segue' ORDER BY 1",
    )
    .await;
    assert_eq!(schemas, ["bad", "good", "public"]);
    assert_eq!(
        rows(&session, "SELECT count(*) FROM good.frame").await,
        ["2"]
    );
    for sql in [
        "SELECT * FROM bad.frame",
        "SHOW COLUMNS FROM bad._static",
        "DESCRIBE bad._static",
    ] {
        let error = session.sql(sql).await.unwrap_err();
        let code = find_segue_error(&error).map(Error::code);
        assert_eq!(code, Some(ErrorCode::TransportUnavailable), "{sql}");
    }
    assert!(
        !rows(&session, "SHOW COLUMNS FROM good.frame")
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn the_static_table_has_a_row_for_every_segment_with_static_values() {
    let session = session(examples()).await;
    let sql = "SELECT rerun_segment_id FROM robots._static
        WHERE rerun_segment_id LIKE '%static%' ORDER BY 1";
    let expected = ["only_static_0", "static_0", "static_1", "static_override_0"];
    assert_eq!(rows(&session, sql).await, expected);
}

#[tokio::test]
async fn an_engines_own_session_gets_a_catalog_beside_its_own() {
    let context = SessionContext::new();
    let catalog = install(&context, examples(), "recordings").await.unwrap();
    let sql = "SELECT count(*) AS n FROM recordings.robots.frame_nr";
    let counted = context.sql(sql).await.unwrap().count().await.unwrap();
    assert_eq!(counted, 1);
    context
        .sql("CREATE TABLE mine AS SELECT 1 AS x")
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();
    let robots = catalog.schema("robots").unwrap();
    assert!(
        robots.table_names().is_empty(),
        "nothing is opened before it is asked for"
    );
    catalog.refresh().await.unwrap();
    assert!(robots.table_names().contains(&"frame_nr".to_owned()));

    let again = install(&context, examples(), "recordings").await;
    assert!(again.is_ok(), "Segue's own catalog can be replaced");
    let clash = install(&context, examples(), "datafusion")
        .await
        .unwrap_err();
    assert_eq!(clash.code(), ErrorCode::NameClash);
    assert!(context.sql("SELECT * FROM mine").await.is_ok());
}

#[tokio::test]
async fn planning_asks_for_the_columns_of_the_dataset_that_is_read_and_functions_for_none() {
    let source = ScriptedSource::new()
        .dataset("a", [chunk()])
        .dataset("b", [chunk()]);
    let source = Arc::new(source);
    let session = session(Arc::clone(&source) as _).await;
    assert_eq!(source.counts().schemas, 0);
    session
        .sql("SELECT * FROM generate_series(1, 3)")
        .await
        .unwrap();
    assert_eq!(source.counts().schemas, 0);
    session.sql("SELECT * FROM a.frame").await.unwrap();
    assert_eq!(source.counts().schemas, 1);
}

#[tokio::test]
async fn a_dataset_called_public_is_hidden_and_says_so() {
    let source = ScriptedSource::new()
        .dataset(PUBLIC_SCHEMA, [chunk()])
        .dataset("b", [chunk()]);
    let session = session(Arc::new(source)).await;
    assert_eq!(session.catalog().schema_names(), ["b", "public"]);
    let error = session.sql("SELECT * FROM public.frame").await.unwrap_err();
    assert_eq!(
        find_segue_error(&error).map(Error::code),
        Some(ErrorCode::NameClash)
    );
    assert_eq!(
        rows(&session, "SELECT * FROM generate_series(1, 1)").await,
        ["1"]
    );
}

#[tokio::test]
async fn names_with_capitals_and_dots_work_in_quotes() {
    let chunk = ChunkBuilder::new("S", "/A")
        .sequence("Frame.1", [7])
        .floats("X", [Some(1.0)])
        .build();
    let session = session(Arc::new(
        ScriptedSource::new().dataset("My-Data.v1", [chunk]),
    ))
    .await;
    let sql = r#"SELECT "Frame.1", "/A:X" FROM "My-Data.v1"."Frame.1""#;
    assert_eq!(rows(&session, sql).await, ["7|[1.0]"]);
}

#[tokio::test]
async fn settings_are_seen_and_set_in_sql() {
    let session = session(examples()).await;
    let show = async |name: &str| {
        let sql = format!("SELECT value FROM information_schema.df_settings WHERE name = '{name}'");
        rows(&session, &sql).await
    };
    let read_ahead = "datafusion.execution.sort_pushdown_buffer_capacity";
    assert_eq!(show(read_ahead).await, ["1048576"]);
    session
        .sql("SET segue_stream.units_ahead = 1")
        .await
        .unwrap();
    let state = session.context().state();
    let options = state
        .config_options()
        .extensions
        .get::<SegmentStreamOptions>();
    assert_eq!(options.map(|options| options.units_ahead), Some(1));
    assert!(session.sql("SET segue_stream.nope = 1").await.is_err());
}

#[tokio::test]
async fn settings_of_the_caller_are_kept() {
    let mut config = SessionConfig::new().with_batch_size(5);
    let read_ahead = &mut config.options_mut().execution.sort_pushdown_buffer_capacity;
    *read_ahead = 77;
    let builder = SegueSession::builder().with_source(examples());
    let builder = builder
        .with_catalog_name("mine")
        .with_session_config(config);
    let session = builder.build().await.unwrap();
    let state = session.context().state();
    let execution = &state.config_options().execution;
    assert_eq!(execution.sort_pushdown_buffer_capacity, 77);
    assert_eq!(state.config().batch_size(), 5);
    assert_eq!(
        rows(&session, "SELECT count(*) FROM mine.robots.time").await,
        ["752"]
    );
    assert_eq!(
        rows(&session, "SELECT count(*) FROM robots.time").await,
        ["752"]
    );
}

#[tokio::test]
async fn an_index_called_like_a_table_of_every_dataset_is_a_clash_and_can_be_read_by_the_function()
{
    for name in ["_static", "_segments", "_chunks"] {
        let chunk = ChunkBuilder::new("s", "/a")
            .id(1)
            .sequence(name, [0, 1])
            .floats("x", [Some(1.0), Some(2.0)])
            .build();
        let source = Arc::new(ScriptedSource::new().dataset("d", [chunk]));
        let session = session(source).await;
        let error = session.sql(&format!("SELECT * FROM d.{name}")).await;
        let error = error.unwrap_err();
        let error = find_segue_error(&error).unwrap();
        assert_eq!(error.code(), ErrorCode::NameClash, "{error}");
        let sql = format!("SELECT count(*) FROM segment_stream('d', '{name}')");
        assert_eq!(rows(&session, &sql).await, ["2"]);
        let listed = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'd'";
        assert_eq!(rows(&session, listed).await, ["3"]);
    }
}

const MANY: usize = 5000;

#[tokio::test]
async fn a_huge_catalog_is_listed_with_one_question_per_dataset_and_named_with_none() {
    let names = (0..MANY).map(|n| format!("d{n:04}")).collect();
    let source = Arc::new(HalfBroken::of(names, "d4999"));
    let session = session(Arc::clone(&source) as _).await;
    let count = "SELECT count(*) FROM information_schema";
    let names = format!("{count}.schemata WHERE schema_name LIKE 'd%'");
    assert_eq!(rows(&session, &names).await, [MANY.to_string()]);
    assert_eq!(
        rows(&session, "SHOW datafusion.catalog.default_schema")
            .await
            .len(),
        1
    );
    assert_eq!(source.inner.counts().schemas, 0);

    let tables = format!("{count}.tables WHERE table_schema LIKE 'd%'");
    assert_eq!(rows(&session, &tables).await, [(MANY * 4 - 1).to_string()]);
    assert_eq!(source.inner.counts().schemas, MANY - 1);
    let columns = format!("{count}.columns WHERE table_schema = 'd0007' AND table_name = 'frame'");
    assert_eq!(rows(&session, &columns).await, ["3"]);
    assert_eq!(source.inner.counts().schemas, 2 * (MANY - 1));
    assert_eq!(source.inner.counts().plans, 0);
}
