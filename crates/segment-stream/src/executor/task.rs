//! Tasks that end with who waits for them.

use segue_error::{Error, ErrorCode, Result};
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, Span};

use crate::cpu::panicked;

/// Runs `task` in the runtime at hand, under the current span.
pub(super) fn spawn<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> AbortOnDropHandle<T> {
    #[expect(
        clippy::disallowed_methods,
        reason = "aborted when the handle is dropped"
    )]
    let handle = tokio::spawn(task.instrument(Span::current()));
    AbortOnDropHandle::new(handle)
}

/// What came of a task; `internal` if it panicked, `cancelled` if its runtime has ended.
pub(super) fn outcome_of<T>(outcome: Result<Result<T>, JoinError>) -> Result<T> {
    outcome.unwrap_or_else(|lost| {
        Err(match lost.try_into_panic() {
            Ok(panic) => panicked(panic.as_ref()),
            Err(_) => Error::new(
                ErrorCode::Cancelled,
                "segment_stream.run",
                "the runtime that the query reads in has been shut down",
            ),
        })
    })
}
