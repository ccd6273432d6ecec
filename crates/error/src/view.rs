//! The bounded view of an error that may go to a log.

use std::error::Error as StdError;
use std::fmt::{self, Write};

use crate::redact::{REDACTED, is_secret_name, log_safe};
use crate::{Error, Fact, FactValue};

/// The most facts that a view shows.
const MAX_FACTS: usize = 16;
/// The most bytes of one fact's value, of the message, or of one cause.
const MAX_VALUE_BYTES: usize = 256;
/// The most bytes of a name that is fixed in the code or comes from a tracing system.
const MAX_NAME_BYTES: usize = 64;
/// The most bytes of the whole view.
const MAX_VIEW_BYTES: usize = 2 * 1024;
/// Kept free for saying how many facts did not fit.
const OMITTED_BYTES: usize = 40;
/// The most causes that a view shows; also ends a chain of causes that runs in a circle.
const MAX_CAUSES: usize = 4;

/// What of an error may be logged, as one line of `name=value` pairs.
///
/// At most 16 facts, 256 bytes for each value and 2 KiB in all. Private facts are left out.
/// Userinfo, query and fragment of URLs, tokens, keys and passwords in the message, the facts and
/// the causes read `[redacted]`. `Display` and `Debug` print the same.
pub struct LogView<'a> {
    error: &'a Error,
}

impl<'a> LogView<'a> {
    pub(crate) fn new(error: &'a Error) -> Self {
        Self { error }
    }

    fn render(&self) -> String {
        let error = self.error;
        let mut line = Line::default();
        line.push("code", error.code().label());
        line.push("kind", error.kind().label());
        line.push("operation", &clipped(error.operation()));
        line.push("message", &quoted(&error.message()));
        if let Some(trace_id) = error.trace_id() {
            line.push("trace_id", &quoted_within(&trace_id, MAX_NAME_BYTES));
        }

        let mut omitted = 0_usize;
        let public = error.facts().iter().filter(|fact| !fact.is_private());
        for (i, fact) in public.enumerate() {
            if i >= MAX_FACTS || !line.push(&clipped(fact.key()), &fact_value(fact)) {
                omitted += 1;
            }
        }
        if omitted > 0 {
            line.push_within(MAX_VIEW_BYTES, "facts_omitted", &omitted.to_string());
        }

        let mut cause = error.source();
        for _ in 0..MAX_CAUSES {
            let Some(shown) = cause else { break };
            line.push("cause", &quoted(&shown));
            cause = shown.source();
        }
        line.text
    }
}

impl fmt::Display for LogView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

impl fmt::Debug for LogView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

/// A line that takes whole pairs only, so that nothing is cut where it would mislead.
#[derive(Default)]
struct Line {
    text: String,
}

impl Line {
    /// Adds a pair and says whether there was room.
    fn push(&mut self, name: &str, value: &str) -> bool {
        self.push_within(MAX_VIEW_BYTES - OMITTED_BYTES, name, value)
    }

    fn push_within(&mut self, limit: usize, name: &str, value: &str) -> bool {
        let needed = name.len() + value.len() + 2;
        if self.text.len() + needed > limit {
            return false;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        // Writing to a String cannot fail.
        write!(self.text, "{name}={value}").is_ok()
    }
}

fn fact_value(fact: &Fact) -> String {
    if is_secret_name(fact.key()) {
        return REDACTED.to_owned();
    }
    match fact.value() {
        FactValue::Str(text) => quoted(text),
        number => number.to_string(),
    }
}

/// The text without secrets, in quotes that count towards its limit.
fn quoted(text: &dyn fmt::Display) -> String {
    quoted_within(text, MAX_VALUE_BYTES)
}

fn quoted_within(text: &dyn fmt::Display, max_bytes: usize) -> String {
    format!("\"{}\"", log_safe(text, max_bytes - 2))
}

fn clipped(name: &str) -> String {
    log_safe(&name, MAX_NAME_BYTES)
}

#[cfg(test)]
mod tests;
