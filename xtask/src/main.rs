//! Checks and chores of the workspace: `cargo xtask help`.

mod codegen;
mod process;

use std::process::ExitCode;

/// What a task returns: nothing, or why it failed.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match codegen::run(&args[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
