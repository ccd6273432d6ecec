//! Why a connection failed, from the chain of errors that the transport reports.

use std::error::Error as StdError;
use std::{fmt, io, iter};

use segue_error::ErrorCode;

use super::clean;
use crate::address::Address;

/// Errors below one another that are looked at.
const MAX_DEPTH: usize = 16;

/// What answered is no gRPC server.
#[derive(Debug)]
pub(crate) struct NotGrpc {
    /// The HTTP status that it answered with.
    pub(crate) status: u16,
}

impl fmt::Display for NotGrpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an answer of HTTP, with status {}", self.status)
    }
}

impl StdError for NotGrpc {}

/// Whether `error` comes of a deadline that the transport keeps.
pub(super) fn is_timeout(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|error| error.is::<tonic::TimeoutExpired>())
}

/// Whether `error` comes of a connection that the other side has ended.
pub(super) fn is_break(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|error| {
        let io = error.downcast_ref::<io::Error>();
        let http = || error.downcast_ref::<h2::Error>()?.get_io();
        io.or_else(http).is_some_and(|error| is_end(error.kind()))
    })
}

fn is_end(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(
        kind,
        BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
    )
}

/// `error` and what is below it.
fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    iter::successors(Some(error), |&error| error.source()).take(MAX_DEPTH)
}

/// What happened, and in words.
pub(super) fn explain(error: &(dyn StdError + 'static), address: &Address) -> (ErrorCode, String) {
    if let Some(explained) = chain(error).find_map(|error| known(error, address)) {
        return explained;
    }
    let deepest = chain(error).last().unwrap_or(error);
    let why = clean(&deepest.to_string());
    let why = format!("the connection could not be made or broke ({why})");
    (ErrorCode::TransportUnavailable, why)
}

fn known(error: &(dyn StdError + 'static), address: &Address) -> Option<(ErrorCode, String)> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        // The source of an I/O error is that of what is in it, so what is in it has to be asked for.
        let inner = error
            .get_ref()
            .map(|inner| inner as &(dyn StdError + 'static));
        let inner = inner.and_then(|inner| known(inner, address));
        return Some(inner.unwrap_or_else(|| (ErrorCode::TransportUnavailable, of_io(error))));
    }
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(of_tls(error, address));
    }
    if let Some(error) = error.downcast_ref::<NotGrpc>() {
        return Some(of_status(error.status));
    }
    let error = error.downcast_ref::<h2::Error>()?;
    of_http(error, address)
}

/// What an HTTP status means that no gRPC server has sent: often that of something in front of one.
fn of_status(status: u16) -> (ErrorCode, String) {
    let why = format!("HTTP status {status}");
    match status {
        401 => (ErrorCode::Unauthenticated, why),
        403 => (ErrorCode::PermissionDenied, why),
        429 => (ErrorCode::ServiceOverloaded, why),
        502..=504 => (ErrorCode::TransportUnavailable, why),
        _ => no_catalog(&format!(" ({why})")),
    }
}

fn of_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        kind if is_end(kind) => "the connection broke".to_owned(),
        io::ErrorKind::TimedOut => "the connection timed out".to_owned(),
        // Such as bytes that are left when it ends.
        io::ErrorKind::Other => format!("the connection broke ({})", clean(&error.to_string())),
        _ => clean(&error.to_string()),
    }
}

fn of_tls(error: &rustls::Error, address: &Address) -> (ErrorCode, String) {
    match error {
        rustls::Error::InvalidCertificate(why) => {
            let why = match why {
                rustls::CertificateError::Other(why) => why.to_string(),
                why => why.to_string(),
            };
            let why = format!("the server's certificate is not trusted ({})", clean(&why));
            (ErrorCode::Unauthenticated, why)
        }
        rustls::Error::InvalidMessage(_) => {
            let plain = format!("rerun+http://{}", address.authority());
            let why = format!("the server does not speak TLS there; without TLS it is {plain}");
            (ErrorCode::InvalidResponse, why)
        }
        other => (
            ErrorCode::TransportUnavailable,
            clean(&format!("TLS: {other}")),
        ),
    }
}

