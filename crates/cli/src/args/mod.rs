//! The command line.

mod connection;
mod query;
mod recordings;
mod serve;

use clap::{Parser, Subcommand};

pub(crate) use connection::Connection;
pub(crate) use query::{Format, QueryArgs};
pub(crate) use recordings::Recordings;
pub(crate) use serve::ServeArgs;

/// SQL over recordings.
#[derive(Debug, Parser)]
#[command(name = "segue", version, about, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the answer to one SQL statement.
    Query(QueryArgs),
    /// Serve folders of recordings as a catalog.
    Serve(ServeArgs),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
