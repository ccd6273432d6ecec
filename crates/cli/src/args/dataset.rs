//! `segue datasets`, `segue schema` and `segue segments`.

use clap::Args;

use super::{OutputArgs, SourceArgs};

const DATASETS_HELP: &str = r#"  segue datasets --recordings examples/recordings
  segue datasets --catalog rerun+http://127.0.0.1:51234 --format json

Each is a schema for 'segue query'; 'segue schema' and 'segue segments' say what is in one."#;

/// `segue datasets`.
#[derive(Args, Debug)]
#[command(after_help = DATASETS_HELP)]
pub(crate) struct DatasetsArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

const SCHEMA_HELP: &str = r#"  segue schema --recordings examples/recordings robots
  segue schema --recordings examples/recordings robots --index frame_nr --format csv

Each row is a column:
  name            as in SQL, where most need double quotes
  type            Arrow's data type
  kind            segment, index (a timeline) or component
  entity, component, archetype
                  what the column holds
  is_static       whether some segment has a value that holds at all times"#;

/// `segue schema`.
#[derive(Args, Debug)]
#[command(after_help = SCHEMA_HELP)]
pub(crate) struct SchemaArgs {
    /// Name of the dataset.
    pub(crate) dataset: String,

    /// Only the columns of the table of this index. Without it, those of all tables of indexes.
    #[arg(long, value_name = "INDEX")]
    pub(crate) index: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

const SEGMENTS_HELP: &str = r#"  segue segments --recordings examples/recordings robots
  segue segments --recordings examples/recordings robots -o segments.csv

Each row is a segment: its layers, size, number of chunks, recording properties, and the first and last
value of each index. The same in SQL, for conditions and joins: 'SELECT * FROM robots._segments'."#;

/// `segue segments`.
#[derive(Args, Debug)]
#[command(after_help = SEGMENTS_HELP)]
pub(crate) struct SegmentsArgs {
    /// Name of the dataset.
    pub(crate) dataset: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
