//! SQL logic tests: the statements in `tests/slt/*.slt`, each of which has the same answer in every way.
//!
//! * `plain`: DataFusion's own tables in memory, which hold the rows of the tables of the catalog;
//! * `folder`: Segue over folders;
//! * `served`: Segue over a server in the same process, in either form of the protocol.
//!
//! A record that uses what only Segue has begins with `skipif plain`. In an answer, NULL is `NULL`, an empty text is
//! `(empty)`, all else is as Arrow shows it, and runs of white space count as one. Types are checked elsewhere.

mod ways;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqllogictest::Runner;

use crate::golden::served::{FORMS, Served};
use crate::support::{examples, repository};
use ways::{Database, Way};

/// Partitions and batch sizes at which every answer is the same.
const SETTINGS: [(usize, usize); 9] = [
    (1, 1),
    (1, 3),
    (1, 8192),
    (2, 1),
    (2, 3),
    (2, 8192),
    (7, 1),
    (7, 3),
    (7, 8192),
];

/// Fewer than of folders: what the protocol changes is below them.
const REMOTE_SETTINGS: [(usize, usize); 2] = [(1, 8192), (7, 3)];

fn files() -> Vec<PathBuf> {
    let folder = repository("crates/segue/tests/slt");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension() == Some("slt".as_ref()))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    files
}

/// How many statements of a file run in a way: all, unless they are marked as not for plain tables.
fn statements(file: &Path, label: &str) -> usize {
    let text = std::fs::read_to_string(file).unwrap();
    let begin = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
    let skipped = begin("skipif plain");
    let marks = begin("skipif") + begin("onlyif") + begin("halt");
    assert_eq!(marks, skipped, "{file:?} has marks that are not counted");
    let all = begin("query") + begin("statement");
    assert!(all > 0, "{file:?}");
    all - if label == "plain" { skipped } else { 0 }
}

/// Runs all files in one way.
async fn check(way: &Way, label: &str, settings: &[(usize, usize)]) {
    let mut wrong = Vec::new();
    for file in files() {
        for &(partitions, batch_size) in settings {
            let ran = Arc::new(AtomicUsize::new(0));
            let open = || Database::open(way, partitions, batch_size, Arc::clone(&ran));
            let mut runner = Runner::new(open);
            runner.add_label(label);
            if let Err(error) = runner.run_file_async(&file).await {
                let at = format!("{label} at {partitions} partitions of {batch_size} rows");
                wrong.push(format!("{at}: {}", error.display(false)));
                // The other settings would say the same.
                break;
            }
            assert_eq!(
                ran.load(Ordering::Relaxed),
                statements(&file, label),
                "{file:?}"
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn plain_tables_have_the_answers() {
    check(&Way::plain().await, "plain", &SETTINGS).await;
}

#[tokio::test]
async fn folders_have_the_answers() {
    check(&Way::Source(examples()), "folder", &SETTINGS).await;
}

#[tokio::test]
async fn servers_have_the_answers() {
    for form in FORMS {
        let served = Served::start(ways::folders(), form).await;
        let way = Way::Source(Arc::clone(&served.source));
        check(&way, "served", &REMOTE_SETTINGS).await;
    }
}

/// Writes what the folder way answers into the files, for who has changed them and reads the difference.
#[tokio::test]
#[ignore = "it changes the files"]
async fn answers_are_written() {
    let way = Way::Source(examples());
    for file in files() {
        let mut runner = Runner::new(|| Database::open(&way, 2, 8192, Arc::default()));
        runner.add_label("folder");
        let validator = sqllogictest::default_validator;
        let columns = sqllogictest::default_column_validator;
        let normalizer = sqllogictest::default_normalizer;
        runner
            .update_test_file(&file, " ", validator, normalizer, columns)
            .await
            .unwrap();
    }
}
