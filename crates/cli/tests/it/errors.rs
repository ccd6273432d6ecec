//! Mistakes: one line each.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::{query, repository};

/// Checks that the query fails with exactly one line, which has all of `words` in it.
fn fails(recordings: &[&Path], sql: &str, words: &[&str]) {
    let output = query(recordings, &[sql]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{stderr}");
    assert!(
        stderr.starts_with("error: ") && stderr.ends_with('\n'),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word} is not in: {stderr}");
    }
}

fn copy(recording: &str, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(repository("examples/recordings/robots").join(recording), to).unwrap();
}

#[test]
fn a_folder_without_recordings() {
    let dir = TempDir::new().unwrap();
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    fails(&[dir.path()], "SELECT 1", &[name]);
}

#[test]
fn a_folder_that_is_not_there() {
    let dir = TempDir::new().unwrap();
    fails(&[&dir.path().join("missing")], "SELECT 1", &["missing"]);
}

#[test]
fn a_file_that_is_not_a_recording() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::write(dir.path().join("d/junk.rrd"), "this is no recording").unwrap();
    fails(&[dir.path()], "SELECT * FROM d.frame_nr", &["junk.rrd"]);
}

#[test]
fn an_unknown_dataset_index_or_column() {
    let examples = repository("examples/recordings");
    fails(
        &[&examples],
        "SELECT * FROM robot.frame_nr",
        &["'robot'", "'robots'"],
    );
    fails(
        &[&examples],
        "SELECT * FROM robots.frame",
        &["'frame'", "'frame_nr'"],
    );
    fails(
        &[&examples],
        "SELECT frame FROM robots.frame_nr",
        &["column frame;", "frame_nr"],
    );
}

#[test]
fn two_datasets_of_one_name() {
    let dir = TempDir::new().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    for parent in [&a, &b] {
        copy("scalars_0.rrd", &parent.join("same/scalars_0.rrd"));
    }
    let path = |parent: &Path| parent.join("same").display().to_string();
    fails(&[&a, &b], "SELECT 1", &["'same'", &path(&a), &path(&b)]);
}

#[test]
fn sql_that_cannot_be_understood_or_carried_out() {
    let examples = repository("examples/recordings");
    fails(&[&examples], "SELECT (1 +", &["found: EOF"]);
    fails(
        &[&examples],
        "SELECT 1 / (value - 1) FROM generate_series(1, 3)",
        &["Divide by zero"],
    );
}

#[test]
fn a_message_cannot_talk_to_the_terminal() {
    let examples = repository("examples/recordings");
    for sql in [
        "SELECT * FROM \"a\u{1b}[2J\u{7}b\".frame_nr",
        "SELECT \"a\u{1b}[2J\u{7}b\" FROM robots.frame_nr",
        "SELECT * FROM robots.frame_nr WHERE \u{1b}[2J\u{7}b",
    ] {
        fails(&[&examples], sql, &[]);
        let output = query(&[&examples], &[sql]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        let text = stderr.trim_end_matches('\n');
        assert!(!text.contains(char::is_control), "{stderr:?}");
    }
}

#[test]
fn a_wrong_command_line_is_told_from_a_failed_query() {
    let examples = repository("examples/recordings");
    for more in [
        &["--format", "xml", "SELECT 1"][..],
        &["--set", "x", "SELECT 1"],
        &["--file", "x.sql", "SELECT 1"],
        &["--output", "x.txt", "SELECT 1"],
    ] {
        let output = query(&[&examples], more);
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{more:?}");
    }
    assert_eq!(query::<&str>(&[], &["SELECT 1"]).status.code(), Some(2));
}
