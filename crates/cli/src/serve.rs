//! `segue serve`.

use std::io::{self, Write};
use std::pin::pin;

use futures::poll;
use segue::server::ChunkServer;
use tokio::sync::oneshot;
use tokio::task::block_in_place;

use crate::args::{Recordings, ServeArgs};
use crate::exit::Failure;
use crate::{secret, signals};

/// Serves until somebody asks for the end.
pub(crate) async fn run(args: ServeArgs) -> Result<(), Failure> {
    let mut end = pin!(signals::termination());
    // The first poll is what installs the handlers: before the address is told to anybody.
    if poll!(&mut end).is_ready() {
        return Ok(());
    }
    // Lists the files of the folders.
    let source = block_in_place(|| Recordings::open(&args.recordings))?;
    let mut builder = ChunkServer::builder(source);
    let token = secret::token(args.token_file.as_deref())?;
    let is_open = token.is_none();
    if let Some(token) = token {
        builder = builder.token(token);
    }
    let mut scheme = "rerun+http";
    if let (Some(certificate), Some(key)) = (&args.tls_certificate, &args.tls_key) {
        builder = builder.tls(secret::read(certificate)?, secret::read(key)?);
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
    block_in_place(|| writeln!(io::stdout(), "{scheme}://{address}"))?;
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
