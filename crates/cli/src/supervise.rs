//! Work that can be watched, and ended at any time.

use std::future::Future;
use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::exit::Failure;
use crate::output::Scratch;
use crate::progress::Progress;
use crate::signals::Signals;

/// Bytes of stack of a thread: planning recurses, and a long chain of conditions is deep.
const STACK: usize = 64 * 1024 * 1024;

/// How often progress is drawn.
const TICK: Duration = Duration::from_millis(100);

/// How long work may go on after SIGTERM that cannot be interrupted, such as planning.
const GRACE: Duration = Duration::from_secs(5);

/// How long threads may take to end when there is nothing more to do.
const ENDING: Duration = Duration::from_millis(100);

/// How long the user waits after Ctrl-C before being told that a second one does not wait.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a command shares with who watches it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk {
    pub(crate) progress: Progress,
    pub(crate) scratch: Scratch,
}

/// Threads for the work of a command.
pub(crate) fn workers() -> Result<Runtime, Failure> {
    let mut workers = Builder::new_multi_thread();
    started(workers.enable_all().thread_stack_size(STACK).build())
}

/// Does `work` until its end, or until somebody asks the process to end.
///
/// The first Ctrl-C or SIGTERM aborts the work and waits until all that it holds is dropped, after SIGTERM not for
/// long; the second does not wait. Either way a file that was begun is removed.
pub(crate) fn run<W>(work: impl FnOnce(Desk) -> W) -> Result<(), Failure>
where
    W: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let desk = Desk::default();
    let workers = workers()?;
    // This thread does nothing but watch, so that Ctrl-C is seen whatever the workers are stuck in.
    let watch = started(Builder::new_current_thread().enable_all().build())?;
    let outcome = watch.block_on(supervise(work(desk.clone()), workers.handle(), &desk));
    desk.progress.stop();
    desk.scratch.discard();
    end(workers);
    outcome
}

/// Ends the threads of a command. One that is stuck, as in a write to a full pipe, must not keep the process alive.
///
/// Those that end in time are joined: letting go of a thread at the moment in which it ends can crash in glibc.
pub(crate) fn end(workers: Runtime) {
    workers.shutdown_timeout(ENDING);
}

async fn supervise<W>(work: W, workers: &Handle, desk: &Desk) -> Result<(), Failure>
where
    W: Future<Output = Result<(), Failure>> + Send + 'static,
{
    // Before the work, so that no signal is missed.
    let mut signals = Signals::listen();
    let mut tasks = JoinSet::new();
    tasks.spawn_on(work, workers);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let failure = loop {
        tokio::select! {
            Some(outcome) = tasks.join_next() => return ended(outcome),
            failure = signals.next() => break failure,
            _ = ticks.tick() => desk.progress.tick(),
        }
    };
    desk.progress.stop();
    tasks.abort_all();
    tokio::select! {
        outcome = tasks.join_next() => match outcome {
            // It had come to its end before.
            Some(Ok(outcome)) => outcome,
            _ => Err(failure),
        },
        _ = signals.next() => Err(failure),
        () = patience(&failure) => Err(failure),
    }
}

/// Says, once the user has waited a while, that the second Ctrl-C does not wait. Ends only where nobody may be there
/// to press it.
async fn patience(failure: &Failure) {
    if let Failure::Terminated = failure {
        return sleep(GRACE).await;
    }
    sleep(PATIENCE).await;
    if stderr().is_terminal() {
        // Who cannot be told is not told.
        let _ = writeln!(stderr(), "stopping; Ctrl-C again ends at once");
    }
    std::future::pending().await
}

fn ended(outcome: Result<Result<(), Failure>, JoinError>) -> Result<(), Failure> {
    outcome.unwrap_or_else(|error| Err(Failure::Message(format!("the work broke off: {error}"))))
}

fn started(runtime: std::io::Result<Runtime>) -> Result<Runtime, Failure> {
    runtime.map_err(|error| Failure::Message(format!("no threads: {error}")))
}
