//! Signals that ask the process to end.

use std::future::pending;

use crate::exit::Failure;

/// Ends when somebody asks the process to end, by Ctrl-C or SIGTERM. The first poll is what starts to listen.
pub(crate) async fn termination() {
    Signals::listen().next().await;
}

/// Listens to Ctrl-C and SIGTERM. Signals between two calls of [`next`](Self::next) are not missed.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen. Who cannot be interrupted can still work.
    pub(crate) fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    /// Waits for the next signal, and gives the end that it asks for.
    pub(crate) async fn next(&mut self) -> Failure {
        tokio::select! {
            () = received(&mut self.interrupt) => Failure::Interrupted,
            () = received(&mut self.terminate) => Failure::Terminated,
        }
    }
}

#[cfg(unix)]
async fn received(signal: &mut Option<tokio::signal::unix::Signal>) {
    let signal = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if signal.is_none() {
        pending().await
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Starts to listen when it is waited for.
    pub(crate) fn listen() -> Self {
        Self {}
    }

    /// Waits for the next signal, and gives the end that it asks for.
    pub(crate) async fn next(&mut self) -> Failure {
        // Who cannot be interrupted can still work.
        match tokio::signal::ctrl_c().await {
            Ok(()) => Failure::Interrupted,
            Err(_) => pending().await,
        }
    }
}
