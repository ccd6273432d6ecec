//! Answers.

use std::fs;

use crate::{answer, query, repository};

#[test]
fn a_question_is_answered_with_a_table() {
    let sql =
        "SELECT rerun_segment_id, count(*) AS frames, max(frame_nr) AS last FROM robots.frame_nr
        WHERE rerun_segment_id LIKE 'scalars_%' GROUP BY 1 ORDER BY 1";
    let expected = "\
rerun_segment_id  frames  last
----------------  ------  ----
scalars_0         100     99
scalars_1         100     99
scalars_2         100     99
(3 rows)
";
    assert_eq!(answer(&[sql]), expected);
}

#[test]
fn csv_is_what_it_was() {
    let golden = repository("crates/cli/tests/golden/mixed.csv");
    let sql = "SELECT * FROM robots.frame_nr WHERE rerun_segment_id IN ('static_0', 'points_0')
        AND frame_nr < 5 ORDER BY rerun_segment_id, frame_nr";
    let printed = answer(&["--format", "csv", sql]);
    assert_eq!(printed, fs::read_to_string(golden).unwrap());
}

#[test]
fn a_folder_can_be_given_a_name() {
    let named = format!(
        "mine={}",
        repository("examples/recordings/robots").display()
    );
    let sql = "SELECT count(*) AS n FROM mine.frame_nr";
    let output = query(&[named], &["--format=csv", sql]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "n\n752\n");
}

#[test]
fn several_folders_make_one_catalog() {
    let named = format!(
        "mine={}",
        repository("examples/recordings/robots").display()
    );
    let all = repository("examples/recordings").display().to_string();
    let sql =
        "SELECT (SELECT count(*) FROM mine.time) = (SELECT count(*) FROM robots.time) AS same";
    let output = query(&[named, all], &["--format=csv", sql]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "same\ntrue\n");
}

#[test]
fn rows_that_came_before_an_error_are_printed() {
    let sql = "SELECT 1 / (value - 20000) AS x FROM generate_series(1, 1000000)";
    let one_order = "--set=datafusion.execution.target_partitions=1";
    let examples = repository("examples/recordings");
    let output = query(&[examples], &["--format=csv", one_order, sql]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8(output.stdout).unwrap();
    // The header, and two batches.
    assert_eq!(printed.lines().count(), 1 + 2 * 8192);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr, "error: Divide by zero error\n");
}

#[test]
fn a_definition_prints_nothing() {
    assert_eq!(answer(&["CREATE VIEW v AS SELECT * FROM robots.time"]), "");
}

#[test]
fn the_plans_of_explain_can_be_read_to_the_end_of_their_lines() {
    let sql = "EXPLAIN SELECT * FROM robots.time ORDER BY rerun_segment_id, time LIMIT 5";
    let printed = answer(&[sql]);
    assert!(!printed.contains(['…', '\u{fffd}']), "{printed}");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "logical_plan:");
    let physical = lines.iter().position(|line| *line == "physical_plan:");
    let physical = &lines[physical.unwrap() + 1..];
    assert!(physical.iter().any(|line| line.len() > 200), "{printed}");
    let columns = r#"/sensor/temp:Scalars:scalars"#;
    assert!(
        physical.iter().any(|line| line.contains(columns)),
        "{printed}"
    );
}

#[test]
fn the_help_shows_how_columns_are_quoted() {
    let output = crate::segue().arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.contains(r#""/sensor/temp:Scalars:scalars""#), "{help}");
}
