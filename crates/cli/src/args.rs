//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

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
}

const QUERY_HELP: &str = r#"A dataset is a schema, each of its indexes (timelines) is a table, ordered by
(rerun_segment_id, index); DATASET._static has the static values.

Names are case-sensitive, but unquoted ones are turned into lower case. Columns of
components are called ENTITY:COMPONENT: they have '/' and ':' in them and need double quotes.

  segue query --recordings examples/recordings \
      'SELECT rerun_segment_id, count(*) FROM robots.frame_nr GROUP BY 1 ORDER BY 1'

  segue query --recordings r=examples/recordings/robots --format csv \
      'SELECT frame_nr, "/sensor/temp:Scalars:scalars" FROM r.frame_nr LIMIT 5'

What there is: 'SHOW TABLES', and 'DESCRIBE robots.frame_nr' for the columns. 'EXPLAIN SELECT ...'
prints how a query is carried out.

Exit status: 0; 1 after an error; 2 if the command line is wrong; 130 after Ctrl-C; 141 if the
output is closed early."#;

#[derive(Args, Debug)]
#[command(after_help = QUERY_HELP)]
pub(crate) struct QueryArgs {
    /// Folder of recordings: each sub-folder with recordings is a dataset named after it, recordings in
    /// the folder itself are one named after the folder. NAME=DIR takes all below DIR as one dataset.
    /// May be given several times. Write ./A=B for a folder that is called A=B.
    #[arg(long, required = true, value_name = "DIR|NAME=DIR", value_parser = recordings_parser())]
    pub(crate) recordings: Vec<Recordings>,

    /// How rows are printed. Both print as rows come; a table cuts cells at 80 characters, CSV never does.
    /// The plans of EXPLAIN are whole in both.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,

    /// One SQL statement.
    pub(crate) sql: String,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns for reading.
    Table,
    /// Comma-separated values with a header; a null is an empty cell.
    Csv,
}

/// A value of `--recordings`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recordings {
    /// A folder of datasets.
    Folder(PathBuf),
    /// One dataset.
    Dataset(String, PathBuf),
}

impl From<OsString> for Recordings {
    fn from(value: OsString) -> Self {
        let named = value.to_str().and_then(|text| text.split_once('='));
        match named {
            Some((name, dir)) if !name.is_empty() && !name.contains(['/', '\\']) => {
                Self::Dataset(name.to_owned(), PathBuf::from(dir))
            }
            _ => Self::Folder(PathBuf::from(value)),
        }
    }
}

fn recordings_parser() -> impl TypedValueParser<Value = Recordings> {
    clap::builder::OsStringValueParser::new().map(Recordings::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recordings(value: &str) -> Recordings {
        Recordings::from(OsString::from(value))
    }

    #[test]
    fn a_name_before_an_equals_sign_names_the_dataset() {
        let dataset = Recordings::Dataset("r".to_owned(), "data/x=y".into());
        assert_eq!(recordings("r=data/x=y"), dataset);
        for folder in ["data", "./a=b", "=data", "data/a=b"] {
            assert_eq!(recordings(folder), Recordings::Folder(folder.into()));
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
