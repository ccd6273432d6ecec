//! `segue query`.

use clap::{Args, ValueEnum};

use super::recordings::recordings_parser;
use super::{Connection, Recordings};

const QUERY_HELP: &str = r#"A dataset is a schema, each of its indexes (timelines) is a table, ordered by
(rerun_segment_id, index); DATASET._static has the static values.

Names are case-sensitive, but unquoted ones are turned into lower case. Columns of
components are called ENTITY:COMPONENT: they have '/' and ':' in them and need double quotes.

  segue query --recordings examples/recordings \
      'SELECT rerun_segment_id, count(*) FROM robots.frame_nr GROUP BY 1 ORDER BY 1'

  segue query --recordings r=examples/recordings/robots --format csv \
      'SELECT frame_nr, "/sensor/temp:Scalars:scalars" FROM r.frame_nr LIMIT 5'

  segue query --catalog rerun+http://127.0.0.1:51234 'SHOW TABLES'

What there is: 'SHOW TABLES', and 'DESCRIBE robots.frame_nr' for the columns. 'EXPLAIN SELECT ...'
prints how a query is carried out.

Exit status: 0; 1 after an error; 2 if the command line is wrong; 130 after Ctrl-C; 141 if the
output is closed early."#;

#[derive(Args, Debug)]
#[command(after_help = QUERY_HELP)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) origin: Origin,

    #[command(flatten)]
    pub(crate) connection: Connection,

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

/// Where recordings come from.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct Origin {
    /// Folder of recordings: each sub-folder with recordings is a dataset named after it, recordings in
    /// the folder itself are one named after the folder. NAME=DIR takes all below DIR as one dataset.
    /// May be given several times. Write ./A=B for a folder that is called A=B.
    #[arg(long, value_name = "DIR|NAME=DIR", value_parser = recordings_parser())]
    pub(crate) recordings: Vec<Recordings>,

    /// Catalog server: rerun+http://HOST:PORT (plain), rerun+https://HOST:PORT or rerun://HOST:PORT (TLS).
    #[arg(long, value_name = "URL")]
    pub(crate) catalog: Option<String>,
}
