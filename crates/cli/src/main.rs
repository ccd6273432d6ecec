//! The `segue` command.
//!
//! Prints one line on standard error when something goes wrong, and exits with 1 (2 when the command
//! itself is not understood, 130 after Ctrl-C, 141 when the reader of the output went away).

mod args;
mod exit;
mod output;
mod query;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::exit::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return exit::report(&Failure::Message(format!("no threads: {error}"))),
    };
    let outcome = match cli.command {
        Command::Query(args) => runtime.block_on(query::run(args)),
    };
    // A task that is stuck in a write to a full pipe must not keep the process alive.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => exit::report(&failure),
    }
}
