//! How far a command is, on standard error while that is a terminal.

mod figures;
mod line;

use std::fmt;
use std::io::{IsTerminal, Write, stderr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use datafusion::physical_plan::ExecutionPlan;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use self::figures::Figures;

/// What ends sooner shows no progress.
const MOMENT: Duration = Duration::from_millis(500);

/// A line that says how far a command is, drawn by [`tick`](Self::tick) once the command has run for a moment, and
/// gone when something else is written.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Mutex<State>>);

struct State {
    /// Since when there is something to wait for; `None` while the user is waited for.
    started: Option<Instant>,
    /// Number of the statement and of all statements.
    statement: Option<(usize, usize)>,
    /// What is being executed, and since when.
    plan: Option<(Arc<dyn ExecutionPlan>, Instant)>,
    bar: Option<ProgressBar>,
    /// Nothing is drawn any more.
    is_over: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            started: None,
            statement: None,
            plan: None,
            bar: None,
            is_over: !stderr().is_terminal(),
        })))
    }
}

impl Progress {
    /// The source is being opened; the user has said all that there is to say.
    pub(crate) fn connect(&self) {
        self.state().started = Some(Instant::now());
    }

    /// A statement begins: number `at` of `count`.
    pub(crate) fn begin(&self, at: usize, count: usize) {
        let mut state = self.state();
        state.statement = Some((at, count));
        state.plan = None;
    }

    /// The plan of the statement is executed from now on.
    pub(crate) fn execute(&self, plan: &Arc<dyn ExecutionPlan>) {
        self.state().plan = Some((Arc::clone(plan), Instant::now()));
    }

    /// The statement has ended.
    pub(crate) fn end(&self) {
        self.state().plan = None;
    }

    /// Draws the line if it is time for it.
    pub(crate) fn tick(&self) {
        let mut state = self.state();
        let waits = state.started.map(|started| started.elapsed());
        if state.is_over || waits.is_none_or(|time| time < MOMENT) {
            return;
        }
        let text = state.text();
        let bar = state.bar.get_or_insert_with(bar);
        bar.set_message(text);
        bar.tick();
    }

    /// Writes a line to standard error that stays, above that of the progress.
    pub(crate) fn say(&self, line: &str) {
        let state = self.state();
        // Who cannot be told is not told.
        let say = || drop(writeln!(stderr(), "{line}"));
        match &state.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Removes the line for good.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.is_over = true;
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn text(&self) -> String {
        let doing = match (&self.plan, self.statement) {
            (Some((plan, since)), _) => line::describe(&Figures::of(plan), since.elapsed()),
            (None, Some(_)) => "planning".to_owned(),
            (None, None) => "connecting".to_owned(),
        };
        match self.statement {
            Some((at, count)) if count > 1 => format!("statement {at} of {count}: {doing}"),
            _ => doing,
        }
    }
}

fn bar() -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let style = ProgressStyle::with_template("{spinner} {wide_msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(style);
    bar
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").finish_non_exhaustive()
    }
}
