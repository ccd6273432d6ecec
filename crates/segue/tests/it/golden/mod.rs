//! Answers of a real server and client, kept in `tests/golden`, from wherever recordings can come.

mod case;
mod identical;
pub(crate) mod served;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use segue::chunk::{ChunkSource, LocalSource};
use segue::client::RemoteSource;
use segue::{ErrorCode, SegueSession, find_segue_error};
use tokio::task::{JoinError, JoinSet};

use self::case::{Case, cases};
use self::served::{FORMS, Served};
use crate::support::{SETTINGS, repository, session_at};

/// Fewer than of folders: what the protocol changes is below them.
const REMOTE_SETTINGS: [(usize, usize); 3] = [(1, 8192), (7, 3), (7, 8192)];

/// Names a server with the recordings of the cases.
const CATALOG: &str = "SEGUE_GOLDEN_CATALOG";

/// The recordings of the cases, under the names that the cases use.
fn folders() -> LocalSource {
    LocalSource::builder()
        .dataset("rrd", repository("examples/recordings/robots"))
        .dataset("real", repository("examples/recordings/drive"))
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_answers_of_a_real_server_come_from_folders_at_all_partitions_and_batch_sizes() {
    check_all(&(Arc::new(folders()) as _), &SETTINGS).await;
}

#[tokio::test]
async fn the_same_answers_come_from_a_catalog_in_either_form_of_the_protocol() {
    for form in FORMS {
        let served = Served::start(folders(), form).await;
        check_all(&served.source, &REMOTE_SETTINGS).await;
    }
}

#[tokio::test]
async fn the_same_answers_come_from_the_catalog_that_is_named() {
    let Ok(url) = std::env::var(CATALOG) else {
        println!("skipped: {CATALOG} names no catalog");
        return;
    };
    let source = RemoteSource::builder(&url).connect().await.unwrap();
    let cases = check_all(&(Arc::new(source) as _), &REMOTE_SETTINGS).await;
    // `cargo xtask interop` looks for this.
    println!("{cases} cases from {url}");
}

/// Runs every case at every setting, and panics with all that went wrong. Gives the number of cases.
async fn check_all(source: &Arc<dyn ChunkSource>, settings: &[(usize, usize)]) -> usize {
    let mut ran: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    let cases: Vec<Arc<Case>> = cases().into_iter().map(Arc::new).collect();
    for &(partitions, batch_size) in settings {
        let session = session_at(Arc::clone(source), partitions, batch_size).await;
        for case in &cases {
            let context = format!(
                "{} at {partitions} partitions of {batch_size} rows",
                case.name
            );
            // Each case in a task, so that one that fails does not hide the others.
            let mut task = JoinSet::new();
            task.spawn(run(session.clone(), Arc::clone(case)));
            match task.join_next().await.unwrap() {
                Ok(rows) if rows <= batch_size => {
                    *ran.entry(case.dataset.clone()).or_default() += 1;
                }
                Ok(rows) => failures.push(format!("{context}: a batch of {rows} rows")),
                Err(error) => failures.push(format!("{context}: {}", reason(error))),
            }
        }
    }
    assert!(failures.is_empty(), "failed: {failures:#?}");
    let all = settings.len();
    let expected = BTreeMap::from([("rrd".to_owned(), 42 * all), ("real".to_owned(), 2 * all)]);
    assert_eq!(ran, expected);
    cases.len()
}

/// Runs a case and checks its answer; gives the number of rows of the largest batch.
async fn run(session: SegueSession, case: Arc<Case>) -> usize {
    let frame = session.sql(&case.sql).await;
    if case.is_error {
        let error = frame.unwrap_err();
        let error = find_segue_error(&error).unwrap();
        let (code, says) = match case.name.as_str() {
            "q48_unknown_index" => (ErrorCode::UnknownIndex, "'nope'"),
            "q49_dup_index_values" => (ErrorCode::InvalidArgument, "3 is given twice"),
            name => panic!("what is the error of {name}?"),
        };
        assert_eq!(error.code(), code);
        assert!(error.message().contains(says), "{}", error.message());
        return 0;
    }
    let frame = frame.unwrap();
    let schema = Arc::clone(frame.schema().inner());
    let batches = frame.collect().await.unwrap();
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    case.check(&concat_batches(&schema, &batches).unwrap());
    let largest = batches.iter().map(RecordBatch::num_rows).max();
    largest.unwrap_or(0)
}

/// What the panic of a case said.
fn reason(error: JoinError) -> String {
    match error.into_panic().downcast::<String>() {
        Ok(message) => *message,
        Err(_) => "no reason".to_owned(),
    }
}
