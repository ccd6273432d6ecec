//! What a session may bring of its own.

use std::sync::Arc;

use datafusion::prelude::SessionConfig;
use tokio::runtime::Handle;

use crate::cpu::CpuPool;
use crate::window::MemoryWindow;

/// The memory window, threads and runtime that the segment streams of a session use in place of the shared ones.
///
/// ```
/// use std::sync::Arc;
/// use datafusion::prelude::SessionConfig;
/// use segue_segment_stream::{MemoryWindow, StreamHandles};
///
/// let window = MemoryWindow::new(1 << 30);
/// let config = StreamHandles::default().with_window(window).set_in(SessionConfig::new());
/// # assert!(config.get_extension::<StreamHandles>().is_some());
/// ```
#[derive(Clone, Debug, Default)]
pub struct StreamHandles {
    window: Option<MemoryWindow>,
    cpu: Option<Arc<CpuPool>>,
    io: Option<Handle>,
}

impl StreamHandles {
    /// Holds memory in `window`.
    #[must_use]
    pub fn with_window(mut self, window: MemoryWindow) -> Self {
        self.window = Some(window);
        self
    }

    /// Decodes and makes rows on `cpu`.
    #[must_use]
    pub fn with_cpu(mut self, cpu: Arc<CpuPool>) -> Self {
        self.cpu = Some(cpu);
        self
    }

    /// Fetches on the runtime `io`, in place of the one in which a stream is first polled.
    #[must_use]
    pub fn with_io(mut self, io: Handle) -> Self {
        self.io = Some(io);
        self
    }

    /// Has the sessions with `config` use these.
    #[must_use]
    pub fn set_in(self, config: SessionConfig) -> SessionConfig {
        config.with_extension(Arc::new(self))
    }

    /// Those of `config`; without any, none.
    pub(crate) fn of(config: &SessionConfig) -> Self {
        let handles = config.get_extension::<Self>();
        handles.map_or_else(Self::default, |handles| (*handles).clone())
    }

    /// The window that was chosen.
    pub(crate) fn window(&self) -> Option<&MemoryWindow> {
        self.window.as_ref()
    }

    /// The pool that was chosen.
    pub(crate) fn cpu(&self) -> Option<&Arc<CpuPool>> {
        self.cpu.as_ref()
    }

    /// The runtime that was chosen.
    pub(crate) fn io(&self) -> Option<&Handle> {
        self.io.as_ref()
    }
}
