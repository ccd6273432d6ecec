//! Errors as gRPC statuses.

use std::path::PathBuf;

use segue_error::{Error, ErrorCode};
use tonic::{Code, Status};

/// The status that tells a client of `error`, which arose from reading `files`.
///
/// The message is kept, but for the folders that the files lie in.
pub(crate) fn of(error: &Error, files: &[PathBuf]) -> Status {
    let code = code(error.code());
    let message = without_folders(error.message(), files);
    if matches!(code, Code::Internal | Code::DataLoss | Code::Unavailable) {
        tracing::warn!(code = %error.code(), "{}", error.message());
    }
    Status::new(code, message)
}

/// What an error code is called on the wire.
fn code(code: ErrorCode) -> Code {
    match code {
        ErrorCode::UnknownDataset
        | ErrorCode::UnknownIndex
        | ErrorCode::UnknownEntity
        | ErrorCode::UnknownColumn => Code::NotFound,
        ErrorCode::InvalidArgument | ErrorCode::InvalidOption => Code::InvalidArgument,
        // What the client planned is gone: it has to plan again.
        ErrorCode::SourceChanged => Code::FailedPrecondition,
        ErrorCode::NameClash | ErrorCode::SchemaConflict => Code::FailedPrecondition,
        ErrorCode::ChunkCorrupt
        | ErrorCode::NotARecording
        | ErrorCode::SourceUnderDelivered
        | ErrorCode::SourceOverDelivered => Code::DataLoss,
        ErrorCode::Unsupported => Code::Unimplemented,
        ErrorCode::PermissionDenied => Code::PermissionDenied,
        ErrorCode::Cancelled => Code::Cancelled,
        _ => Code::Internal,
    }
}

/// `message` with only the names of the files in it, whose paths stand in quotes.
fn without_folders(message: &str, files: &[PathBuf]) -> String {
    let mut message = message.to_owned();
    for path in files {
        let Some(name) = path.file_name() else {
            continue;
        };
        let (path, name) = (format!("'{}'", path.display()), name.display());
        if message.contains(&path) {
            message = message.replace(&path, &format!("'{name}'"));
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: ErrorCode, message: &str) -> Status {
        let files = [PathBuf::from("/home/me/d/a.rrd"), "d/b c.rrd".into()];
        of(&Error::new(code, "test", message), &files)
    }

    #[test]
    fn a_status_has_the_message_but_no_folder() {
        let told = status(
            ErrorCode::ChunkCorrupt,
            "recordings '/home/me/d/a.rrd' and 'd/b c.rrd' have two different chunks",
        );
        assert_eq!(told.code(), Code::DataLoss);
        let wanted = "recordings 'a.rrd' and 'b c.rrd' have two different chunks";
        assert_eq!(told.message(), wanted);
    }

    #[test]
    fn every_code_that_reading_a_folder_gives_has_a_status_of_its_own_kind() {
        for (code, wanted) in [
            (ErrorCode::UnknownDataset, Code::NotFound),
            (ErrorCode::InvalidArgument, Code::InvalidArgument),
            (ErrorCode::SourceChanged, Code::FailedPrecondition),
            (ErrorCode::SchemaConflict, Code::FailedPrecondition),
            (ErrorCode::NotARecording, Code::DataLoss),
            (ErrorCode::StorageUnavailable, Code::Internal),
            (ErrorCode::PermissionDenied, Code::PermissionDenied),
            (ErrorCode::Unsupported, Code::Unimplemented),
            (ErrorCode::Invariant, Code::Internal),
        ] {
            assert_eq!(status(code, "x").code(), wanted, "{code}");
        }
    }
}
