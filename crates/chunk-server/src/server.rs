//! The server, listening.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use axum::middleware;
use axum::routing::get;
use futures::StreamExt as _;
use segue_error::{Error, ErrorCode, Result};
use segue_proto::cloud::rerun_cloud_service_server::RerunCloudServiceServer;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::http::{self, Gate};
use crate::linger::Linger;
use crate::service::Service;

/// Longest request, in bytes: some hundred thousand keys.
pub const MAX_REQUEST_BYTES: usize = 64 << 20;

/// How long nobody is accepted after accepting somebody has failed.
const AFTER_REFUSAL: Duration = Duration::from_millis(100);

/// How long a connection may be silent before the client is asked whether it is there.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(30);
/// How long the client has to say so.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// A server that listens.
pub struct BoundServer {
    server: Server,
    routes: Routes,
    listener: TcpListener,
    address: SocketAddr,
    left_out: Vec<String>,
}

impl fmt::Debug for BoundServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundServer")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl BoundServer {
    pub(crate) fn new(
        server: Server,
        service: Service,
        left_out: Vec<String>,
        gate: Gate,
        listener: TcpListener,
    ) -> Result<Self> {
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        let service = RerunCloudServiceServer::new(service)
            .max_decoding_message_size(MAX_REQUEST_BYTES)
            .max_encoding_message_size(usize::MAX);
        let mut routes = Routes::new(service);
        let router = std::mem::take(routes.axum_router_mut());
        *routes.axum_router_mut() = router
            .route(http::VERSION_PATH, get(http::version))
            .layer(middleware::from_fn_with_state(gate, http::around));
        Ok(Self {
            server,
            routes,
            listener,
            address,
            left_out,
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Datasets that are not served, because Rerun's clients refuse every listing with a name like theirs:
    /// names are letters and digits of ASCII, spaces and `-.:[]_`, 180 characters at most.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Serves until `shutdown` is done: from then on nobody can connect, and answers that have begun are
    /// finished. Returns when the last of them is. A client that does not take its answer can make that
    /// take forever; dropping the future does not wait for it.
    ///
    /// `transport_unavailable` when the server cannot go on.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) -> Result<()> {
        let incoming = TcpIncoming::from(self.listener).with_nodelay(Some(true));
        let incoming = incoming.then(|connection| async move {
            if connection.is_err() {
                // Such as no more files that can be opened: at once it would be the same again.
                sleep(AFTER_REFUSAL).await;
            }
            connection.map(Linger::new)
        });
        self.server
            .accept_http1(true)
            .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
            .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
            .add_routes(self.routes)
            .serve_with_incoming_shutdown(incoming, shutdown)
            .await
            .map_err(|error| failed(&error))
    }
}

fn failed(error: &(dyn std::error::Error + 'static)) -> Error {
    let message = format!("cannot serve: {}", chain(error));
    Error::new(ErrorCode::TransportUnavailable, "server.serve", message)
}

/// An error and its causes, in one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}
