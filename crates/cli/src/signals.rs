//! Signals that ask the process to end.

use std::future::{Future, pending};
use std::io;

/// Ends when the user presses Ctrl-C. The first poll is what starts to listen.
pub(crate) async fn ctrl_c() {
    or_never(tokio::signal::ctrl_c()).await;
}

/// Ends when somebody asks the process to end, by Ctrl-C or SIGTERM. The first poll is what starts to listen.
pub(crate) async fn termination() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminated = async {
            signal(SignalKind::terminate())?.recv().await;
            Ok(())
        };
        tokio::select! {
            () = ctrl_c() => {}
            () = or_never(terminated) => {}
        }
    }
    #[cfg(not(unix))]
    ctrl_c().await;
}

/// Ends with `signal`, and never where there is none: who cannot be interrupted can still work.
async fn or_never(signal: impl Future<Output = io::Result<()>>) {
    match signal.await {
        Ok(()) => {}
        Err(_) => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures::FutureExt;

    use super::or_never;

    #[test]
    fn only_a_signal_that_came_counts() {
        assert_eq!(or_never(ready(Ok(()))).now_or_never(), Some(()));
        let unheard = ready(Err(std::io::ErrorKind::Unsupported.into()));
        assert_eq!(or_never(unheard).now_or_never(), None);
    }
}
