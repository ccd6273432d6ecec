//! Connections that do not wait for ever: neither for the first word of a client, nor, once all is said, for the last.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::Connected;

/// How long a client may take to begin, and in the end to close its side, unless told otherwise.
const LIMIT: Duration = Duration::from_secs(10);

/// Bytes by which a client has begun: as many as HTTP/2 begins with.
const BEGINNING: usize = 24;

/// A connection that fails where the client does not begin, and that, once it is shut down, reads until the client has
/// closed its side, too.
///
/// A connection without a word would be held for as long as the client likes. A socket that is closed while something lies unread in it, such as the client's last word on how much it can
/// take, is reset: what was sent and has not arrived yet is lost, and with it the end of an answer.
#[derive(Debug)]
pub(crate) struct Linger<S> {
    inner: S,
    /// How long a client may take to begin, and to close its side.
    limit: Duration,
    /// Bytes that are still to come before the client has begun, and for how long they are waited for.
    beginning: Option<(usize, Pin<Box<Sleep>>)>,
    /// Set once everything was sent.
    closing: Option<Pin<Box<Sleep>>>,
}

impl<S> Linger<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self::with_limit(inner, LIMIT)
    }

    fn with_limit(inner: S, limit: Duration) -> Self {
        Self {
            inner,
            limit,
            beginning: Some((BEGINNING, Box::pin(sleep(limit)))),
            closing: None,
        }
    }
}

impl<S: Connected> Connected for Linger<S> {
    type ConnectInfo = S::ConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.inner.connect_info()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Linger<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let Some((missing, patience)) = &mut this.beginning else {
            return Pin::new(&mut this.inner).poll_read(cx, buffer);
        };
        let filled = buffer.filled().len();
        if Pin::new(&mut this.inner)
            .poll_read(cx, buffer)?
            .is_pending()
        {
            ready!(patience.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        *missing = missing.saturating_sub(buffer.filled().len() - filled);
        if *missing == 0 {
            this.beginning = None;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Linger<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let closing = match &mut this.closing {
            Some(closing) => closing,
            none => {
                ready!(Pin::new(&mut this.inner).poll_shutdown(cx))?;
                none.insert(Box::pin(sleep(this.limit)))
            }
        };
        // A client that goes on sending is read until the time is up.
        while closing.as_mut().poll(cx).is_pending() {
            let mut bytes = [0; 1024];
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut this.inner).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                // Closed, or broken: there is nothing to wait for.
                Ok(()) | Err(_) => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn it_ends_when_the_client_has_closed_and_not_before() {
        let (server, mut client) = duplex(64);
        let mut server = Linger::new(server);
        client.write_all(b"unread").await.unwrap();
        server.write_all(b"the end").await.unwrap();
        {
            let mut shutdown = Box::pin(server.shutdown());
            assert!(shutdown.as_mut().now_or_never().is_none());
            // The client sees the end of what it is sent.
            let mut text = String::new();
            client.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "the end");
            assert!(shutdown.as_mut().now_or_never().is_none());
            drop(client);
            shutdown.await.unwrap();
        }
    }

    #[tokio::test]
    async fn who_does_not_begin_is_not_waited_for_and_who_has_begun_may_pause() {
        let (server, mut client) = duplex(64);
        let mut silent = Linger::with_limit(server, Duration::ZERO);
        client.write_all(&[0; BEGINNING - 1]).await.unwrap();
        let mut bytes = Vec::new();
        let error = silent.read_to_end(&mut bytes).await.unwrap_err();
        assert_eq!(
            (error.kind(), bytes.len()),
            (io::ErrorKind::TimedOut, BEGINNING - 1)
        );

        let (server, mut client) = duplex(64);
        let mut server = Linger::with_limit(server, Duration::ZERO);
        client.write_all(&[0; BEGINNING]).await.unwrap();
        server.read_exact(&mut [0; BEGINNING]).await.unwrap();
        let mut one = [0];
        let mut next = Box::pin(server.read_exact(&mut one));
        assert!(next.as_mut().now_or_never().is_none());
        client.write_all(&[7]).await.unwrap();
        next.await.unwrap();
    }

    #[tokio::test]
    async fn it_does_not_wait_for_ever() {
        let (server, client) = duplex(64);
        let mut server = Linger::with_limit(server, Duration::ZERO);
        server.shutdown().await.unwrap();
        drop(client);
    }
}
