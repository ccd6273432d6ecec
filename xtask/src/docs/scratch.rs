//! A folder in which a reader could have typed what a page says, and the programs of that reader.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::thread;

use crate::Outcome;
use crate::interop::limits::{Limits, limited};
use crate::process::{command, output, root};

/// Bytes that a block may print.
const MOST: u64 = 256 * 1024;

/// Address space of what a block starts.
const GIBIBYTES: u32 = 16;

/// `cargo run` of what has been built, without looking whether to build it again.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
"run -p segue-cli -- "*) shift 4; exec segue "$@" ;;
"run -p segue --example "*) exec "$EXAMPLES/$5" ;;
esac
echo "cargo $*: pages can only run the program and the examples" >&2
exit 1
"#;

/// What a page has for itself.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Where its blocks run.
    folder: PathBuf,
    /// The programs of its reader.
    programs: PathBuf,
    /// Its Rust, for the compiler.
    pub(super) rust: PathBuf,
}

impl Scratch {
    /// Makes an empty folder but for the recordings.
    pub(super) fn new(page: &str) -> Result<Self, String> {
        let own = root()
            .join("target/xtask/docs")
            .join(page.replace('/', "_"));
        let scratch = Self {
            folder: own.join("clone"),
            programs: own.join("bin"),
            rust: own.join("rust"),
        };
        scratch.fill().map_err(|error| format!("{page}: {error}"))?;
        let recordings = scratch.folder.join("examples/recordings");
        let mut copy = command("cp", &["-R", "examples/recordings"]);
        output(copy.arg(recordings))?;
        Ok(scratch)
    }

    fn fill(&self) -> io::Result<()> {
        for folder in [&self.folder, &self.programs, &self.rust] {
            if folder.exists() {
                fs::remove_dir_all(folder)?;
            }
            fs::create_dir_all(folder)?;
        }
        fs::create_dir(self.folder.join("examples"))?;
        let cargo = self.programs.join("cargo");
        fs::write(&cargo, CARGO)?;
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755))?;
        symlink(
            root().join("target/debug/segue"),
            self.programs.join("segue"),
        )
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A command that runs in the folder, with the reader's programs, for so many seconds at most.
    pub(super) fn command(&self, seconds: u32, program: &str) -> Result<Command, String> {
        let mut command = limited(limits(seconds), program);
        self.place(&mut command)?;
        Ok(command)
    }

    /// A command that runs a script of the shell up to its first error.
    pub(super) fn script(&self, seconds: u32, script: &str) -> Result<Command, String> {
        let mut command = self.command(seconds, "sh")?;
        command.args(["-e", "-c", script]);
        Ok(command)
    }

    /// Lets a command run in the folder, with the reader's programs.
    pub(super) fn place(&self, command: &mut Command) -> Outcome {
        let mut path = vec![self.programs.clone()];
        path.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let path = std::env::join_paths(path).map_err(|error| format!("PATH: {error}"))?;
        command
            .current_dir(&self.folder)
            .env("PATH", path)
            .env("EXAMPLES", root().join("target/debug/examples"))
            .env_remove("SEGUE_TOKEN");
        Ok(())
    }
}

/// What a program of a page may take.
pub(super) fn limits(seconds: u32) -> Limits {
    Limits {
        seconds,
        gibibytes: GIBIBYTES,
    }
}

/// Runs a command of this folder to its end; what it printed, and how it ended. All that it has started
/// ends with it.
pub(super) fn run(program: &mut Command) -> Result<(String, ExitStatus), String> {
    let wrong = |error: io::Error| format!("cannot run: {error}");
    // A group of its own, which can be ended.
    program.process_group(0).stdout(Stdio::piped());
    let mut child = program.spawn().map_err(wrong)?;
    let group = format!("-{}", child.id());
    let reading = child.stdout.take().map(|out| thread::spawn(|| read(out)));
    // Bounded: see `limited`.
    let status = child.wait();
    // What is left would keep the pipe open; that nothing is left is no error.
    let _ = output(&mut command("kill", &["-KILL", "--", &group]));
    let printed = match reading.map(thread::JoinHandle::join) {
        Some(Ok(printed)) => printed.map_err(wrong)?,
        Some(Err(_)) => return Err("reading what it prints panicked".to_owned()),
        None => Vec::new(),
    };
    if printed.len() as u64 > MOST {
        return Err(format!("prints more than {MOST} bytes"));
    }
    let printed =
        String::from_utf8(printed).map_err(|error| format!("prints what is no text: {error}"))?;
    let status = status.map_err(wrong)?;
    match status.code() {
        Some(124 | 137) => Err(format!("took too long, after it had printed:\n{printed}")),
        _ => Ok((printed, status)),
    }
}

/// What is printed, as far as it may be. What is beyond is not read: who prints it gets an error for it.
fn read(out: ChildStdout) -> io::Result<Vec<u8>> {
    let mut printed = Vec::new();
    out.take(MOST + 1).read_to_end(&mut printed)?;
    Ok(printed)
}

// Where `ulimit` and `timeout` are what is expected of them.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{MOST, Scratch, run};

    fn outcome(scratch: &Scratch, script: &str) -> Result<(String, bool), String> {
        let mut command = scratch.script(60, script)?;
        run(&mut command).map(|(printed, status)| (printed, status.success()))
    }

    #[test]
    fn a_script_finds_the_recordings_and_stops_at_the_first_error() {
        let scratch = Scratch::new("test-script").expect("a folder can be made");
        let well = outcome(&scratch, "ls examples; echo why >&2");
        assert_eq!(well, Ok(("recordings\nwhy\n".to_owned(), true)));
        let badly = outcome(&scratch, "echo a; false; echo b");
        assert_eq!(badly, Ok(("a\n".to_owned(), false)));
        let built = outcome(&scratch, "cargo build 2>/dev/null");
        assert_eq!(built, Ok((String::new(), false)));
    }

    #[test]
    fn what_a_script_leaves_running_ends_with_it() {
        let scratch = Scratch::new("test-leaves").expect("a folder can be made");
        // It is over only when nobody can print any more.
        let leaves = outcome(&scratch, "sleep 600 & echo a");
        assert_eq!(leaves, Ok(("a\n".to_owned(), true)));
    }

    #[test]
    fn a_script_without_end_is_an_error() {
        let scratch = Scratch::new("test-endless").expect("a folder can be made");
        let much = outcome(&scratch, "while :; do echo much; done");
        assert_eq!(much, Err(format!("prints more than {MOST} bytes")));
        let ended = outcome(&scratch, "echo a; exit 124").expect_err("it says it was ended");
        assert!(ended.starts_with("took too long"), "{ended}");
    }
}
