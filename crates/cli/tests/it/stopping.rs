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
    let mut start = [0; 7];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut start)
        .unwrap();
    let start = String::from_utf8_lossy(&start);
    assert!(start.contains("value"), "{start}");
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
    for format in ["csv", "table", "json"] {
        let mut child = endless(format);
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(141));
        assert_eq!(stderr(&mut child), "");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_stops_a_query_even_while_nobody_reads_its_output() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut child = endless("csv");
        send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(stderr(&mut child), "");
    }
}

#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let kill = Command::new("kill").args([signal, &pid]).status();
    assert!(kill.unwrap().success());
}
