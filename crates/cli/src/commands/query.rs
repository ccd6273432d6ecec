//! `segue query`.

use segue::stream::{MemoryWindow, StreamHandles};

use super::answer::{Timing, answer};
use super::warnings::Warnings;
use crate::args::QueryArgs;
use crate::exit::Failure;
use crate::input::Input;
use crate::output::Results;
use crate::session;
use crate::supervise::Desk;

/// Writes the answers to the statements, in their order, until one fails.
pub(crate) async fn query(args: QueryArgs, desk: Desk) -> Result<(), Failure> {
    let mut results = Results::open(&args.output, desk.clone()).await?;
    let outcome = run(&args, &mut results, &desk).await;
    results.close(outcome).await
}

async fn run(args: &QueryArgs, results: &mut Results, desk: &Desk) -> Result<(), Failure> {
    let input = Input::read(args).await?;
    desk.progress.connect();
    let handles = StreamHandles::default();
    let handles = match args.window {
        Some(bytes) => handles.with_window(MemoryWindow::new(bytes)),
        None => handles,
    };
    let session = session::open_with(&args.source, handles, &args.set).await?;
    let config = session.context().copied_config();
    let statements = input.statements(config.options().sql_parser.dialect)?;
    let mut warnings = Warnings::default();
    let count = statements.len();
    for (number, statement) in (1..).zip(&statements) {
        desk.progress.begin(number, count);
        let answered = answer(&session, &statement.sql(), results, desk).await;
        warnings.say_new(session.catalog(), desk);
        let name = format!("statement {number}");
        let timing = answered.map_err(|failure| match count {
            1 => failure,
            _ => failure.about(&name),
        })?;
        if args.timing {
            desk.progress.say(&described(&name, timing));
        }
    }
    Ok(())
}

fn described(statement: &str, timing: Timing) -> String {
    let Timing {
        planning,
        running,
        rows,
    } = timing;
    let (planning, running) = (planning.as_secs_f64(), running.as_secs_f64());
    let noun = if rows == 1 { "row" } else { "rows" };
    format!("{statement}: planned in {planning:.3} s, ran in {running:.3} s, {rows} {noun}")
}
