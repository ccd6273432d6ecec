//! `segue query`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, Setting, SourceArgs, setting, size};

const QUERY_HELP: &str = r#"A dataset is a schema, each of its indexes (timelines) is a table, ordered by
(rerun_segment_id, index); DATASET._static has the static values, DATASET._segments and
DATASET._chunks say what there is. segment_stream('DATASET', 'INDEX', ...) is a table with options.

Names are case-sensitive, but unquoted ones are turned into lower case. Columns of
components are called ENTITY:COMPONENT: they have '/' and ':' in them and need double quotes.

  segue query --recordings examples/recordings \
      'SELECT rerun_segment_id, count(*) FROM robots.frame_nr GROUP BY 1 ORDER BY 1'

  segue query --recordings r=examples/recordings/robots --format csv \
      'SELECT frame_nr, "/sensor/temp:Scalars:scalars" FROM r.frame_nr LIMIT 5'

  segue query --recordings examples/recordings -o frames.parquet \
      'SELECT rerun_segment_id, frame_nr FROM robots.frame_nr'

  segue query --catalog rerun+http://127.0.0.1:51234 --timing -f statements.sql

  echo 'SHOW TABLES' | segue query --recordings examples/recordings

What there is: 'SHOW TABLES', and 'DESCRIBE robots.frame_nr' for the columns. 'EXPLAIN SELECT ...'
prints how a query is carried out, 'EXPLAIN ANALYZE SELECT ...' what it did. Several statements are
separated by ';' and carried out in one session; the first error ends them. Their results are
written one after the other, tables and CSV with an empty line between; a file of Parquet or Arrow
holds one. Settings are listed by 'SHOW ALL'.

Exit status: 0; 1 after an error; 2 if the command line is wrong; 130 after Ctrl-C (a second one
does not wait until all is cleaned up); 141 if the output is closed early; 143 after SIGTERM."#;

#[derive(Args, Debug)]
#[command(after_help = QUERY_HELP)]
pub(crate) struct QueryArgs {
    /// SQL statements, separated by ';'. Read from standard input if neither they nor a file are given,
    /// or if they are '-'.
    pub(crate) sql: Option<String>,

    /// File with the SQL statements; '-' is standard input.
    #[arg(short, long, value_name = "FILE", conflicts_with = "sql")]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Change a setting of the session first, as the statement SET does. May be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting::parse)]
    pub(crate) set: Vec<Setting>,

    /// Most memory for recordings while they are read, such as 64M or 2G, besides a slot of some 10 MB for each
    /// partition; 256M, or a quarter of datafusion.runtime.memory_limit, unless given.
    #[arg(long, value_name = "BYTES", value_parser = size::parse)]
    pub(crate) window: Option<usize>,

    /// Say on standard error how long each statement took to plan and to run.
    #[arg(long)]
    pub(crate) timing: bool,
}
