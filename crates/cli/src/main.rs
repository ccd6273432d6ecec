//! The `segue` command.
//!
//! Prints one line on standard error when something goes wrong, and exits with 1 (2 when the command
//! itself is not understood, 130 after Ctrl-C, 141 when the reader of the output went away).

mod args;
mod exit;
mod output;
mod query;
mod secret;
mod serve;
mod signals;
mod source;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use mimalloc::MiMalloc;

use crate::args::{Cli, Command};
use crate::exit::Failure;

/// Gives memory back that is not used, whichever thread has freed it: a server or a query that holds little
/// also takes little.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

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
        Command::Serve(args) => runtime.block_on(serve::run(args)),
    };
    // A task that is stuck in a write to a full pipe must not keep the process alive.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => exit::report(&failure),
    }
}
