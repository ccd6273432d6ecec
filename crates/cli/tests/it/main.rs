//! The `segue` command as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalog;
mod errors;
mod memory;
mod output;
mod stopping;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A file or folder of the repository.
fn repository(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

fn segue() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.arg("query").stdin(Stdio::null());
    command
}

/// What a query prints, over the given recordings.
fn query<S: AsRef<OsStr>>(recordings: &[S], more: &[&str]) -> Output {
    let mut command = segue();
    for dir in recordings {
        command.arg("--recordings").arg(dir);
    }
    command.args(more).output().unwrap()
}

/// Standard output of a query over the examples that succeeds and has nothing to say beside it.
fn answer(more: &[&str]) -> String {
    let output = query(&[repository("examples/recordings")], more);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}
