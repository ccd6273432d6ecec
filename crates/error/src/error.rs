//! The error type.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::view::LogView;
use crate::{ErrorCode, ErrorKind, FactValue, Facts, Persistence};

/// A result whose error is [`Error`] unless another is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of every Segue crate.
///
/// `Display` prints the message and nothing else: it is for the person who asked. `Debug` and
/// [`Error::log_view`] print a bounded view without secrets: it is for logs.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: ErrorCode,
    operation: &'static str,
    message: String,
    facts: Facts,
    // Shared, so that one error can be told to every partition that waits for it.
    source: Option<Arc<dyn StdError + Send + Sync>>,
    trace_id: Option<String>,
}

impl Error {
    /// Makes an error.
    ///
    /// `operation` says what was being done, dotted and without values, such as
    /// `segment_stream.plan`. `message` is lower case without a full stop and names the thing and
    /// the value.
    pub fn new(code: ErrorCode, operation: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            operation,
            message: message.into(),
            facts: Facts::default(),
            source: None,
            trace_id: None,
        }))
    }

    /// Adds a fact that may be logged. A key that is taken keeps its first value.
    #[must_use]
    pub fn with_fact(mut self, key: &'static str, value: impl Into<FactValue>) -> Self {
        self.0.facts.insert(key, value.into(), false);
        self
    }

    /// Adds a fact that is never logged, such as a value out of the user's data or SQL. A key that
    /// is taken keeps its first value.
    #[must_use]
    pub fn with_private_fact(mut self, key: &'static str, value: impl Into<FactValue>) -> Self {
        self.0.facts.insert(key, value.into(), true);
        self
    }

    /// Puts `context` before the message, with a colon between them: what failed before why.
    #[must_use]
    pub fn with_context(mut self, context: impl fmt::Display) -> Self {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }

    /// Sets what caused this error. A later call replaces the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// Sets the id of the trace in which the error arose, unless there is one already.
    #[must_use]
    pub fn with_trace_id(mut self, trace_id: impl Into<String>) -> Self {
        if self.0.trace_id.is_none() {
            self.0.trace_id = Some(trace_id.into());
        }
        self
    }

    /// What went wrong.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The sort of failure, from the code.
    pub fn kind(&self) -> ErrorKind {
        self.0.code.kind()
    }

    /// How long the cause can be expected to last, from the code.
    pub fn persistence(&self) -> Persistence {
        self.0.code.persistence()
    }

    /// True if the failed call may be repeated unchanged after a pause. From the code, never from
    /// text.
    pub fn is_retryable(&self) -> bool {
        self.0.code.is_retryable()
    }

    /// What was being done, dotted.
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The message, unredacted; what `Display` prints.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The whole set of facts, private ones included.
    pub fn facts(&self) -> &Facts {
        &self.0.facts
    }

    /// The value of one fact, log-safe or private.
    pub fn fact(&self, key: &str) -> Option<&FactValue> {
        self.0.facts.get(key)
    }

    /// The id of the trace in which the error arose.
    pub fn trace_id(&self) -> Option<&str> {
        self.0.trace_id.as_deref()
    }

    /// The bounded view without secrets, for logs: `tracing::warn!(error = %error.log_view())`.
    pub fn log_view(&self) -> LogView<'_> {
        LogView::new(self)
    }

    /// True if the error names a cause; see [`ErrorCode::is_specific`].
    pub fn is_specific(&self) -> bool {
        self.0.code.is_specific()
    }

    /// Chooses which of two errors of one query is its error, given in the order in which they
    /// were seen.
    ///
    /// The rule: the first specific error wins, and without a specific one the first. So a failed
    /// fetch wins over the closed channel and the cancellation that it causes, even where these
    /// are seen earlier; and of two real causes the earlier one stays. The winner takes over the
    /// other's trace id if it has none.
    #[must_use]
    pub fn prefer(first: Self, second: Self) -> Self {
        let (winner, other) = if !first.is_specific() && second.is_specific() {
            (second, first)
        } else {
            (first, second)
        };
        match other.0.trace_id {
            Some(trace_id) => winner.with_trace_id(trace_id),
            None => winner,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.log_view(), f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // The bounds Send and Sync are dropped by the cast.
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn StdError + 'static))
    }
}
