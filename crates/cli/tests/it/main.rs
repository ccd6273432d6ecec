//! The `segue` command as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalog;
mod datasets;
mod errors;
mod files;
mod formats;
mod help;
mod memory;
mod output;
mod settings;
mod snapshots;
mod statements;
mod stopping;
#[cfg(unix)]
mod terminal;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A file or folder of the repository.
fn repository(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// `segue SUBCOMMAND` in the root of the repository, so that paths in its messages are always the same.
fn command(subcommand: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command
        .arg(subcommand)
        .current_dir(repository(""))
        .env_remove("SEGUE_TOKEN")
        .stdin(Stdio::null());
    command
}

/// `segue query`.
fn segue() -> Command {
    command("query")
}

/// The arguments for the examples.
const EXAMPLES: [&str; 2] = ["--recordings", "examples/recordings"];

/// Standard output of a command that succeeds and has nothing to say beside it.
fn printed(command: &mut Command) -> String {
    String::from_utf8(bytes(command)).unwrap()
}

/// The same, as bytes.
fn bytes(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    output.stdout
}

/// The line that a command says when it fails with `code` and prints nothing.
fn failure(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr.trim_end().to_owned()
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
