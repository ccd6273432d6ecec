//! Work on files, off the threads of the async runtime.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use segue_error::{Error, ErrorCode, Result};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::rrd::ReadAt;

/// Running work. Dropping it asks the work to stop at its next read.
pub(super) struct Blocking<T> {
    task: AbortOnDropHandle<Result<T>>,
    _stop: StopOnDrop,
}

/// Told to the work when nobody waits for it any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Starts `work`. `invalid_argument` outside a Tokio runtime.
pub(super) fn start<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
) -> Result<Blocking<T>> {
    let runtime = Handle::try_current().map_err(|error| {
        let message = "recordings can be read only within a Tokio runtime";
        Error::new(ErrorCode::InvalidArgument, "local.read", message).with_source(error)
    })?;
    let stop = Stop::default();
    let guard = StopOnDrop(stop.clone());
    let task = runtime.spawn_blocking(move || work(&stop));
    Ok(Blocking {
        task: AbortOnDropHandle::new(task),
        _stop: guard,
    })
}

impl<T> Blocking<T> {
    /// Waits for the result.
    pub(super) async fn finish(self) -> Result<T> {
        self.task.await.unwrap_or_else(|error| {
            let code = match error.is_cancelled() {
                true => ErrorCode::Cancelled,
                false => ErrorCode::Internal,
            };
            let message = format!("reading recordings ended early: {error}");
            Err(Error::new(code, "local.read", message).with_source(error))
        })
    }
}

/// Bytes that cannot be read any more once `stop` is set.
pub(super) struct Stoppable<'a> {
    pub(super) bytes: &'a dyn ReadAt,
    pub(super) stop: &'a Stop,
}

impl ReadAt for Stoppable<'_> {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if self.stop.0.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.bytes.read_exact_at(buffer, offset)
    }
}
