//! The session that a command works in.

use datafusion::logical_expr::{LogicalPlan, SetVariable, Statement};
use segue::chunk::suggestion;
use segue::stream::StreamHandles;
use segue::{Error, ErrorCode, SegueSession};

use crate::args::{Setting, SourceArgs};
use crate::exit::Failure;
use crate::source;

/// Opens the source, and a session over it.
pub(crate) async fn open(args: &SourceArgs) -> Result<SegueSession, Failure> {
    open_with(args, StreamHandles::default(), &[]).await
}

/// Opens the source, and a session over it with `handles` and `settings`.
pub(crate) async fn open_with(
    args: &SourceArgs,
    handles: StreamHandles,
    settings: &[Setting],
) -> Result<SegueSession, Failure> {
    let source = source::open(args).await?;
    let session = SegueSession::builder()
        .with_source(source)
        .with_stream_handles(handles);
    let session = session.build().await?;
    for setting in settings {
        set(&session, setting).await?;
    }
    Ok(session)
}

/// Does what `SET` does, but for an error that names the whole setting.
async fn set(session: &SegueSession, setting: &Setting) -> Result<(), Failure> {
    let Setting { name, value } = setting;
    let state = session.context().state();
    let mut known = state.config_options().entries();
    known.extend(state.runtime_env().config_entries());
    if !known.iter().any(|entry| entry.key == *name) {
        let names: Vec<&str> = known.iter().map(|entry| entry.key.as_str()).collect();
        let message = format!("no setting '{name}'{}", suggestion(name, &names));
        return Err(Error::new(ErrorCode::InvalidOption, "cli.set", message).into());
    }
    let plan = LogicalPlan::Statement(Statement::SetVariable(SetVariable {
        variable: name.clone(),
        value: value.clone(),
    }));
    let outcome = session.context().execute_logical_plan(plan).await;
    outcome.map_err(|error| Failure::from(error).about(&format!("--set {name}={value}")))?;
    Ok(())
}
