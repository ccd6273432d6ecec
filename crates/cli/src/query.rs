//! `segue query`.

use std::io::{self, BufWriter, Write};
use std::pin::pin;

use futures::{StreamExt, poll};
use segue::SegueSession;
use tokio::task::{JoinSet, block_in_place};

use crate::args::QueryArgs;
use crate::exit::Failure;
use crate::output::Output;
use crate::{signals, source};

/// Prints the answer to the statement, or stops at Ctrl-C.
pub(crate) async fn run(args: QueryArgs) -> Result<(), Failure> {
    let mut interrupt = pin!(signals::ctrl_c());
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

async fn answer(args: QueryArgs) -> Result<(), Failure> {
    let source = source::open(&args).await?;
    let session = SegueSession::builder().with_source(source).build().await?;
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
