//! `segment_stream(…)`: how it is called, and what it says to who calls it wrongly.

use std::sync::Arc;

use datafusion::prelude::SessionContext;
use segue::chunk::testing::{ChunkBuilder, ScriptedSource};
use segue::{ErrorCode, error_message, find_segue_error, install};

use crate::support::{examples, rows, session};

#[tokio::test]
async fn a_call_reads_what_the_table_of_the_index_reads() {
    let session = session(examples()).await;
    let of_table = rows(
        &session,
        "SELECT * FROM robots.frame_nr ORDER BY 1, frame_nr",
    )
    .await;
    assert!(of_table.len() > 100);
    for call in [
        "segment_stream('robots', 'frame_nr')",
        "SEGMENT_STREAM('rob' || 'ots', 'frame_nr')",
        "LATERAL segment_stream('robots', 'frame_nr')",
        "segment_stream('robots', 'frame_nr', contents => '/**')",
        "segment_stream('robots', 'frame_nr', contents := ['/**'])",
        "segment_stream('robots', 'frame_nr', fill => 'none', duplicates => 'last', unnest => 'off', \
         static_columns => 'both', empty_columns => false, tombstone_columns => false)",
    ] {
        let sql = format!("SELECT * FROM {call} ORDER BY 1, frame_nr");
        assert!(rows(&session, &sql).await == of_table, "{call}");
    }
    let of_static = rows(&session, "SELECT * FROM robots._static ORDER BY 1").await;
    let sql = "SELECT * FROM segment_stream('robots', NULL) ORDER BY 1";
    assert_eq!(rows(&session, sql).await, of_static);
}

#[tokio::test]
async fn options_narrow_what_is_read() {
    let session = session(examples()).await;
    for (options, count) in [
        ("contents => '/sensor/pressure'", "52"),
        ("contents => ['/sensor/**', '-/sensor/temp']", "52"),
        ("contents => []", "0"),
        (
            "contents => '/sensor/pressure', segments => ['scalars_0', 'nobody']",
            "50",
        ),
        (
            "contents => '/sensor/pressure', segments => ['ooo' || '_0']",
            "2",
        ),
        ("segments => []", "0"),
    ] {
        let sql = format!(
            "SELECT count(*) FROM segment_stream('robots', 'frame_nr', {options}) WHERE rerun_segment_id IN
             ('scalars_0', 'ooo_0')"
        );
        assert_eq!(rows(&session, &sql).await, [count], "{options}");
    }
}

#[tokio::test]
async fn calls_can_be_joined_named_explained_viewed_and_prepared() {
    let session = session(examples()).await;
    let call = "segment_stream('robots', 'frame_nr', contents => '/sensor/temp')";
    let joined = format!(
        "SELECT count(*) FROM {call} AS a JOIN {call} b
         ON a.rerun_segment_id = b.rerun_segment_id AND a.frame_nr = b.frame_nr
         WHERE a.rerun_segment_id = 'scalars_0'"
    );
    let alone = format!("SELECT count(*) FROM {call} AS t WHERE t.rerun_segment_id = 'scalars_0'");
    assert_eq!(rows(&session, &joined).await, rows(&session, &alone).await);
    let explained = rows(&session, &format!("EXPLAIN {alone}")).await.join("\n");
    assert!(
        explained.contains("TableScan: segment_stream"),
        "{explained}"
    );
    for define in ["CREATE VIEW v AS", "PREPARE p AS"] {
        let frame = session.sql(&format!("{define} {alone}")).await.unwrap();
        frame.collect().await.unwrap();
    }
    assert_eq!(
        rows(&session, "SELECT * FROM v").await,
        rows(&session, "EXECUTE p").await
    );
}

#[tokio::test]
async fn the_function_is_listed() {
    let session = session(examples()).await;
    let functions = rows(&session, "SHOW FUNCTIONS LIKE 'segment_stream'").await;
    assert_eq!(functions.len(), 1, "{functions:?}");
}

