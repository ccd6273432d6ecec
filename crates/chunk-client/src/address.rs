//! Addresses of catalog servers.

use std::fmt;
use std::str::FromStr;

use segue_error::{Error, ErrorCode, Result};
use url::{Host, Url};

/// Port of a plain connection where none is given.
const PLAIN_PORT: u16 = 51234;
/// Port of a TLS connection where none is given.
const TLS_PORT: u16 = 443;

/// Where a catalog server listens: `rerun+http://HOST[:PORT]` for a plain connection (port 51234 unless
/// given), `rerun+https://HOST[:PORT]` or `rerun://HOST[:PORT]` for TLS (port 443 unless given).
///
/// ```
/// use segue_chunk_client::Address;
///
/// let address: Address = "rerun+http://localhost".parse()?;
/// assert_eq!(address.to_string(), "rerun+http://localhost:51234");
/// # Ok::<(), segue_error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    host: Host,
    port: u16,
    is_tls: bool,
}

impl Address {
    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Host and port, as in a URL.
    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The address for HTTP.
    pub(crate) fn http(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls {
            "rerun+https"
        } else {
            "rerun+http"
        };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl FromStr for Address {
    type Err = Error;

    /// `invalid_argument` when `text` is no such address; user names and paths are refused, not ignored.
    fn from_str(text: &str) -> Result<Self> {
        let url = Url::parse(text).map_err(|error| wrong(text, &error.to_string()))?;
        let is_tls = match url.scheme() {
            "rerun" | "rerun+https" => true,
            "rerun+http" => false,
            other => return Err(wrong(text, &format!("its scheme is '{other}'"))),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(text, "a login does not belong into it"));
        }
        let rest = (url.path(), url.query(), url.fragment());
        if !matches!(rest, ("" | "/", None, None)) {
            return Err(wrong(text, "something follows host and port"));
        }
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| wrong(text, "it has no host"))?;
        // For schemes that it does not know, `url` leaves hosts as they are written.
        let host = Host::parse(host).map_err(|error| wrong(text, &error.to_string()))?;
        let default = if is_tls { TLS_PORT } else { PLAIN_PORT };
        let port = url.port().unwrap_or(default);
        Ok(Self { host, port, is_tls })
    }
}

fn wrong(text: &str, why: &str) -> Error {
    let message = format!(
        "'{}' is no address of a catalog: {why}; it should be rerun+http://HOST:PORT, \
         rerun+https://HOST:PORT or rerun://HOST:PORT",
        shown(text)
    );
    Error::new(ErrorCode::InvalidArgument, "client.address", message)
}

/// What may be shown of a text that is no address: not what may be a secret, a login or a query.
fn shown(text: &str) -> String {
    let (text, cut) = match text.find(['?', '#']) {
        Some(at) => (text.get(..=at).unwrap_or_default(), "…"),
        None => (text, ""),
    };
    let Some((login, rest)) = text.rsplit_once('@') else {
        return format!("{text}{cut}");
    };
    let scheme = login.find("://").and_then(|at| login.get(..at + 3));
    format!("{}…@{rest}{cut}", scheme.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_host_port_and_whether_to_encrypt() {
        for (text, shown, http) in [
            ("rerun+http://h", "rerun+http://h:51234", "http://h:51234"),
            ("rerun+http://h:80/", "rerun+http://h:80", "http://h:80"),
            ("rerun://h", "rerun+https://h:443", "https://h:443"),
            ("rerun+https://H:9", "rerun+https://h:9", "https://h:9"),
            (
                "rerun+http://127.0.0.1:1",
                "rerun+http://127.0.0.1:1",
                "http://127.0.0.1:1",
            ),
            (
                "rerun+http://[::1]:1",
                "rerun+http://[::1]:1",
                "http://[::1]:1",
            ),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(address.http(), http);
            assert_eq!(address.is_tls(), http.starts_with("https"));
        }
    }

    #[test]
    fn what_is_no_address_is_said_to_be_none() {
        for text in [
            "",
            "localhost",
            "localhost:51234",
            "http://localhost",
            "rerun+http://",
            "rerun+http:///x",
            "rerun+http://h:port",
            "rerun+http://h:99999",
            "rerun+http://h/dataset",
            "rerun+http://a b",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument, "{text}");
            let message = error.message();
            assert!(
                message.contains(text) && message.contains("rerun+http://HOST"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_secret_in_what_is_no_address_is_not_shown() {
        for (text, shown) in [
            ("rerun+http://me:secret@h", "'rerun+http://…@h'"),
            ("rerun+http://secret@h:port", "'rerun+http://…@h:port'"),
            ("https://me:se@cret@h/x", "'https://…@h/x'"),
            ("me:secret@h", "'…@h'"),
            ("rerun+http://h?token=secret", "'rerun+http://h?…'"),
            ("rerun+http://h/#secret@h", "'rerun+http://h/#…'"),
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument, "{text}");
            let message = error.message();
            assert!(
                message.contains(shown) && !message.contains("cret"),
                "{message}"
            );
        }
    }
}
