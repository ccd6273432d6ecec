//! `--set` and `--timing`.

use crate::{EXAMPLES, answer, failure, segue};

#[test]
fn a_setting_is_what_a_statement_would_have_made_it() {
    let show = "SHOW segue_stream.unit_bytes; SHOW datafusion.execution.batch_size;
        SHOW datafusion.runtime.memory_limit";
    let settings = [
        "--set=segue_stream.unit_bytes=77",
        "--set",
        "datafusion.execution.batch_size = 5",
        "--set=datafusion.runtime.memory_limit=100M",
        "--format=json",
        show,
    ];
    let expected = r#"{"name":"segue_stream.unit_bytes","value":"77"}
{"name":"datafusion.execution.batch_size","value":"5"}
{"name":"datafusion.runtime.memory_limit","value":"100M"}
"#;
    assert_eq!(answer(&settings), expected);
}

#[test]
fn a_value_that_a_setting_cannot_have_is_an_error_that_names_both() {
    for setting in [
        "datafusion.execution.batch_size=many",
        "datafusion.runtime.memory_limit=much",
        "segue_stream.batch_bytes=-1",
        "segue_stream.batch_bytes=",
    ] {
        let line = failure(
            segue().args(EXAMPLES).args(["--set", setting, "SELECT 1"]),
            1,
        );
        assert!(
            line.starts_with(&format!("error: --set {setting}: ")),
            "{line}"
        );
    }
}

#[test]
fn every_statement_is_timed_on_standard_error() {
    let sql = "CREATE VIEW v AS SELECT 1 AS x; SELECT * FROM v; SELECT * FROM v WHERE x > 1";
    let mut command = segue();
    let output = command
        .args(EXAMPLES)
        .args(["--timing", "--format=csv", sql])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "x\n1\n\nx\n");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{stderr}");
    for (number, rows) in [(1, "0 rows"), (2, "1 row"), (3, "0 rows")] {
        let line = lines[number - 1];
        let start = format!("statement {number}: planned in ");
        assert!(line.starts_with(&start) && line.ends_with(rows), "{line}");
    }
}

#[test]
fn the_window_is_as_large_as_it_is_said_to_be() {
    let explain = "EXPLAIN VERBOSE SELECT * FROM robots.frame_nr";
    for (arguments, window) in [
        (
            &["--window=64M", explain][..],
            "window=[bytes=67108864, share=67108864, ",
        ),
        (&[explain], "window=[bytes=268435456, share=268435456, "),
        (
            &["--set=datafusion.runtime.memory_limit=100M", explain],
            "window=[bytes=26214400, share=26214400, ",
        ),
    ] {
        let shown = answer(arguments);
        assert!(shown.contains(window), "{arguments:?}: {shown}");
    }
    for wrong in ["0", "64MB", "much"] {
        let output = segue()
            .args(EXAMPLES)
            .args(["--window", wrong, "SELECT 1"])
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains("a number of bytes greater than 0 is wanted"),
            "{stderr}"
        );
    }
}
