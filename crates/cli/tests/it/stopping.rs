//! Ends that are not the query's own.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use crate::{repository, segue};

/// A query whose output never ends as far as a pipe is concerned, and of which something was read.
fn endless(format: &str) -> Child {
    let mut child = segue()
        .arg("--recordings")
        .arg(repository("examples/recordings"))
        .args([
            "--format",
            format,
            "SELECT value FROM generate_series(1, 1000000000000)",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 5];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut start)
        .unwrap();
    assert_eq!(&start, b"value");
    child
}

fn stderr(child: &mut Child) -> String {
    let mut text = String::new();
    child
        .stderr
        .as_mut()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[test]
fn a_reader_that_goes_away_is_no_error_to_report() {
    for format in ["csv", "table"] {
        let mut child = endless(format);
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(141));
        assert_eq!(stderr(&mut child), "");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_query_even_while_nobody_reads_its_output() {
    let mut child = endless("csv");
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(stderr(&mut child), "");
}
