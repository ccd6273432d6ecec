//! What happens to every request before and after its method: login, trace id, version.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use subtle::ConstantTimeEq as _;
use tonic::Status;

/// Response header with name and version of the server.
const SERVER_VERSION: HeaderName = HeaderName::from_static("x-rerun-server-version");
/// Response header with the id of the trace that the request belongs to.
const TRACE_ID: HeaderName = HeaderName::from_static("x-request-trace-id");
/// Request header with the trace of the client.
const TRACE_PARENT: &str = "traceparent";

/// Where the version is told, without a login.
pub(crate) const VERSION_PATH: &str = "/version";

/// Version of the program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What requests are checked for.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    token: Option<Arc<str>>,
}

impl Gate {
    /// Lets through who has `token`, or everybody.
    pub(crate) fn new(token: Option<Arc<str>>) -> Self {
        Self { token }
    }

    fn check(&self, headers: &HeaderMap) -> Result<(), Status> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let Some(given) = headers.get(AUTHORIZATION) else {
            return Err(Status::unauthenticated("a token is wanted"));
        };
        let given = given.as_bytes().split_at_checked("Bearer ".len());
        let is_right = given.is_some_and(|(scheme, given)| {
            let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer ");
            is_bearer & bool::from(given.ct_eq(token.as_bytes()))
        });
        match is_right {
            true => Ok(()),
            false => Err(Status::unauthenticated("the token is not accepted")),
        }
    }
}

/// Answers `request`, if it may pass, and says who answered.
pub(crate) async fn around(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let trace_id = trace_id(request.headers());
    let is_open = request.uri().path() == VERSION_PATH;
    let mut response = match gate.check(request.headers()) {
        Err(status) if !is_open => status.into_http::<Body>(),
        _ => next.run(request).await,
    };
    let headers = response.headers_mut();
    let version = concat!("segue/", env!("CARGO_PKG_VERSION"));
    headers.insert(SERVER_VERSION, HeaderValue::from_static(version));
    if let Ok(id) = HeaderValue::try_from(trace_id) {
        headers.insert(TRACE_ID, id);
    }
    response
}

/// The version, for who asks whether the server is there.
pub(crate) async fn version() -> &'static str {
    concat!("segue/", env!("CARGO_PKG_VERSION"), "\n")
}

/// The trace id that the client gave, or a new one: 32 hexadecimal digits.
fn trace_id(headers: &HeaderMap) -> String {
    let given = headers
        .get(TRACE_PARENT)
        .and_then(|value| value.to_str().ok());
    match given.and_then(of_parent) {
        Some(id) => id.to_owned(),
        None => format!("{:032x}", fastrand::u128(1..)),
    }
}

/// The trace id in a `traceparent` of any version.
fn of_parent(parent: &str) -> Option<&str> {
    let mut parts = parent.split('-');
    let (version, id) = (parts.next()?, parts.next()?);
    let is_hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_id = id.len() == 32 && is_hex(id) && id.bytes().any(|b| b != b'0');
    (version.len() == 2 && is_hex(version) && is_id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let value = HeaderValue::try_from(value).unwrap();
        [(HeaderName::from_static(name), value)]
            .into_iter()
            .collect()
    }

    #[test]
    fn only_the_token_opens_the_gate() {
        let gate = Gate::new(Some("s3cret".into()));
        let check = |value: &str| gate.check(&headers("authorization", value));
        assert!(check("Bearer s3cret").is_ok());
        assert!(check("bearer s3cret").is_ok());
        for bad in [
            "",
            "s3cret",
            "Bearer",
            "Bearer ",
            "Bearer s3cre",
            "Bearer s3cret ",
            "Basic  s3cret",
        ] {
            let code = check(bad).unwrap_err().code();
            assert_eq!(code, tonic::Code::Unauthenticated, "{bad}");
        }
        assert!(gate.check(&HeaderMap::new()).is_err());
        assert!(Gate::new(None).check(&HeaderMap::new()).is_ok());
    }

    #[test]
    fn the_trace_is_that_of_the_client_or_a_new_one() {
        let id = "0af7651916cd43dd8448eb211c80319c";
        let given = |parent: &str| trace_id(&headers("traceparent", parent));
        assert_eq!(given(&format!("00-{id}-b7ad6b7169203331-01")), id);
        for bad in [
            "",
            "00",
            "00-1-2-3",
            &format!("zz-{id}-b7ad6b7169203331-01"),
        ] {
            let new = given(bad);
            assert_eq!(new.len(), 32, "{new}");
            assert_ne!(new, given(bad));
        }
        assert_ne!(
            given(&format!("00-{}-b7ad6b7169203331-01", "0".repeat(32))),
            "0".repeat(32)
        );
    }
}
