//! The `segue` command.
//!
//! Results go to standard output or to the file of `--output`, everything else to standard error. Prints one
//! line there when something goes wrong, and exits with 1 (2 when the command itself is not understood, 130
//! after Ctrl-C, 141 when the reader of the output went away, 143 after SIGTERM).

mod args;
mod commands;
mod exit;
mod input;
mod output;
mod progress;
mod secret;
mod serve;
mod session;
mod signals;
mod source;
mod supervise;
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
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => exit::report(&failure),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Query(args) => supervise::run(|desk| commands::query(args, desk)),
        Command::Datasets(args) => supervise::run(|desk| commands::datasets(args, desk)),
        Command::Schema(args) => supervise::run(|desk| commands::schema(args, desk)),
        Command::Segments(args) => supervise::run(|desk| commands::segments(args, desk)),
        Command::Serve(args) => {
            let runtime = supervise::workers()?;
            let outcome = runtime.block_on(serve::run(args));
            supervise::end(runtime);
            outcome
        }
        Command::Completions(args) => commands::completions(&args),
    }
}
