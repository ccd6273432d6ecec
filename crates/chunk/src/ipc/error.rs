//! Why a stream cannot be read.

use std::fmt;

/// What sort of failure an [`IpcError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IpcErrorKind {
    /// The bytes are damaged, or contradict themselves.
    Malformed,
    /// The bytes may be right, but use a part of the format that is not read here.
    Unsupported,
}

/// Why a stream cannot be read. Its text says what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IpcError {
    kind: IpcErrorKind,
    reason: Box<str>,
}

/// Longest text of an error, in bytes. Names and messages of outside origin go into it.
const MAX_TEXT: usize = 300;

pub(super) type Result<T> = std::result::Result<T, IpcError>;

impl IpcError {
    pub(crate) fn malformed(reason: impl fmt::Display) -> Self {
        Self::new(IpcErrorKind::Malformed, &reason.to_string())
    }

    pub(crate) fn unsupported(reason: impl fmt::Display) -> Self {
        Self::new(IpcErrorKind::Unsupported, &reason.to_string())
    }

    /// The same error, with the place `at` before its text.
    pub(crate) fn at(self, at: impl fmt::Display) -> Self {
        Self::new(self.kind, &format!("{at}: {}", self.reason))
    }

    fn new(kind: IpcErrorKind, reason: &str) -> Self {
        let reason = if reason.len() <= MAX_TEXT {
            reason.into()
        } else {
            let end = reason.floor_char_boundary(MAX_TEXT);
            format!("{}…", reason.get(..end).unwrap_or_default()).into()
        };
        Self { kind, reason }
    }

    /// The sort of failure.
    pub(crate) fn kind(&self) -> IpcErrorKind {
        self.kind
    }
}

impl fmt::Display for IpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for IpcError {}
