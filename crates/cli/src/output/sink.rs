//! A thread that writes.

use std::io::{self, Write};

use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, spawn_blocking};

/// Bytes that are collected before they are written.
pub(super) const ENOUGH: usize = 64 * 1024;

/// Pieces that wait to be written at most.
const WAITING: usize = 2;

/// What the thread is asked to do.
enum Piece {
    Bytes(Vec<u8>),
    /// Say that all is written that came before.
    Mark(oneshot::Sender<()>),
}

/// Writes on a thread of its own, so that who produces can be aborted while the write is stuck. The thread ends
/// when the sink is dropped, unless it is stuck; then it ends with the process.
pub(super) struct Sink {
    pieces: mpsc::Sender<Piece>,
    /// Until its outcome is known.
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl Sink {
    pub(super) fn new(mut out: impl Write + Send + 'static) -> Self {
        let (pieces, mut waiting) = mpsc::channel(WAITING);
        let writer = spawn_blocking(move || {
            while let Some(piece) = waiting.blocking_recv() {
                match piece {
                    Piece::Bytes(bytes) => {
                        out.write_all(&bytes)?;
                        out.flush()?;
                    }
                    // Who does not wait for it any more is not told.
                    Piece::Mark(written) => drop(written.send(())),
                }
            }
            out.flush()
        });
        let writer = Some(writer);
        Self { pieces, writer }
    }

    /// Hands `bytes` over, and leaves none of them. Waits while others wait to be written; fails when one of those
    /// could not be.
    pub(super) async fn send(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let piece = Piece::Bytes(std::mem::take(bytes));
        match self.pieces.send(piece).await {
            Ok(()) => Ok(()),
            Err(_) => outcome(&mut self.writer).await,
        }
    }

    /// Waits until what was sent is written.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        let (mark, written) = oneshot::channel();
        if self.pieces.send(Piece::Mark(mark)).await.is_ok() && written.await.is_ok() {
            return Ok(());
        }
        outcome(&mut self.writer).await
    }

    /// Waits until all is written.
    pub(super) async fn close(self) -> io::Result<()> {
        let Self { pieces, mut writer } = self;
        drop(pieces);
        outcome(&mut writer).await
    }
}

/// What became of the writer; nothing new if that was asked before.
async fn outcome(writer: &mut Option<JoinHandle<io::Result<()>>>) -> io::Result<()> {
    match writer.take() {
        Some(writer) => writer
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, pipe};

    use super::*;

    #[tokio::test]
    async fn what_is_sent_is_written_in_order() {
        let (mut reader, writer) = pipe().unwrap();
        let mut sink = Sink::new(writer);
        for piece in [&b"one "[..], b"", b"two"] {
            sink.send(&mut piece.to_vec()).await.unwrap();
        }
        sink.flush().await.unwrap();
        let mut written = [0; 7];
        reader.read_exact(&mut written).unwrap();
        assert_eq!(&written, b"one two");
        sink.send(&mut b" three".to_vec()).await.unwrap();
        sink.close().await.unwrap();
        let mut written = String::new();
        reader.read_to_string(&mut written).unwrap();
        assert_eq!(written, " three");
    }

    #[tokio::test]
    async fn a_closed_pipe_ends_the_sender_with_its_own_error() {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut sink = Sink::new(writer);
        sink.send(&mut vec![1]).await.unwrap();
        let error = sink.flush().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        // It has been told.
        sink.close().await.unwrap();
    }
}
