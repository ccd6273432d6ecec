//! `segue query`.

use std::future::{Future, pending};
use std::io::{self, BufWriter, Write};
use std::pin::pin;
use std::sync::Arc;

use futures::{StreamExt, poll};
use segue::SegueSession;
use segue::chunk::LocalSource;
use tokio::task::{JoinSet, block_in_place};

use crate::args::{QueryArgs, Recordings};
use crate::exit::Failure;
use crate::output::Output;

/// Prints the answer to the statement, or stops at Ctrl-C.
pub(crate) async fn run(args: QueryArgs) -> Result<(), Failure> {
    let mut interrupt = pin!(ctrl_c(tokio::signal::ctrl_c()));
    // The first poll is what installs the handler: before the query, so that no Ctrl-C is missed.
    if poll!(&mut interrupt).is_ready() {
        return Err(Failure::Interrupted);
    }
    // A task of its own, so that Ctrl-C is seen while it is stuck in a write. Dropping the set on the way
    // out aborts it, which drops the stream of rows and with it all that the query does.
    let mut query = JoinSet::new();
    query.spawn(answer(args));
    tokio::select! {
        outcome = query.join_next() => match outcome {
            Some(Ok(outcome)) => outcome,
            Some(Err(error)) => Err(Failure::Message(format!("the query broke off: {error}"))),
            None => Ok(()),
        },
        () = interrupt => Err(Failure::Interrupted),
    }
}

/// Ends with `signal`, and never where there is none: who cannot be interrupted still gets an answer.
async fn ctrl_c(signal: impl Future<Output = io::Result<()>>) {
    match signal.await {
        Ok(()) => {}
        Err(_) => pending().await,
    }
}

async fn answer(args: QueryArgs) -> Result<(), Failure> {
    let mut source = LocalSource::builder();
    for recordings in &args.recordings {
        source = match recordings {
            Recordings::Folder(dir) => source.folder(dir),
            Recordings::Dataset(name, dir) => source.dataset(name, dir),
        };
    }
    // Lists the files of the folders.
    let source = block_in_place(|| source.build())?;
    let session = SegueSession::builder()
        .with_source(Arc::new(source))
        .build()
        .await?;
    let mut rows = session.sql(&args.sql).await?.execute_stream().await?;

    let out = BufWriter::new(io::stdout());
    let mut output = Output::new(args.format, rows.schema(), out);
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        block_in_place(|| output.write(&batch))?;
    }
    block_in_place(|| output.finish()?.flush())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures::FutureExt;

    use super::ctrl_c;

    #[test]
    fn only_a_signal_that_came_is_ctrl_c() {
        assert_eq!(ctrl_c(ready(Ok(()))).now_or_never(), Some(()));
        let unheard = ready(Err(std::io::ErrorKind::Unsupported.into()));
        assert_eq!(ctrl_c(unheard).now_or_never(), None);
    }
}
