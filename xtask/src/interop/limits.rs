//! Programs that must not run for ever, nor take the machine's memory.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::process::command;

/// Seconds between asking a program to end and ending it.
const GRACE: &str = "10";

/// Where [`limited`] puts the program among the arguments.
const PROGRAM: usize = 5;

/// What a program may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Seconds until it is asked to end.
    pub(crate) seconds: u32,
    /// Address space, in GiB.
    pub(crate) gibibytes: u32,
}

/// A command that runs in the root within limits, all that it prints going to standard output.
///
/// Asked to end, it hands that on to the program, and ends it if that takes too long: waiting for
/// it is bounded.
pub(crate) fn limited(limits: Limits, program: impl AsRef<OsStr>) -> Command {
    let script = r#"ulimit -v "$0" && exec timeout --foreground --kill-after="$1" "${@:2}" 2>&1"#;
    let kibibytes = u64::from(limits.gibibytes) * 1024 * 1024;
    let mut limited = command("bash", &["-c", script]);
    limited
        .args([&kibibytes.to_string(), GRACE, &limits.seconds.to_string()])
        .arg(program)
        .stdin(Stdio::null());
    limited
}

/// Runs a command to its end, and shows and returns what it printed.
pub(super) fn shown(command: &mut Command) -> Result<String, String> {
    let (printed, outcome) = run(command)?;
    print!("{printed}");
    outcome.map(|()| printed)
}

/// Runs a command to its end, and returns what it printed; if it fails, as part of the reason.
pub(super) fn quiet(command: &mut Command) -> Result<String, String> {
    match run(command)? {
        (printed, Ok(())) => Ok(printed),
        (printed, Err(why)) => Err(format!("{why}\n{printed}")),
    }
}

/// What a command printed, and how it ended.
fn run(command: &mut Command) -> Result<(String, Outcome), String> {
    let program = command.get_args().nth(PROGRAM).unwrap_or_default();
    let name = program.to_string_lossy().into_owned();
    let wrong = |error: std::io::Error| format!("{name}: {error}");
    let output = command.output().map_err(wrong)?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let outcome = match output.status.code() {
        Some(0) => Ok(()),
        Some(124 | 137) => Err(format!("{name}: took too long")),
        _ => Err(format!("{name}: {}", output.status)),
    };
    Ok((printed, outcome))
}

// Where `ulimit` and `timeout` are what is expected of them.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Limits, limited, quiet, shown};

    const PLENTY: Limits = Limits {
        seconds: 60,
        gibibytes: 8,
    };

    #[test]
    fn what_a_program_prints_on_either_stream_is_returned() {
        let mut command = limited(PLENTY, "sh");
        let printed = shown(command.args(["-c", "echo a; echo b >&2"]));
        assert_eq!(printed, Ok("a\nb\n".to_owned()));
    }

    #[test]
    fn a_program_that_fails_is_an_error_with_its_name_and_status() {
        let script = ["-c", "echo reason; exit 3"];
        let outcome = shown(limited(PLENTY, "sh").args(script));
        assert_eq!(outcome, Err("sh: exit status: 3".to_owned()));
        let outcome = quiet(limited(PLENTY, "sh").args(script));
        assert_eq!(outcome, Err("sh: exit status: 3\nreason\n".to_owned()));
    }

    #[test]
    fn what_is_asked_to_end_hands_that_on_to_the_program() {
        // Before it waits, `timeout` does not know yet whom to hand anything to.
        let waits = "until grep -q '^State:.S' /proc/$PPID/status; do :; done";
        let script = format!("{waits}; kill -TERM $PPID; exec sleep 600");
        let outcome = shown(limited(PLENTY, "sh").args(["-c", &script]));
        assert!(outcome.is_err_and(|why| why.contains("SIGTERM")));
    }

    #[test]
    fn a_program_that_was_ended_has_taken_too_long() {
        let outcome = shown(limited(PLENTY, "sh").args(["-c", "exit 124"]));
        assert!(outcome.is_err_and(|why| why.ends_with("took too long")));
    }
}
