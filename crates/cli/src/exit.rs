//! How the process ends.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use segue::error_message;

use crate::terminal;

/// Why a command did not come to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something that the user should read, as one line.
    Message(String),
    /// Ctrl-C.
    Interrupted,
    /// Nobody reads the output any more.
    OutputClosed,
}

impl From<segue::Error> for Failure {
    fn from(error: segue::Error) -> Self {
        // By way of DataFusion's error, so that there is one place where errors become lines.
        Self::from(datafusion::error::DataFusionError::from(error))
    }
}

impl From<datafusion::error::DataFusionError> for Failure {
    fn from(error: datafusion::error::DataFusionError) -> Self {
        Self::Message(error_message(&error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Message(format!("the output cannot be written: {error}")),
        }
    }
}

/// Tells the user, and gives the exit code: the shell's convention for signals, else 1.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Message(message) => {
            // When standard error is gone as well, there is nobody left to tell.
            let _ = writeln!(io::stderr(), "error: {}", terminal::line(message));
            ExitCode::FAILURE
        }
        Failure::Interrupted => ExitCode::from(130),
        Failure::OutputClosed => ExitCode::from(141),
    }
}
