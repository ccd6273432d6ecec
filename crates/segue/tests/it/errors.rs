//! What a person who made a mistake gets to read.

use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use segue::{ErrorCode, error_message, find_segue_error, install};

use crate::support::{examples, session};

/// Checks that the error is Segue's, with this code, and one line that names all of `names`.
fn check(error: &DataFusionError, code: ErrorCode, names: &[&str]) {
    let found = find_segue_error(error).unwrap_or_else(|| panic!("not of Segue: {error}"));
    let message = error_message(error);
    assert_eq!(found.code(), code, "{message}");
    assert_eq!(message, found.message());
    assert_eq!(message.lines().count(), 1, "{message}");
    for name in names {
        assert!(message.contains(name), "{name} is not in: {message}");
    }
}

#[tokio::test]
async fn unknown_names_come_with_the_nearest_ones() {
    let session = session(examples()).await;
    let temp = "\"/sensor/temp:Scalars:scalars\"";
    for (sql, code, names) in [
        (
            "SELECT * FROM robot.frame_nr",
            ErrorCode::UnknownDataset,
            ["'robot'", "'robots'"],
        ),
        (
            "SELECT * FROM robots.frame",
            ErrorCode::UnknownIndex,
            ["'frame'", "'frame_nr'"],
        ),
        (
            "SELECT * FROM robots._chunk",
            ErrorCode::UnknownIndex,
            ["'_chunk'", "'_chunks'"],
        ),
        (
            "SELECT * FROM robots.\"Time\"",
            ErrorCode::UnknownIndex,
            ["'Time'", "'time'"],
        ),
        (
            "SELECT frame FROM robots.frame_nr",
            ErrorCode::UnknownColumn,
            ["frame;", "frame_nr"],
        ),
        (
            "SELECT r.\"/sensor/temp\" FROM robots.time r",
            ErrorCode::UnknownColumn,
            ["r.\"/sensor/temp\"", temp],
        ),
        (
            "SELECT * FROM robots",
            ErrorCode::UnknownIndex,
            ["'robots'", "robots.INDEX"],
        ),
    ] {
        let error = session.sql(sql).await.unwrap_err();
        check(&error, code, &names);
    }
}

#[tokio::test]
async fn unknown_names_are_explained_in_an_engines_own_session_too() {
    let context = SessionContext::new();
    install(&context, examples(), "segue").await.unwrap();
    for (sql, code, names) in [
        (
            "SELECT * FROM segue.robot.frame_nr",
            ErrorCode::UnknownDataset,
            ["'robot'", "'robots'"],
        ),
        (
            "SELECT * FROM segue.robots.frame",
            ErrorCode::UnknownIndex,
            ["'frame'", "'frame_nr'"],
        ),
    ] {
        let error = context.sql(sql).await.unwrap_err();
        check(&error, code, &names);
    }
    // The engine's own names stay the engine's business.
    let error = context
        .sql("SELECT * FROM robots.frame_nr")
        .await
        .unwrap_err();
    assert!(find_segue_error(&error).is_none());
}

#[tokio::test]
async fn a_dataset_is_read_only() {
    let session = session(examples()).await;
    for sql in [
        "CREATE VIEW robots.mine AS SELECT 1",
        "CREATE OR REPLACE TABLE robots.frame_nr AS SELECT 1",
        "DROP TABLE robots.frame_nr",
        "DROP VIEW IF EXISTS robots.frame_nr",
        "CREATE TABLE robots.mine AS SELECT 1",
        "CREATE TABLE segue.robots.mine (x INT)",
        "CREATE EXTERNAL TABLE robots.mine STORED AS CSV LOCATION 'x.csv'",
        "INSERT INTO robots.frame_nr VALUES (1)",
        "UPDATE robots.frame_nr SET frame_nr = 1",
    ] {
        let error = session.sql(sql).await.unwrap_err();
        check(&error, ErrorCode::Unsupported, &["'robots'", "'public'"]);
    }
}

#[tokio::test]
async fn errors_of_datafusion_are_one_line_without_its_prefixes() {
    let session = session(examples()).await;
    for (sql, expected) in [
        ("SELECT * FROM nope", "table 'segue.public.nope' not found"),
        ("SELECT nope(1)", "Invalid function 'nope'."),
        ("SELECT (1 +", "Expected: an expression, found: EOF"),
    ] {
        let error = session.sql(sql).await.unwrap_err();
        let message = error_message(&error);
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let frame = session
        .sql("SELECT 1 / (value - 1) FROM generate_series(1, 3)")
        .await
        .unwrap();
    let error = frame.collect().await.unwrap_err();
    assert_eq!(error_message(&error), "Divide by zero error");
}

#[tokio::test]
async fn a_session_without_a_source_is_refused() {
    let error = segue::SegueSession::builder().build().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}
