//! `segue completions`.

use std::io::{Write, stdout};

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::Failure;

/// Writes the script for the shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "segue", &mut script);
    let mut out = stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(())
}
