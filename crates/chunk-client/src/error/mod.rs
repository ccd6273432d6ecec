//! Failed calls as Segue's errors.

mod transport;

use std::error::Error as StdError;
use std::time::Duration;

use segue_error::{Error, ErrorCode};
use tonic::{Code, Status};

use crate::address::Address;
pub(crate) use transport::NotGrpc;

/// Longest text of a server that goes into an error, in bytes.
const MAX_TEXT: usize = 300;

/// Why a call failed. What a code means can depend on the call, so it is kept beside the error.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Option<Code>,
    is_late: bool,
    error: Error,
}

/// How an answer ended, as far as the transport has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// There is none.
    NotBegun,
    /// It is still coming, or has ended well: what fails then is to read it.
    NoError,
    /// The server says that the call failed.
    Failed,
    /// Without a word of the server whether that is all.
    Cut,
}

impl Failure {
    /// The call failed with `status`, whose origin `ending` tells.
    pub(crate) fn of_status(
        address: &Address,
        doing: &str,
        (status, ending): (Status, Ending),
        trace_id: Option<String>,
    ) -> Self {
        let told = |code, why: &str| failed(code, address, doing, why);
        if let Some(source) = status.source() {
            let (code, why) = transport::explain(source, address);
            return Self::new(None, told(code, &why).with_source(status), trace_id);
        }
        let (grpc, error) = match ending {
            Ending::Failed => {
                let code = status.code();
                (Some(code), told(self::code(code), &text(&status)))
            }
            Ending::Cut => {
                let why = "the answer ended without a status";
                (None, told(ErrorCode::TransportUnavailable, why))
            }
            Ending::NoError => {
                let why = clean(status.message());
                let why = format!("the server's answer does not follow the protocol: {why}");
                (None, told(ErrorCode::InvalidResponse, &why))
            }
            Ending::NotBegun => {
                let code = ErrorCode::TransportUnavailable;
                (None, told(code, &clean(status.message())))
            }
        };
        Self::new(grpc, error.with_source(status), trace_id)
    }

    /// What the server answered makes no sense, for the reason `error`.
    pub(crate) fn of_answer(
        address: &Address,
        doing: &str,
        error: Error,
        trace_id: Option<String>,
    ) -> Self {
        let error = error.with_context(format_args!("cannot {doing} at {address}"));
        Self::new(
            None,
            error.with_fact("server", address.to_string()),
            trace_id,
        )
    }

    /// Whether `status` is the transport's own sign that a deadline has passed.
    pub(crate) fn is_late(status: &Status) -> bool {
        status.source().is_some_and(transport::is_timeout)
    }

    /// The call did not end within `deadline`.
    pub(crate) fn of_deadline(
        address: &Address,
        doing: &str,
        deadline: Duration,
        trace_id: Option<String>,
    ) -> Self {
        let why = format!("{LATE} ({} s)", deadline.as_secs_f64());
        let error = failed(ErrorCode::TransportUnavailable, address, doing, &why);
        let late = Self::new(None, error, trace_id);
        Self {
            is_late: true,
            ..late
        }
    }

    /// The connection could not be made.
    pub(crate) fn of_connecting(address: &Address, error: tonic::transport::Error) -> Self {
        let (code, why) = transport::explain(&error, address);
        let told = failed(code, address, "connect to the catalog", &why);
        Self::new(None, told.with_source(error), None)
    }

    fn new(code: Option<Code>, error: Error, trace_id: Option<String>) -> Self {
        let error = match trace_id {
            Some(id) => error.with_trace_id(id),
            None => error,
        };
        Self {
            code,
            is_late: false,
            error,
        }
    }

    /// Whether to try again can help: where a server was waited for in vain, it would take as long again.
    pub(crate) fn is_worth_a_retry(&self) -> bool {
        self.error.is_retryable() && !self.is_late
    }

    /// Whether the server answered with `code`.
    pub(crate) fn is(&self, code: Code) -> bool {
        self.code == Some(code)
    }

    /// Whether the other side has ended the connection.
    pub(crate) fn is_break(&self) -> bool {
        transport::is_break(&self.error)
    }

    /// The same failure as a sign that the server is none of a catalog.
    pub(crate) fn into_no_catalog(self) -> Self {
        let (code, why) = transport::no_catalog("");
        let message = format!("{} ({why})", self.error.message());
        Self {
            error: reworded(self.error, code, message),
            ..self
        }
    }

    /// The same failure as another error code.
    pub(crate) fn into_code(self, code: ErrorCode) -> Error {
        let message = self.error.message().to_owned();
        reworded(self.error, code, message)
    }

    /// The same failure with more words.
    pub(crate) fn with_hint(self, hint: &str) -> Self {
        let message = format!("{}; {hint}", self.error.message());
        let code = self.error.code();
        Self {
            error: reworded(self.error, code, message),
            ..self
        }
    }
}

