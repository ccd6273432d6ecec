//! Why a connection failed, from the chain of errors that the transport reports.

use std::error::Error as StdError;
use std::io;

use segue_error::ErrorCode;

use super::clean;
use crate::address::Address;

/// Errors below one another that are looked at.
const MAX_DEPTH: usize = 16;

/// What happened, and in words.
pub(super) fn explain(error: &(dyn StdError + 'static), address: &Address) -> (ErrorCode, String) {
    let mut next = Some(error);
    let mut deepest = error;
    for _ in 0..MAX_DEPTH {
        let Some(error) = next else { break };
        if let Some(explained) = known(error, address) {
            return explained;
        }
        deepest = error;
        next = error.source();
    }
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
    let error = error.downcast_ref::<h2::Error>()?;
    of_http(error, address)
}

fn of_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => "the connection broke".to_owned(),
        io::ErrorKind::TimedOut => "the connection timed out".to_owned(),
        _ => clean(&error.to_string()),
    }
}

fn of_tls(error: &rustls::Error, address: &Address) -> (ErrorCode, String) {
    match error {
        rustls::Error::InvalidCertificate(why) => (
            ErrorCode::Unauthenticated,
            format!("the server's certificate is not trusted ({why:?})"),
        ),
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
        format!(
            "; with TLS it would be rerun+https://{}",
            address.authority()
        )
    };
    let why = format!("what answers there is no catalog server{hint}");
    Some((ErrorCode::InvalidResponse, why))
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
        ] {
            let (code, why) = explained(&io::Error::from(kind));
            assert_eq!(code, ErrorCode::TransportUnavailable);
            assert!(why.contains(words), "{why}");
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
    fn anything_else_is_a_broken_connection_with_its_deepest_reason() {
        let (code, why) = explained(&std::fmt::Error);
        assert_eq!(code, ErrorCode::TransportUnavailable);
        assert!(why.contains(&std::fmt::Error.to_string()), "{why}");
    }
}
