//! What a connection is made of.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use backon::Retryable as _;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use segue_error::{Error, ErrorCode, Result};
use segue_proto::cloud::{VersionRequest, VersionResponse, WhoAmIRequest, WhoAmIResponse};
use tokio::time::timeout;
use tonic::Code;
use tonic::metadata::{AsciiMetadataValue, MetadataMap};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

use crate::address::Address;
use crate::connection::{Client, Connection, Deadlines, limit};
use crate::error::Failure;
use crate::fetch::{Fetch, GrpcFetch};
use crate::plan::Form;
use crate::retry::RetryPolicy;
use crate::source::RemoteSource;

/// What a server says that can answer `FindChunks`.
const CAN_FIND_CHUNKS: &str = "dataset:find_chunks";

/// The longest timeout that there is, a year: clocks cannot count for ever.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Bytes of one stream that may be under way without being read.
const STREAM_WINDOW: u32 = 4 * 1024 * 1024;
/// Bytes of all streams of a connection that may be under way without being read.
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;

/// What is done, for errors.
const CONNECTING: &str = "connect to the catalog";

type Layer = Box<dyn FnOnce(Arc<dyn Fetch>) -> Arc<dyn Fetch> + Send>;

/// Describes a connection to a catalog server; made by [`RemoteSource::builder`].
pub struct RemoteSourceBuilder {
    address: String,
    token: Option<String>,
    ca_certificate: Option<Vec<u8>>,
    client_name: String,
    connecting: RetryPolicy,
    connect_timeout: Duration,
    deadlines: Deadlines,
    concurrent_requests: usize,
    old_form: bool,
    layers: Vec<Layer>,
}

impl RemoteSourceBuilder {
    pub(crate) fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            token: None,
            ca_certificate: None,
            client_name: "segue".to_owned(),
            connecting: RetryPolicy::default(),
            connect_timeout: Duration::from_secs(10),
            deadlines: Deadlines {
                metadata: Duration::from_secs(60),
                fetch: Duration::from_secs(300),
            },
            concurrent_requests: 32,
            old_form: false,
            layers: Vec::new(),
        }
    }

    /// Sends this token with every request. It is not shown anywhere.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Trusts these certificates (PEM), too, beside those of the system. For connections with TLS.
    #[must_use]
    pub fn ca_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_certificate = Some(pem.into());
        self
    }

    /// Name by which the server knows this client, `segue` unless given.
    #[must_use]
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.client_name = name.into();
        self
    }

    /// How connecting is tried again.
    #[must_use]
    pub fn connect_retries(mut self, policy: RetryPolicy) -> Self {
        self.connecting = policy;
        self
    }

    /// How long one attempt may take to connect, and then to get the first answer; 10 s each unless given.
    /// An attempt that took too long is not repeated.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout.min(LONGEST);
        self
    }

    /// How long a request about metadata may take to its end, 60 s unless given.
    #[must_use]
    pub fn metadata_timeout(mut self, timeout: Duration) -> Self {
        self.deadlines.metadata = timeout.min(LONGEST);
        self
    }

    /// How long a request for chunks may take to its end, 300 s unless given.
    #[must_use]
    pub fn fetch_timeout(mut self, timeout: Duration) -> Self {
        self.deadlines.fetch = timeout.min(LONGEST);
        self
    }

    /// How many requests to this server may be under way in this process, 32 unless given. The first source
    /// for a server decides; others share its limit for as long as it is used.
    #[must_use]
    pub fn concurrent_requests(mut self, most: usize) -> Self {
        self.concurrent_requests = most;
        self
    }

    /// Plans in the form of version 0.36 (`QueryDataset`), even where the server can do that of 0.41: for
    /// comparing the two, or around a fault in one.
    #[must_use]
    pub fn plan_by_query_dataset(mut self) -> Self {
        self.old_form = true;
        self
    }

    /// Wraps what fetches chunks: to try again, to ask twice, or to get bytes in another way. The layer that
    /// is added last is the outermost.
    #[must_use]
    pub fn layer_fetch(
        mut self,
        layer: impl FnOnce(Arc<dyn Fetch>) -> Arc<dyn Fetch> + Send + 'static,
    ) -> Self {
        self.layers.push(Box::new(layer));
        self
    }

    /// Connects, and asks the server what it can do.
    ///
    /// `invalid_argument` when the address, the token or a certificate is none; `transport_unavailable` when
    /// nobody answers, also after the retries; `unauthenticated` or `permission_denied` when the server does
    /// not want this client; `invalid_response` when it is no catalog server.
    pub async fn connect(self) -> Result<RemoteSource> {
        let address: Address = self.address.parse()?;
        let headers = self.headers()?;
        let endpoint = self.endpoint(&address)?;
        let permits = limit(address.authority(), self.concurrent_requests);
        let (deadlines, old_form) = (self.deadlines, self.old_form);
        let most = self.connect_timeout;
        let attempt = || async {
            let channel = timeout(most, endpoint.connect()).await;
            let channel =
                channel.map_err(|_| Failure::of_deadline(&address, CONNECTING, most, None))?;
            let channel = channel.map_err(|error| Failure::of_connecting(&address, error))?;
            let (at, headers, permits) = (address.clone(), headers.clone(), Arc::clone(&permits));
            let connection = Connection::new(at, channel, headers, deadlines, permits);
            let can_find = greet(&connection, &address, most).await?;
            let form = match can_find && !old_form {
                true => Form::FindChunks,
                false => Form::QueryDataset,
            };
            Ok::<_, Failure>((connection, form))
        };
        let (connection, form) = attempt
            .retry(self.connecting.backoff())
            .when(Failure::is_worth_a_retry)
            .await?;
        let fetch: Arc<dyn Fetch> = Arc::new(GrpcFetch::new(connection.clone()));
        let fetch = self
            .layers
            .into_iter()
            .fold(fetch, |inner, layer| layer(inner));
        Ok(RemoteSource::new(address, connection, form, fetch))
    }

    fn headers(&self) -> Result<MetadataMap> {
        let mut headers = MetadataMap::new();
        let client = format!("{}/{}", self.client_name, env!("CARGO_PKG_VERSION"));
        let client: AsciiMetadataValue = client
            .parse()
            .map_err(|_| unusable("the name of the client"))?;
        headers.insert("x-rerun-client-version", client);
        if let Some(token) = &self.token {
            let bearer: AsciiMetadataValue = format!("Bearer {token}")
                .parse()
                .map_err(|_| unusable("the token"))?;
            let mut bearer = bearer;
            bearer.set_sensitive(true);
            headers.insert("authorization", bearer);
        }
        Ok(headers)
    }

    fn endpoint(&self, address: &Address) -> Result<Endpoint> {
        let wrong = |error: tonic::transport::Error| {
            let why = error.to_string();
            let why = std::error::Error::source(&error).map_or(why, ToString::to_string);
            invalid(format!(
                "no connection to {address} can be described: {why}"
            ))
        };
        let endpoint = Endpoint::from_shared(address.http()).map_err(wrong)?;
        let endpoint = endpoint
            .connect_timeout(self.connect_timeout)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .http2_keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(20))
            .tcp_nodelay(true);
        let certificates = self.ca_certificate.as_deref();
        let certificates = certificates.map(certificates_of).transpose()?;
        if !address.is_tls() {
            if certificates.is_some() {
                let message =
                    format!("certificates are of no use at {address}, which is without TLS");
                return Err(invalid(message));
            }
            return Ok(endpoint);
        }
        let tls = ClientTlsConfig::new().timeout(self.connect_timeout);
        let system = tls.clone().with_native_roots();
        let endpoint = match certificates {
            None => endpoint.tls_config(system),
            Some(own) => {
                let both = system.ca_certificate(own.clone());
                // A system may have no certificates of its own.
                let alone = || endpoint.clone().tls_config(tls.ca_certificate(own));
                endpoint.clone().tls_config(both).or_else(|_| alone())
            }
        };
        endpoint.map_err(wrong)
    }
}