#[tokio::test]
async fn a_wrong_call_says_what_is_wrong_with_it() {
    use ErrorCode::{InvalidArgument, InvalidOption, UnknownDataset, UnknownEntity, UnknownIndex};
    let session = session(examples()).await;
    for (arguments, code, words) in [
        (
            "'robot', 'frame_nr'",
            UnknownDataset,
            "did you mean 'robots'?",
        ),
        (
            "'robots', 'frame'",
            UnknownIndex,
            "did you mean 'frame_nr'?",
        ),
        (
            "'robots', 'frame_nr', contens => '/a'",
            InvalidOption,
            "did you mean 'contents'?",
        ),
        (
            "'robots', 'frame_nr', \"Contents\" => '/a'",
            InvalidOption,
            "no option 'Contents'",
        ),
        (
            "'robots', 'frame_nr', segments => ['a'], SEGMENTS => ['b']",
            InvalidOption,
            "'segments' of segment_stream is given twice",
        ),
        (
            "'robots', 'frame_nr', segments => 'a'",
            InvalidOption,
            "takes a list of text",
        ),
        (
            "'robots', 'frame_nr', segments => ['a', NULL]",
            InvalidOption,
            "takes a list of text",
        ),
        (
            "'robots', 'frame_nr', segments => NULL",
            InvalidOption,
            "not NULL",
        ),
        (
            "'robots', 'frame_nr', contents => 3",
            InvalidOption,
            "text or a list of text, not 3",
        ),
        (
            "'robots', 'frame_nr', contents => [1]",
            InvalidOption,
            "text or a list of text",
        ),
        (
            "'robots', 'frame_nr', contents => 'a/**/b'",
            InvalidArgument,
            "a/**/b",
        ),
        (
            "'robots', 'frame_nr', fill => 'latest'",
            InvalidOption,
            "takes 'none' or 'latest_at', not 'latest'",
        ),
        (
            "'robots', 'frame_nr', fill => true",
            InvalidOption,
            "'none' or 'latest_at'",
        ),
        (
            "'robots', 'frame_nr', index_values => 1",
            InvalidOption,
            "takes a list, or a map from segments to lists, not 1",
        ),
        (
            "'robots', 'frame_nr', index_values => MAP {1: [2]}",
            InvalidOption,
            "a map from segments to lists",
        ),
        (
            "'robots', 'frame_nr', index_values => [1, 2.5]",
            InvalidArgument,
            "2.5 of type Float64 is no value of the index 'frame_nr'",
        ),
        (
            "'robots', 'frame_nr', index_values => ['1']",
            InvalidArgument,
            "no value of the index",
        ),
        (
            "'robots', 'frame_nr', index_values => [1, NULL]",
            InvalidArgument,
            "NULL of type Int64 is no value of the index",
        ),
        (
            "'robots', 'frame_nr', index_values => [1, 3, 1]",
            InvalidArgument,
            "1 is given twice",
        ),
        (
            "'robots', NULL, index_values => [1]",
            InvalidOption,
            "only be given by an index",
        ),
        (
            "'robots', 'frame_nr', duplicates => 'all', index_values => [1]",
            InvalidOption,
            "all duplicates cannot be read at them",
        ),
        (
            "'robots', NULL, duplicates => 'all'",
            InvalidOption,
            "only be read by an index",
        ),
        (
            "'robots', 'frame_nr', static_columns => 'off'",
            InvalidOption,
            "'both' or 'only' or 'none'",
        ),
        (
            "'robots', 'frame_nr', empty_columns => 'true'",
            InvalidOption,
            "takes true or false",
        ),
        (
            "'robots', 'frame_nr', tombstone_columns => NULL",
            InvalidOption,
            "takes true or false, not NULL",
        ),
        (
            "'robots', 'frame_nr', unnest => 'all'",
            InvalidOption,
            "takes 'off', 'auto' or a list of rules, not 'all'",
        ),
        (
            "'robots', 'frame_nr', unnest => [NULL]",
            InvalidOption,
            "not [NULL]",
        ),
        (
            "'robots', 'frame_nr', index_values => [INTERVAL '1 day']",
            InvalidArgument,
            "1 days of type Interval",
        ),
        (
            "'robots', 'frame_nr', index_values => MAP {'a': [1], 'a': [2]}",
            InvalidArgument,
            "computing it fails",
        ),
        (
            "'robots', 'frame_nr', unnest => ['/no/such']",
            UnknownEntity,
            "no entity '/no/such'",
        ),
        ("'robots'", InvalidArgument, "takes a dataset and an index"),
        ("", InvalidArgument, "takes a dataset and an index"),
        (
            "'robots', 'frame_nr', '/a'",
            InvalidArgument,
            "takes a dataset and an index",
        ),
        (
            "'robots', contents => '/a', 'frame_nr'",
            InvalidArgument,
            "'frame_nr' follows an option",
        ),
        (
            "1, 'frame_nr'",
            InvalidArgument,
            "the dataset of segment_stream is a text, not 1",
        ),
        (
            "'robots', 7",
            InvalidArgument,
            "the index of segment_stream is a text, not 7",
        ),
        ("'robots', *", InvalidArgument, "cannot have the argument *"),
        (
            "'robots', $1",
            InvalidArgument,
            "the index of segment_stream has to be known",
        ),
        (
            "'robots', 'frame_nr', contents => $x",
            InvalidArgument,
            "$x has a parameter",
        ),
        (
            "'robots', (SELECT 'frame_nr')",
            InvalidArgument,
            "is a query",
        ),
        (
            "'robots', 'frame_nr', contents => (SELECT '/a')",
            InvalidArgument,
            "is a query",
        ),
        (
            "'robots', 'frame_nr', contents => '/a' || (SELECT '/b')",
            InvalidArgument,
            "has a query",
        ),
        (
            "'robots', 'frame_nr', contents => '/' || random()::text",
            InvalidArgument,
            "no value of its own",
        ),
    ] {
        let sql = format!("SELECT * FROM segment_stream({arguments})");
        let error = session.sql(&sql).await.unwrap_err();
        let message = error_message(&error);
        let found = find_segue_error(&error).map(segue::Error::code);
        assert_eq!(found, Some(code), "{sql}: {message}");
        assert!(message.contains(words), "{sql}: {message}");
    }
    let sample = "SELECT * FROM segment_stream('robots', 'frame_nr') WITH ORDINALITY";
    let error = session.sql(sample).await.unwrap_err();
    assert_eq!(
        find_segue_error(&error).map(segue::Error::code),
        Some(ErrorCode::Unsupported)
    );
    // A column of another table is no constant.
    let lateral =
        "SELECT * FROM robots.frame_nr f, LATERAL segment_stream(f.rerun_segment_id, 'frame_nr')";
    let error = session.sql(lateral).await.unwrap_err();
    assert!(
        error_message(&error).contains("f.rerun_segment_id has a column"),
        "{error}"
    );
}

