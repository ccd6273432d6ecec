//! `segue serve`.

use std::io::{self, Write};
use std::pin::pin;

use futures::poll;
use segue::server::{BoundServer, ChunkServer};
use tokio::sync::oneshot;
use tokio::task::{JoinSet, block_in_place};

use crate::args::{Recordings, ServeArgs};
use crate::exit::Failure;
use crate::{secret, signals, terminal};

/// Serves until somebody asks for the end.
pub(crate) async fn run(args: ServeArgs) -> Result<(), Failure> {
    let mut end = pin!(signals::termination());
    // The first poll is what installs the handlers: before anything that can take long.
    if poll!(&mut end).is_ready() {
        return Ok(());
    }
    // A task of its own, so that the end is seen while a file system does not answer.
    let mut starting = JoinSet::new();
    starting.spawn(start(args));
    let server = tokio::select! {
        started = starting.join_next() => match started {
            Some(Ok(server)) => server?,
            Some(Err(error)) => {
                return Err(Failure::Message(format!("the server did not start: {error}")));
            }
            None => return Ok(()),
        },
        () = &mut end => return Ok(()),
    };
    let (stop, stopped) = oneshot::channel::<()>();
    // Either way of the channel's end is the signal.
    let mut serving = pin!(server.serve(async { stopped.await.unwrap_or_default() }));
    tokio::select! {
        outcome = &mut serving => return Ok(outcome?),
        () = end => drop(stop),
    }
    tokio::select! {
        outcome = serving => Ok(outcome?),
        () = signals::termination() => Err(Failure::Interrupted),
    }
}

/// A server that listens, and whose address is told.
async fn start(args: ServeArgs) -> Result<BoundServer, Failure> {
    // Lists the files of the folders.
    let source = block_in_place(|| Recordings::open(&args.recordings))?;
    let mut builder = ChunkServer::builder(source);
    let token = block_in_place(|| secret::token(args.token_file.as_deref()))?;
    let is_open = token.is_none();
    if let Some(token) = token {
        builder = builder.token(token);
    }
    let mut scheme = "rerun+http";
    if let (Some(certificate), Some(key)) = (&args.tls_certificate, &args.tls_key) {
        let (certificate, key) =
            block_in_place(|| Ok::<_, Failure>((secret::read(certificate)?, secret::read(key)?)))?;
        builder = builder.tls(certificate, key);
        scheme = "rerun+https";
    }
    let server = builder.bind(args.listen).await?;
    let address = server.local_addr();
    if is_open && !address.ip().is_loopback() {
        writeln!(
            io::stderr(),
            "warning: everybody who can reach {address} can read these recordings; see --token-file"
        )?;
    }
    for name in server.left_out() {
        let name = terminal::line(name);
        writeln!(
            io::stderr(),
            "warning: dataset '{name}' is left out, because Rerun's clients take only ASCII letters, digits, \
             spaces and -.:[]_ in a name; rename its folder, or serve it as NAME=DIR"
        )?;
    }
    block_in_place(|| writeln!(io::stdout(), "{scheme}://{address}"))?;
    Ok(server)
}
