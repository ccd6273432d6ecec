//! The command line.

mod completions;
mod connection;
mod dataset;
mod output;
mod query;
mod recordings;
mod serve;
mod setting;
mod size;
mod source;

use clap::{Parser, Subcommand};

pub(crate) use completions::CompletionsArgs;
pub(crate) use connection::Connection;
pub(crate) use dataset::{DatasetsArgs, SchemaArgs, SegmentsArgs};
pub(crate) use output::{Format, OutputArgs};
pub(crate) use query::QueryArgs;
pub(crate) use recordings::Recordings;
pub(crate) use serve::ServeArgs;
pub(crate) use setting::Setting;
pub(crate) use source::SourceArgs;

const HELP: &str = r#"Start with what there is, then ask:

  segue datasets --recordings examples/recordings
  segue schema --recordings examples/recordings robots
  segue query --recordings examples/recordings \
      'SELECT rerun_segment_id, count(*) FROM robots.frame_nr GROUP BY 1 ORDER BY 1'

'segue COMMAND --help' has examples for each command. Results go to standard output, or to the file
of --output; errors, warnings and progress go to standard error."#;

/// SQL over recordings of robots and sensors, in folders or on a catalog server.
#[derive(Debug, Parser)]
#[command(name = "segue", version, propagate_version = true, after_help = HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the answers to SQL statements.
    Query(QueryArgs),
    /// List the datasets.
    Datasets(DatasetsArgs),
    /// List the columns of a dataset.
    Schema(SchemaArgs),
    /// List the segments of a dataset.
    Segments(SegmentsArgs),
    /// Serve folders of recordings as a catalog.
    Serve(ServeArgs),
    /// Print a script that lets a shell complete this command line.
    Completions(CompletionsArgs),
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
