//! Errors of recording files.

use std::io;

use segue_error::{Error, ErrorCode};

/// The file `name` is damaged at byte `offset`.
pub(super) fn damaged(name: &str, offset: u64, reason: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::ChunkCorrupt,
        "recording.read",
        format!("recording '{name}' is damaged at byte {offset}: {reason}"),
    )
    .with_fact("file", name)
    .with_fact("offset", offset)
}

/// The file `name` is no recording that can be read.
pub(super) fn not_a_recording(name: &str, reason: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::NotARecording,
        "recording.open",
        format!("'{name}' is not a recording: {reason}"),
    )
    .with_fact("file", name)
}

/// The file `name` uses something that is not supported.
pub(super) fn unsupported(name: &str, what: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::Unsupported,
        "recording.open",
        format!("recording '{name}' has {what}, which is not supported"),
    )
    .with_fact("file", name)
}

/// The file `name` could not be read.
pub(crate) fn unreadable(name: &str, error: io::Error) -> Error {
    // A read within the length that the file had when it was opened ends early only if it was cut since.
    let code = match error.kind() {
        io::ErrorKind::UnexpectedEof => ErrorCode::SourceChanged,
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        io::ErrorKind::Interrupted => ErrorCode::Cancelled,
        _ => ErrorCode::StorageUnavailable,
    };
    let message = format!("cannot read recording '{name}': {error}");
    Error::new(code, "recording.read", message)
        .with_fact("file", name)
        .with_source(error)
}

/// The same error, with the place in the file where it arose.
pub(super) fn located(error: Error, name: &str, offset: u64) -> Error {
    let message = format!("recording '{name}', message at byte {offset}: {error}");
    Error::new(error.code(), "recording.read", message)
        .with_fact("file", name)
        .with_fact("offset", offset)
        .with_source(error)
}