/// `None` when the reason is further below.
fn of_http(error: &h2::Error, address: &Address) -> Option<(ErrorCode, String)> {
    if let Some(error) = error.get_io() {
        return known(error, address);
    }
    if let (true, true, Some(reason)) = (error.is_reset(), error.is_remote(), error.reason()) {
        let why = format!("the server broke its answer off ({reason})");
        return Some((ErrorCode::TransportUnavailable, why));
    }
    // What the other side sent made no sense to us, or ours to it.
    let is_protocol = error.reason().is_some_and(|reason| {
        matches!(
            reason,
            h2::Reason::PROTOCOL_ERROR
                | h2::Reason::FRAME_SIZE_ERROR
                | h2::Reason::COMPRESSION_ERROR
        )
    });
    if !is_protocol {
        return None;
    }
    let hint = if address.is_tls() {
        String::new()
    } else {
        let authority = address.authority();
        format!("; with TLS it would be rerun+https://{authority}")
    };
    Some(no_catalog(&hint))
}

/// What to say of a server of something else.
pub(super) fn no_catalog(hint: &str) -> (ErrorCode, String) {
    let why = format!("what answers there is no catalog server{hint}");
    (ErrorCode::InvalidResponse, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(error: &(dyn StdError + 'static)) -> (ErrorCode, String) {
        explain(error, &"rerun+http://h:1".parse().unwrap())
    }

    #[test]
    fn io_errors_are_said_in_words() {
        for (kind, words) in [
            (io::ErrorKind::ConnectionRefused, "refused"),
            (io::ErrorKind::ConnectionReset, "broke"),
            (io::ErrorKind::TimedOut, "timed out"),
            (io::ErrorKind::AddrInUse, "address in use"),
            (io::ErrorKind::Other, "the connection broke ("),
        ] {
            let (code, why) = explained(&io::Error::from(kind));
            assert_eq!(code, ErrorCode::TransportUnavailable);
            assert!(why.contains(words), "{why}");
            let is_end = kind == io::ErrorKind::ConnectionReset;
            assert_eq!(is_break(&io::Error::from(kind)), is_end);
        }
    }

    #[test]
    fn tls_errors_are_found_inside_io_errors() {
        let inner = rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
        let (code, why) = explained(&io::Error::new(io::ErrorKind::InvalidData, inner));
        assert_eq!(code, ErrorCode::InvalidResponse);
        assert!(
            why.contains("does not speak TLS") && why.contains("rerun+http://h:1"),
            "{why}"
        );

        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let (code, why) = explained(&io::Error::new(io::ErrorKind::InvalidData, unknown));
        assert_eq!(code, ErrorCode::Unauthenticated);
        assert!(why.contains("UnknownIssuer"), "{why}");
    }

    #[test]
    fn frames_that_make_no_sense_are_no_catalog() {
        let (code, why) = explained(&h2::Error::from(h2::Reason::FRAME_SIZE_ERROR));
        assert_eq!(code, ErrorCode::InvalidResponse);
        assert!(
            why.contains("no catalog server") && why.contains("rerun+https"),
            "{why}"
        );
    }

    #[test]
    fn an_answer_without_grpc_means_what_its_status_says() {
        for (status, code) in [
            (200, ErrorCode::InvalidResponse),
            (404, ErrorCode::InvalidResponse),
            (401, ErrorCode::Unauthenticated),
            (403, ErrorCode::PermissionDenied),
            (429, ErrorCode::ServiceOverloaded),
            (503, ErrorCode::TransportUnavailable),
        ] {
            let (got, why) = explained(&NotGrpc { status });
            assert_eq!(got, code);
            assert!(why.contains(&status.to_string()), "{why}");
        }
    }

    #[test]
    fn anything_else_is_a_broken_connection_with_its_deepest_reason() {
        let (code, why) = explained(&std::fmt::Error);
        assert_eq!(code, ErrorCode::TransportUnavailable);
        assert!(why.contains(&std::fmt::Error.to_string()), "{why}");
    }
}
