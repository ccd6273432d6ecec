//! How results are written, and where to.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::exit::Failure;

/// How results are written, and where to.
#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// How rows are written. Without it, the ending of the file of --output decides (.csv, .json, .jsonl,
    /// .parquet, .arrow); on standard output, a table is printed.
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) format: Option<Format>,

    /// File for the results, in place of standard output. It appears when all of it is written, and
    /// replaces one of that name; after an error or Ctrl-C there is none, or still the old one.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns for reading. Long cells are cut at 80 characters; on a terminal, a table is cut to
    /// its width, and says so. The plans of EXPLAIN are always whole.
    Table,
    /// Comma-separated values with a header; a null is an empty cell, a list is text.
    Csv,
    /// One JSON object per row and line.
    Json,
    /// A Parquet file, with all types as they are.
    Parquet,
    /// A stream of Arrow's IPC format, with all types as they are.
    Arrow,
}

/// Formats that the ending of a file stands for.
const ENDINGS: [(&str, Format); 6] = [
    ("csv", Format::Csv),
    ("json", Format::Json),
    ("jsonl", Format::Json),
    ("ndjson", Format::Json),
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
];

impl Format {
    /// Whether it is bytes rather than text, and one file holds one result.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    fn of(file: &Path) -> Option<Self> {
        let ending = file.extension()?.to_str()?.to_ascii_lowercase();
        let (_, format) = ENDINGS.iter().find(|(name, _)| *name == ending)?;
        Some(*format)
    }
}

impl OutputArgs {
    /// The format that is meant; an error where the file's name does not say.
    pub(crate) fn chosen(&self) -> Result<Format, Failure> {
        let (format, file) = match (self.format, &self.output) {
            (Some(format), _) => return Ok(format),
            (None, None) => return Ok(Format::Table),
            (None, Some(file)) => (Format::of(file), file),
        };
        format.ok_or_else(|| {
            Failure::Usage(format!(
                "the ending of '{}' names no format; give --format, or end it with .csv, .json, .jsonl, \
                 .parquet or .arrow",
                file.display()
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(format: Option<Format>, output: Option<&str>) -> Option<Format> {
        let output = output.map(PathBuf::from);
        OutputArgs { format, output }.chosen().ok()
    }

    #[test]
    fn the_ending_of_the_file_decides_unless_a_format_is_given() {
        assert_eq!(chosen(None, None), Some(Format::Table));
        assert_eq!(chosen(None, Some("a.csv")), Some(Format::Csv));
        assert_eq!(chosen(None, Some("b/a.JSON")), Some(Format::Json));
        assert_eq!(chosen(None, Some("a.jsonl")), Some(Format::Json));
        assert_eq!(chosen(None, Some("a.csv.parquet")), Some(Format::Parquet));
        assert_eq!(chosen(None, Some("a.arrow")), Some(Format::Arrow));
        assert_eq!(chosen(Some(Format::Csv), Some("a.json")), Some(Format::Csv));
        for unclear in ["a", "a.txt", ".csv", "csv"] {
            assert_eq!(chosen(None, Some(unclear)), None, "{unclear}");
            let table = chosen(Some(Format::Table), Some(unclear));
            assert_eq!(table, Some(Format::Table));
        }
    }

    #[test]
    fn a_format_is_called_as_on_the_command_line() {
        for format in Format::value_variants() {
            let value = format.to_possible_value().unwrap();
            assert_eq!(value.get_name(), format.name());
        }
    }
}
