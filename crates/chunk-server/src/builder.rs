//! What a server is made of.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use segue_chunk::{ChunkSource as _, LocalSource};
use segue_error::{Error, ErrorCode, Result};
use tokio::net::TcpListener;
use tonic::transport::{Identity, Server, ServerTlsConfig};

use crate::entry::{Entries, is_name};
use crate::http::Gate;
use crate::server::BoundServer;
use crate::service::{Reads, Service};

/// How long a client may take to agree on keys.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How many requests read files at a time, unless it is said.
const CONCURRENT_FETCHES: NonZeroUsize = NonZeroUsize::new(32).expect("32 is not zero");

/// A server of the datasets of a folder, before it listens.
pub struct ChunkServer {
    source: LocalSource,
    token: Option<Arc<str>>,
    identity: Option<Identity>,
    concurrent_fetches: NonZeroUsize,
}

impl fmt::Debug for ChunkServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkServer")
            .field("source", &self.source)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("tls", &self.identity.is_some())
            .field("concurrent_fetches", &self.concurrent_fetches)
            .finish()
    }
}

impl ChunkServer {
    /// A server of the datasets of `source`, open to everybody who can reach it.
    pub fn builder(source: LocalSource) -> Self {
        Self {
            source,
            token: None,
            identity: None,
            concurrent_fetches: CONCURRENT_FETCHES,
        }
    }

    /// Wants `token` as a bearer token with every call. Without TLS, whoever listens in learns it.
    #[must_use]
    pub fn token(mut self, token: impl Into<Arc<str>>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Speaks TLS, and shows the certificate `cert_pem` (with those between it and its root, where there are
    /// some) whose key is `key_pem`.
    #[must_use]
    pub fn tls(mut self, cert_pem: impl AsRef<[u8]>, key_pem: impl AsRef<[u8]>) -> Self {
        self.identity = Some(Identity::from_pem(cert_pem, key_pem));
        self
    }

    /// How many requests read files at a time; the others wait for their turn.
    #[must_use]
    pub fn max_concurrent_fetches(mut self, fetches: NonZeroUsize) -> Self {
        self.concurrent_fetches = fetches;
        self
    }

    /// Listens at `address`; port 0 is a free one. Clients can connect from then on, and are served once
    /// [`BoundServer::serve`] runs. Datasets whose names the protocol does not have are
    /// [left out](BoundServer::left_out).
    ///
    /// `invalid_argument` when the token is empty, or when certificate or key cannot be read;
    /// `transport_unavailable` when the address cannot be had.
    pub async fn bind(self, address: SocketAddr) -> Result<BoundServer> {
        let invalid =
            |message: String| Error::new(ErrorCode::InvalidArgument, "server.bind", message);
        if self.token.as_deref().is_some_and(str::is_empty) {
            return Err(invalid("the token is empty".to_owned()));
        }
        let mut server = Server::builder();
        if let Some(identity) = self.identity {
            let tls = ServerTlsConfig::new().identity(identity).timeout(HANDSHAKE);
            server = server.tls_config(tls).map_err(|error| {
                let reason = crate::server::chain(&error);
                invalid(format!("certificate or key cannot be used: {reason}")).with_source(error)
            })?;
        }
        let names = self.source.datasets().await?;
        let (names, left_out) = names.into_iter().partition(|name| is_name(name));
        let names: Vec<String> = names;
        let service = Service {
            source: self.source,
            entries: Entries::new(names, SystemTime::now()),
            reads: Reads::new(self.concurrent_fetches.get()),
        };
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| {
            let message = format!("cannot listen at {address}: {error}");
            Error::new(ErrorCode::TransportUnavailable, "server.bind", message).with_source(error)
        })?;
        BoundServer::new(server, service, left_out, Gate::new(self.token), listener)
    }
}
