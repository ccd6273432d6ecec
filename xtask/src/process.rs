//! Running other programs from the root of the workspace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// The root of the workspace, whatever folder the task was started in.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A command that runs in the root of the workspace.
pub(crate) fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// Runs a command to its end, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let shown = shown(command);
    let status = command
        .status()
        .map_err(|error| format!("{shown}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{shown}: {status}"))
    }
}

/// Runs a command to its end, all that it prints going to our standard output.
pub(crate) fn run_on_stdout(command: &mut Command) -> Outcome {
    run(command.stderr(Stdio::from(std::io::stdout())))
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = shown(command);
    let output = command
        .output()
        .map_err(|error| format!("{shown}: {error}"))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{shown}: {}\n{printed}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{shown}: {error}"))
}

fn shown(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}