/// `error` with another code and message.
fn reworded(error: Error, code: ErrorCode, message: String) -> Error {
    let mut other = Error::new(code, "client.call", message);
    if let Some(server) = error.fact("server").cloned() {
        other = other.with_fact("server", server);
    }
    if let Some(id) = error.trace_id().map(str::to_owned) {
        other = other.with_trace_id(id);
    }
    other.with_source(error)
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

const LATE: &str = "the server did not answer in time";

fn failed(code: ErrorCode, address: &Address, doing: &str, why: &str) -> Error {
    let message = format!("cannot {doing} at {address}: {why}");
    Error::new(code, "client.call", message).with_fact("server", address.to_string())
}

/// What a server's status code means, unless the call knows better.
fn code(code: Code) -> ErrorCode {
    match code {
        Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded => {
            ErrorCode::TransportUnavailable
        }
        Code::Unauthenticated => ErrorCode::Unauthenticated,
        Code::PermissionDenied => ErrorCode::PermissionDenied,
        Code::ResourceExhausted => ErrorCode::ServiceOverloaded,
        Code::Unimplemented => ErrorCode::Unsupported,
        Code::InvalidArgument => ErrorCode::InvalidArgument,
        _ => ErrorCode::ServerError,
    }
}

/// One line of what the server said.
fn text(status: &Status) -> String {
    let said = clean(status.message());
    match status.code() {
        Code::Unauthenticated => {
            let hint = "the server wants a token, or does not accept the one it was given";
            if said.is_empty() {
                hint.to_owned()
            } else {
                format!("{hint} ({said})")
            }
        }
        code if said.is_empty() => code.description().to_lowercase(),
        _ => said,
    }
}

/// The first line of `text`, without control characters, cut where it is long.
fn clean(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line: String = line
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if line.len() <= MAX_TEXT {
        return line;
    }
    let end = line.floor_char_boundary(MAX_TEXT);
    format!("{}…", line.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: Status) -> Failure {
        ended(status, Ending::Failed)
    }

    fn ended(status: Status, ending: Ending) -> Failure {
        let address = "rerun+http://h:1".parse().unwrap();
        let trace_id = Some("t1".to_owned());
        Failure::of_status(&address, "list datasets", (status, ending), trace_id)
    }

    #[test]
    fn a_status_that_the_server_did_not_send_says_what_the_client_saw() {
        for (ending, code, words) in [
            (
                Ending::NotBegun,
                ErrorCode::TransportUnavailable,
                "bad bytes",
            ),
            (
                Ending::NoError,
                ErrorCode::InvalidResponse,
                "does not follow the protocol: bad bytes",
            ),
            (
                Ending::Cut,
                ErrorCode::TransportUnavailable,
                "without a status",
            ),
        ] {
            let failure = ended(Status::unimplemented("bad bytes"), ending);
            assert!(!failure.is(Code::Unimplemented), "{ending:?}");
            let error = Error::from(failure);
            assert_eq!(error.code(), code, "{ending:?}");
            assert!(error.message().contains(words), "{error}");
        }
    }

    #[test]
    fn a_status_is_a_code_and_a_line_that_names_the_server() {
        for (status, code, words) in [
            (
                Status::unavailable("gone"),
                ErrorCode::TransportUnavailable,
                "gone",
            ),
            (
                Status::unauthenticated(""),
                ErrorCode::Unauthenticated,
                "token",
            ),
            (
                Status::unauthenticated("expired"),
                ErrorCode::Unauthenticated,
                "(expired)",
            ),
            (
                Status::permission_denied("no"),
                ErrorCode::PermissionDenied,
                "no",
            ),
            (
                Status::resource_exhausted("busy"),
                ErrorCode::ServiceOverloaded,
                "busy",
            ),
            (
                Status::unimplemented(""),
                ErrorCode::Unsupported,
                "not implemented",
            ),
            (
                Status::invalid_argument("x"),
                ErrorCode::InvalidArgument,
                "x",
            ),
            (Status::out_of_range("far"), ErrorCode::ServerError, "far"),
            (Status::internal("oops"), ErrorCode::ServerError, "oops"),
            (Status::data_loss("lost"), ErrorCode::ServerError, "lost"),
            (Status::not_found("what"), ErrorCode::ServerError, "what"),
        ] {
            let grpc = status.code();
            let failure = of(status);
            assert!(failure.is(grpc) && !failure.is(Code::Ok));
            let error = Error::from(failure);
            assert_eq!(error.code(), code, "{grpc:?}");
            let message = error.message();
            assert!(
                message.starts_with("cannot list datasets at rerun+http://h:1: "),
                "{message}"
            );
            assert!(message.contains(words), "{message}");
            assert_eq!(error.trace_id(), Some("t1"));
        }
    }

    #[test]
    fn what_a_server_says_is_one_short_printable_line() {
        assert_eq!(clean("\n  a\u{1b}[2J b\r\nmore"), "a\u{fffd}[2J b");
        let long = clean(&"ü".repeat(1000));
        assert!(long.len() < 310 && long.ends_with('…'), "{long}");
    }

    #[test]
    fn a_failure_can_mean_something_else_and_keeps_the_rest() {
        let error = of(Status::not_found("no such chunk")).into_code(ErrorCode::SourceChanged);
        assert_eq!(error.code(), ErrorCode::SourceChanged);
        assert!(error.message().ends_with("no such chunk"), "{error}");
        assert_eq!(error.trace_id(), Some("t1"));
        assert!(error.fact("server").is_some());
    }

    #[test]
    fn an_answer_that_makes_no_sense_names_the_server_too() {
        let address = "rerun+http://h:1".parse().unwrap();
        let why =
            Error::new(ErrorCode::InvalidResponse, "client.plan", "no plan").with_fact("a", 1_u64);
        let trace_id = Some("t1".to_owned());
        let error = Error::from(Failure::of_answer(&address, "plan a read", why, trace_id));
        assert_eq!(
            error.to_string(),
            "cannot plan a read at rerun+http://h:1: no plan"
        );
        assert_eq!(
            (error.code(), error.trace_id()),
            (ErrorCode::InvalidResponse, Some("t1"))
        );
        assert!(error.fact("server").is_some() && error.fact("a").is_some());
    }

    #[test]
    fn who_was_waited_for_in_vain_is_not_asked_again() {
        let address = "rerun+http://h:1".parse().unwrap();
        let late = Failure::of_deadline(&address, "list datasets", Duration::from_secs(1), None);
        assert!(!late.is_worth_a_retry() && of(Status::unavailable("")).is_worth_a_retry());
    }
}