#[tokio::test]
async fn an_engines_own_session_refreshes_before_it_calls() {
    let context = SessionContext::new();
    let catalog = install(&context, examples(), "rec").await.unwrap();
    let sql = "SELECT * FROM segment_stream('robots', 'frame_nr', segments => ['scalars_0'])";
    let error = context.sql(sql).await.unwrap_err();
    let error = find_segue_error(&error).unwrap();
    assert_eq!(error.code(), ErrorCode::DatasetNotLoaded, "{error}");
    assert!(error.message().contains("'robots'"), "{error}");
    catalog.refresh().await.unwrap();
    let batches = context.sql(sql).await.unwrap().collect().await.unwrap();
    assert!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>() > 0);
    let error = context
        .sql("SELECT * FROM segment_stream('robot', 'x')")
        .await
        .unwrap_err();
    assert!(
        error_message(&error).contains("did you mean 'robots'?"),
        "{error}"
    );
}

#[tokio::test]
async fn a_call_asks_for_the_columns_of_its_dataset_each_time_and_for_no_other() {
    let chunk = || {
        let chunk = ChunkBuilder::new("s", "/a").sequence("frame", [1, 2]);
        chunk.floats("x", [Some(1.0), Some(2.0)]).build()
    };
    let source = ScriptedSource::new()
        .dataset("a", [chunk()])
        .dataset("b", [chunk()]);
    let source = Arc::new(source);
    let session = session(Arc::clone(&source) as _).await;
    for calls in 1..3 {
        session
            .sql("SELECT * FROM segment_stream('a', 'frame')")
            .await
            .unwrap();
        assert_eq!(source.counts().schemas, calls);
    }
}
