//! Where SQL comes from, and several statements of it.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::{EXAMPLES, answer, failure, printed, segue};

/// Runs `command` with `input` on its standard input.
fn fed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

const SQL: &str = "CREATE VIEW v AS SELECT 'a;b' AS x; -- one; more
SELECT * FROM v;
SELECT 2 AS y;
";

const ANSWERS: &str = "x\na;b\n\ny\n2\n";

#[test]
fn statements_run_in_one_session_wherever_they_come_from() {
    assert_eq!(answer(&["--format=csv", SQL]), ANSWERS);

    let dir = TempDir::new().unwrap();
    let file = dir.path().join("statements.sql");
    fs::write(&file, SQL).unwrap();
    let mut from_file = segue();
    from_file
        .args(EXAMPLES)
        .arg("--format=csv")
        .arg("-f")
        .arg(&file);
    assert_eq!(printed(&mut from_file), ANSWERS);

    fs::write(&file, format!("\u{feff}{SQL}")).unwrap();
    assert_eq!(printed(&mut from_file), ANSWERS);

    for more in [&[][..], &["-"], &["-f", "-"]] {
        let output = fed(
            segue().args(EXAMPLES).arg("--format=csv").args(more),
            SQL.as_bytes(),
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{more:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), ANSWERS, "{more:?}");
    }
}

#[test]
fn the_first_error_ends_them_and_says_where_it_was() {
    let sql = "SELECT 1 AS x;\n\nSELECT 2 AS y\n FROM;\nSELECT 3 AS z";
    let output = segue()
        .args(EXAMPLES)
        .args(["--format=csv", sql])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "x\n1\n");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error: statement 2: "), "{stderr}");
    // As an editor counts, not from the start of the statement.
    assert!(!stderr.contains("Line: 2,"), "{stderr}");
}

#[test]
fn an_error_of_the_only_statement_has_no_number() {
    let line = failure(segue().args(EXAMPLES).arg("SELECT * FROM robot.x;"), 1);
    assert!(line.starts_with("error: no dataset 'robot'"), "{line}");
}

#[test]
fn a_place_in_a_later_line_is_the_one_of_the_file() {
    let sql = "SELECT 1;\n\n  SELECT 2 +;";
    let output = segue().args(EXAMPLES).arg(sql).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr.lines().last().unwrap();
    assert!(
        line.contains("found: EOF") || line.contains("Line: 3, Column: 13"),
        "{line}"
    );
}

#[test]
fn input_without_a_statement_or_that_cannot_be_read_is_an_error() {
    let output = fed(segue().args(EXAMPLES), b" -- nothing\n;\n");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr, "error: there is no SQL on standard input\n");

    let output = fed(segue().args(EXAMPLES), b"SELECT '\xff'");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        stderr,
        "error: cannot read SQL from standard input: it is no UTF-8 text\n"
    );

    let dir = TempDir::new().unwrap();
    for (name, content) in [("empty", &b""[..]), ("binary", b"\xff\xfe")] {
        let file = dir.path().join(name);
        fs::write(&file, content).unwrap();
        let line = failure(segue().args(EXAMPLES).arg("--file").arg(&file), 1);
        assert!(line.contains(&file.display().to_string()), "{line}");
    }
    let line = failure(segue().args(EXAMPLES).arg("--file").arg(dir.path()), 1);
    assert!(line.contains("directory"), "{line}");
}

#[test]
fn a_dataset_that_cannot_be_read_is_warned_of_once_where_it_is_listed() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("broken")).unwrap();
    fs::write(dir.path().join("broken/junk.rrd"), "this is no recording").unwrap();
    let mut command = segue();
    command.arg("--recordings").arg(dir.path()).args(EXAMPLES);
    let output = command
        .args(["--format=csv", "SHOW TABLES; SHOW TABLES"])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout.matches(",robots,frame_nr,").count(), 2, "{stdout}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(
        stderr.starts_with("warning: dataset 'broken' cannot be read: "),
        "{stderr}"
    );
    assert!(stderr.contains("junk.rrd"), "{stderr}");
}