/// Asks who we are: the first answer shows that the server is one, and whether it can answer `FindChunks`.
async fn greet(
    connection: &Connection,
    address: &Address,
    most: Duration,
) -> Result<bool, Failure> {
    let call = || connection.call(CONNECTING).within(most);
    let ask = async |mut client: Client, request| client.who_am_i(request).await;
    let read = |answer: WhoAmIResponse| {
        let can = answer.capabilities.unwrap_or_default().capabilities;
        Ok(can.iter().any(|name| name == CAN_FIND_CHUNKS))
    };
    let failure = match call().unary(WhoAmIRequest {}, ask, read).await {
        Ok(can_find) => return Ok(can_find),
        Err(failure) => failure,
    };
    if failure.is(Code::Unimplemented) {
        // Either older than the question, or a server of something else.
        let ask = async |mut client: Client, request| client.version(request).await;
        let read = |_: VersionResponse| Ok(false);
        let answer = call().unary(VersionRequest {}, ask, read).await;
        return answer.map_err(|failure| match failure.is(Code::Unimplemented) {
            true => failure.into_no_catalog(),
            false => failure,
        });
    }
    if failure.is_break() && !address.is_tls() {
        // What a server that speaks TLS does with plain bytes.
        let encrypted = address.authority();
        let hint = format!("with TLS it would be rerun+https://{encrypted}");
        return Err(failure.with_hint(&hint));
    }
    Err(failure)
}

impl fmt::Debug for RemoteSourceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSourceBuilder")
            .field("has_token", &self.token.is_some())
            .field("client_name", &self.client_name)
            .field("connecting", &self.connecting)
            .finish_non_exhaustive()
    }
}

fn unusable(what: &str) -> Error {
    invalid(format!("{what} has characters that a header cannot have"))
}

/// The certificates in `pem`; an error when there is none.
fn certificates_of(pem: &[u8]) -> Result<Certificate> {
    let mut found = CertificateDer::pem_slice_iter(pem);
    match found.next() {
        Some(Ok(_)) => Ok(Certificate::from_pem(pem)),
        Some(Err(_)) => Err(invalid(
            "the certificates to trust are damaged PEM".to_owned(),
        )),
        None => Err(invalid("there is no certificate (PEM) to trust".to_owned())),
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidArgument, "client.connect", message)
}
