//! How the process ends.

use std::io::{self, Write};
use std::process::ExitCode;

use segue::error_message;

use crate::terminal;

/// Why a command did not come to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something that the user should read, as one line.
    Message(String),
    /// What the command line asks for cannot be: one line, too.
    Usage(String),
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// Nobody reads the output any more.
    OutputClosed,
}

impl Failure {
    /// The same, with what it is about before the message.
    pub(crate) fn about(self, subject: &str) -> Self {
        match self {
            Self::Message(message) => Self::Message(format!("{subject}: {message}")),
            other => other,
        }
    }
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
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Message(format!("the output cannot be written: {error}")),
        }
    }
}

/// Tells the user, and gives the exit code: the shell's convention for signals, else 1, or 2 where the command
/// line is wrong.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Message(message) => {
            say(message);
            ExitCode::FAILURE
        }
        Failure::Usage(message) => {
            say(message);
            ExitCode::from(2)
        }
        Failure::Interrupted => ExitCode::from(130),
        Failure::OutputClosed => ExitCode::from(141),
        Failure::Terminated => ExitCode::from(143),
    }
}

fn say(message: &str) {
    // When standard error is gone as well, there is nobody left to tell.
    let _ = writeln!(io::stderr(), "error: {}", terminal::line(message));
}
