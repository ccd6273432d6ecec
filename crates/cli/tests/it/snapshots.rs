//! Errors and plans, word for word.

use std::fmt::Write;

use insta::assert_snapshot;

use crate::{EXAMPLES, command, failure, printed, segue};

#[test]
fn errors_are_as_they_were() {
    let mut lines = String::new();
    let mut note = |name: &str, code: i32, args: &[&str]| {
        let line = failure(command(name).args(EXAMPLES).args(args), code);
        writeln!(lines, "$ segue {name} {}\n{line}", args.join(" ")).unwrap();
    };
    for sql in [
        "SELECT (1 +",
        "CREATE VIEW v AS SELECT 1; SELECT (1 +",
        "SELECT 'a",
        "SELECT * FROM robot.frame_nr",
        "SELECT * FROM robots.frame",
        "SELECT frame FROM robots.frame_nr",
        "SELECT * FROM nothing",
        "SELECT * FROM segment_stream('robots', 'fram_nr')",
        "SELECT * FROM segment_stream('robots', 'frame_nr', content => '/**')",
        "SELECT 1 / (value - 1) FROM generate_series(1, 3)",
        "SELECT arrow_cast(9000000000000, 'Timestamp(Second, None)') AS t",
        "DROP TABLE robots.frame_nr",
        "SET segue_stream.unit_byte = 1",
        " -- nothing",
    ] {
        note("query", 1, &[sql]);
    }
    note("query", 1, &["--file", "no/such.sql"]);
    note(
        "query",
        1,
        &["--set", "segue_stream.unit_byte=1", "SELECT 1"],
    );
    note(
        "query",
        1,
        &["--set", "segue_stream.unit_bytes=0", "SELECT 1"],
    );
    note("query", 1, &["--output", "no/such/folder.csv", "SELECT 1"]);
    note(
        "query",
        1,
        &["--output", "examples", "--format=csv", "SELECT 1"],
    );
    note("query", 2, &["--output", "rows.xlsx", "SELECT 1"]);
    note(
        "query",
        1,
        &["--format", "parquet", "CREATE VIEW v AS SELECT 1"],
    );
    note("datasets", 2, &["--output", "names"]);
    note("schema", 1, &["robot"]);
    note("schema", 1, &["robots", "--index", "fram_nr"]);
    note("segments", 1, &["robot"]);
    assert_snapshot!(lines);
}

#[test]
fn a_plan_is_explained_as_it_was() {
    let sql = "EXPLAIN SELECT rerun_segment_id, frame_nr, \"/sensor/temp:Scalars:scalars\"[1] AS temp
        FROM robots.frame_nr
        WHERE rerun_segment_id = 'scalars_0' AND frame_nr >= 10 AND \"/sensor/temp:Scalars:scalars\"[1] > 20
        ORDER BY rerun_segment_id, frame_nr LIMIT 3";
    let partitions = "datafusion.execution.target_partitions=2";
    let plan = printed(segue().args(EXAMPLES).args(["--set", partitions, sql]));
    assert_snapshot!(plan);
}
