//! Where bytes go.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use super::scratch::Scratch;
use crate::args::{Format, OutputArgs};
use crate::exit::Failure;
use crate::progress::Progress;
use crate::source::blocking;
use crate::supervise::Desk;
use crate::terminal;

/// Where the results of a command go.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    StandardOutput,
    /// A file that is replaced as a whole, or a device that is written to.
    File(PathBuf),
}

impl Destination {
    /// The destination that `args` name. Bytes that are no text are refused where a terminal would show them.
    pub(super) fn of(args: &OutputArgs, format: Format) -> Result<Self, Failure> {
        match &args.output {
            Some(file) => Ok(Self::File(file.clone())),
            None if format.is_binary() && io::stdout().is_terminal() => {
                Err(Failure::Usage(format!(
                    "{} is not for a terminal to show; give --output FILE, or redirect the output",
                    format.name()
                )))
            }
            None => Ok(Self::StandardOutput),
        }
    }

    /// Opens it for writing.
    pub(super) async fn open(&self, desk: &Desk) -> Result<Box<dyn Write + Send>, Failure> {
        let Self::File(file) = self.clone() else {
            return Ok(Box::new(StandardOutput::new(desk.progress.clone())));
        };
        let (this, scratch) = (self.clone(), desk.scratch.clone());
        let opened = blocking(move || {
            let opened = open(&file, &scratch);
            opened.map_err(|error| this.failure(&error))
        });
        Ok(Box::new(opened.await?))
    }

    /// Columns of the terminal that it is, if it is one.
    pub(super) fn width(&self) -> Option<usize> {
        match self {
            Self::StandardOutput => terminal::columns(),
            Self::File(_) => None,
        }
    }

    /// Why it could not be written to.
    pub(super) fn failure(&self, error: &io::Error) -> Failure {
        match self {
            Self::StandardOutput if error.kind() == io::ErrorKind::BrokenPipe => {
                Failure::OutputClosed
            }
            Self::StandardOutput => {
                Failure::Message(format!("the output cannot be written: {error}"))
            }
            Self::File(file) => {
                Failure::Message(format!("cannot write '{}': {error}", file.display()))
            }
        }
    }
}

fn open(file: &PathBuf, scratch: &Scratch) -> io::Result<File> {
    match fs::metadata(file) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // A device or a pipe must not be replaced.
        Ok(found) if !found.is_file() => File::options().write(true).open(file),
        _ => scratch.create(file),
    }
}

/// Standard output, which progress makes way for.
struct StandardOutput {
    out: io::Stdout,
    progress: Progress,
    is_file: bool,
}

impl StandardOutput {
    fn new(progress: Progress) -> Self {
        Self {
            out: io::stdout(),
            progress,
            is_file: is_file(&io::stdout()),
        }
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // On a terminal, or in a pager, rows and progress would be in each other's way.
        if !self.is_file {
            self.progress.stop();
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(unix)]
fn is_file(out: &io::Stdout) -> bool {
    use std::os::fd::AsFd;
    let Ok(handle) = out.as_fd().try_clone_to_owned() else {
        return false;
    };
    let metadata = File::from(handle).metadata();
    metadata.is_ok_and(|metadata| metadata.is_file())
}

#[cfg(not(unix))]
fn is_file(_: &io::Stdout) -> bool {
    false
}
