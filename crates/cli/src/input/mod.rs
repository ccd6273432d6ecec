//! SQL from the command line, a file or standard input.

mod split;

use std::fs;
use std::io::{IsTerminal, Write, read_to_string, stderr, stdin};
use std::path::Path;

use datafusion::config::Dialect;

pub(crate) use split::Statement;

use crate::args::QueryArgs;
use crate::exit::Failure;
use crate::source::blocking;

/// SQL, and what it came from.
#[derive(Debug)]
pub(crate) struct Input {
    text: String,
    /// For errors: `on standard input`.
    place: String,
}

impl Input {
    /// Reads the SQL that `args` mean.
    pub(crate) async fn read(args: &QueryArgs) -> Result<Self, Failure> {
        match (&args.sql, &args.file) {
            (Some(sql), _) if sql != "-" => Ok(Self {
                text: sql.clone(),
                place: "on the command line".to_owned(),
            }),
            (_, Some(file)) if file.as_os_str() != "-" => {
                let file = file.clone();
                blocking(move || Self::file(&file)).await
            }
            _ => blocking(Self::standard_input).await,
        }
    }

    fn file(file: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(file);
        let text = text.map_err(|error| unreadable(&format!("'{}'", file.display()), &error))?;
        let place = format!("in '{}'", file.display());
        Ok(Self { text, place })
    }

    fn standard_input() -> Result<Self, Failure> {
        if stdin().is_terminal() {
            // For who wonders why nothing happens; who cannot be told is not told.
            let _ = writeln!(
                stderr(),
                "reading SQL from the terminal; end it with Ctrl-D"
            );
        }
        let text = read_to_string(stdin());
        let text = text.map_err(|error| unreadable("standard input", &error))?;
        let place = "on standard input".to_owned();
        Ok(Self { text, place })
    }

    /// The statements, at least one.
    pub(crate) fn statements(&self, dialect: Dialect) -> Result<Vec<Statement>, Failure> {
        // Some editors begin a text with a mark that is no part of it.
        let text = self.text.trim_start_matches('\u{feff}');
        let statements = split::split(text, dialect)?;
        match statements.is_empty() {
            true => Err(Failure::Message(format!("there is no SQL {}", self.place))),
            false => Ok(statements),
        }
    }
}

fn unreadable(what: &str, error: &std::io::Error) -> Failure {
    let why = match error.kind() {
        std::io::ErrorKind::InvalidData => "it is no UTF-8 text".to_owned(),
        _ => error.to_string(),
    };
    Failure::Message(format!("cannot read SQL from {what}: {why}"))
}
