//! Hiding secrets in text that goes to a log.
//!
//! Every rule marks byte ranges of the *original* text and the union of the ranges is replaced, so
//! no rule can uncover what another one hides. When in doubt a rule hides too much: a log line
//! that lost a word is cheaper than one that keeps a password.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::ops::Range;

/// What stands in for hidden text.
pub(crate) const REDACTED: &str = "[redacted]";

/// How much of a text is looked at. More than any view shows.
const SCAN_BYTES: usize = 8 * 1024;

/// Parts of a name (split at `_`, `-`, `.`) that make its value a secret.
const SECRET_PARTS: &[&str] = &[
    "auth",
    "bearer",
    "cookie",
    "jwt",
    "key",
    "keys",
    "pass",
    "pat",
    "pw",
    "pwd",
    "sas",
    "session",
    "sessionid",
    "sid",
    "sig",
];

/// Texts anywhere in a name that make its value a secret.
const SECRET_INFIXES: &[&str] = &[
    "apikey",
    "authoriz",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "signature",
    "token",
];

/// Names whose value goes on to the end of the line: headers with values of several words.
const LINE_NAMES: &[&str] = &["authorization", "cookie"];

/// Words that are followed by a secret.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "negotiate"];

/// Beginnings by which issuers mark their tokens; `eyJ` is a JSON web token.
const TOKEN_PREFIXES: &[&str] = &[
    "AIza",
    "AKIA",
    "ASIA",
    "SG.",
    "eyJ",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "sk-",
    "sk_",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxs-",
];

/// Shorter words with such a beginning are taken for ordinary ones.
const MIN_TOKEN_BYTES: usize = 16;

/// `value` as text without secrets and without characters that could forge log lines, at most
/// `max_bytes` long. Never formats more than a fixed amount, however long `value` is.
pub(crate) fn log_safe(value: &dyn fmt::Display, max_bytes: usize) -> String {
    let mut scanned = Scanned::default();
    // A failing `Display` and a full buffer both end the text; what is there is used.
    let _ended_early = write!(scanned, "{value}");
    let text = scanned.without_cut_word();

    let mut out = String::new();
    out.extend(redact(text).chars().map(|c| match c {
        '"' => '\'',
        c if forges_lines(c) => ' ',
        c => c,
    }));
    if scanned.cut {
        out.push('…');
    }
    truncate(&mut out, max_bytes);
    out
}

/// Shortens to at most `max_bytes`, ending in an ellipsis where something was cut.
fn truncate(text: &mut String, max_bytes: usize) {
    if text.len() > max_bytes {
        let end = text.floor_char_boundary(max_bytes.saturating_sub('…'.len_utf8()));
        text.truncate(end);
        text.push('…');
    }
}

/// True if the value of something of this name is a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let joined: String = lower.chars().filter(char::is_ascii_alphanumeric).collect();
    SECRET_INFIXES.iter().any(|infix| joined.contains(infix))
        || joined.ends_with("key")
        || lower
            .split(['_', '-', '.'])
            .any(|part| SECRET_PARTS.contains(&part))
}

/// Line breaks, terminal escapes, invisible and direction-changing characters.
fn forges_lines(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Takes text up to a limit.
#[derive(Default)]
struct Scanned {
    text: String,
    cut: bool,
}

impl Scanned {
    /// A word that was cut in the middle may have lost what marks it as a secret, such as the `@`
    /// behind a password, so it goes as a whole.
    fn without_cut_word(&self) -> &str {
        if !self.cut {
            return &self.text;
        }
        let end = self.text.rfind(char::is_whitespace).unwrap_or(0);
        self.text.get(..end).unwrap_or_default()
    }
}

impl Write for Scanned {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let room = SCAN_BYTES.saturating_sub(self.text.len());
        let end = s.floor_char_boundary(room);
        self.text.push_str(s.get(..end).unwrap_or_default());
        if end < s.len() {
            self.cut = true;
            return Err(fmt::Error);
        }
        Ok(())
    }
}

/// `text` with its secrets replaced.
fn redact(text: &str) -> Cow<'_, str> {
    let mut spans = Vec::new();
    mark_urls(text, &mut spans);
    mark_names_and_tokens(text, &mut spans);
    if let Some(start) = text.find("-----BEGIN") {
        spans.push(start..text.len());
    }
    spans.retain(|span| !span.is_empty());
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_unstable_by_key(|span| span.start);

    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        if span.start > done || out.is_empty() {
            out.push_str(text.get(done..span.start).unwrap_or_default());
            out.push_str(REDACTED);
        }
        done = done.max(span.end);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Marks userinfo, query and fragment of everything that looks like a URL, with a scheme or not.
fn mark_urls(text: &str, spans: &mut Vec<Range<usize>>) {
    let mut at = 0;
    for word in text.split(char::is_whitespace) {
        let start = at;
        let end = start + word.len();
        // The separator is one character of unknown width.
        at = end
            + text
                .get(end..)
                .and_then(|s| s.chars().next())
                .map_or(0, char::len_utf8);

        let authority = word.find("://").map(|i| i + "://".len());
        let bare = word
            .get(..authority.unwrap_or(word.len()))
            .unwrap_or_default();
        // `name:password@host`
        spans.extend(
            bare.rfind('@')
                .filter(|user| bare.get(..*user).is_some_and(|before| before.contains(':')))
                .map(|user| start..start + user),
        );
        // `path?name=value`
        spans.extend(
            bare.find('?')
                .filter(|query| bare.get(*query..).is_some_and(|query| query.contains('=')))
                .map(|query| start + query + 1..end),
        );
        if let Some(authority) = authority {
            let rest = word.get(authority..).unwrap_or_default();
            mark_after_scheme(rest, start + authority, spans);
        }
    }
}

/// Marks the secrets of a URL given from behind its `://`, which is at `start`.
fn mark_after_scheme(rest: &str, start: usize, spans: &mut Vec<Range<usize>>) {
    let end = start + rest.len();
    match (rest.rfind('@'), rest.find(['?', '#'])) {
        // An `@` behind a `?` ends a password or is part of the query: nobody can tell.
        (Some(user), Some(query)) if user > query => spans.push(start..end),
        (user, query) => {
            spans.extend(user.map(|user| start..start + user));
            spans.extend(query.map(|query| start + query + 1..end));
        }
    }
}

/// Marks `name=value` and `name: value` with the name of a secret, what follows an authentication
/// scheme, and words that are known kinds of tokens.
fn mark_names_and_tokens(text: &str, spans: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(start) = find_from(text, at, is_name_char) {
        let end = find_from(text, start, |c| !is_name_char(c)).unwrap_or(text.len());
        at = end;
        let name = text.get(start..end).unwrap_or_default();

        if name.len() >= MIN_TOKEN_BYTES && TOKEN_PREFIXES.iter().any(|p| name.starts_with(p)) {
            spans.push(start..end);
        }
        if is_scheme(name) {
            let value = skip(text, end, |c| c.is_whitespace() || ":=,\\".contains(c));
            spans.push(value..value_end(text, value));
        } else if is_secret_name(name)
            && let Some(value) = value_start(text, name, end)
        {
            let lower = name.to_ascii_lowercase();
            let value_end = if LINE_NAMES.iter().any(|line| lower.ends_with(line)) {
                find_from(text, value, |c| c == '\n').unwrap_or(text.len())
            } else {
                value_end(text, value)
            };
            spans.push(value..value_end);
        }
    }
}

/// Where the value of the secret `name`, which ends at `end`, begins; `None` if none follows.
fn value_start(text: &str, name: &str, end: usize) -> Option<usize> {
    let after = skip(text, end, |c| c.is_whitespace() || "\"'`\\])".contains(c));
    let rest = text.get(after..)?;
    let value = if rest.starts_with(['=', ':']) {
        skip(text, after, |c| "=:>".contains(c))
    } else if rest.get(..3).is_some_and(|s| s.eq_ignore_ascii_case("%3d")) {
        after + 3
    } else if name.starts_with("--") && after > end {
        after
    } else {
        return None;
    };
    Some(skip(text, value, char::is_whitespace))
}

/// Where a value that begins at `start` ends: at the first white space outside quotes and
/// brackets. An authentication scheme takes the word after it along.
fn value_end(text: &str, start: usize) -> usize {
    let mut quote = None;
    let mut escaped = false;
    let mut depth = 0_usize;
    for (i, c) in text.get(start..).unwrap_or_default().char_indices() {
        match (c, quote) {
            _ if escaped => escaped = false,
            ('\\', Some(_)) => escaped = true,
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'' | '`', None) => quote = Some(c),
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) => depth = depth.saturating_sub(1),
            (c, None) if c.is_whitespace() && depth == 0 => {
                let end = start + i;
                let word = text.get(start..end).unwrap_or_default();
                if !is_scheme(word) {
                    return end;
                }
                let next = skip(text, end, char::is_whitespace);
                return find_from(text, next, char::is_whitespace).unwrap_or(text.len());
            }
            (_, None) => {}
        }
    }
    text.len()
}

fn is_scheme(word: &str) -> bool {
    SCHEMES
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The place of the first character at or after `from` that `wanted` accepts.
fn find_from(text: &str, from: usize, wanted: impl Fn(char) -> bool) -> Option<usize> {
    text.get(from..)?.find(wanted).map(|i| from + i)
}

/// The first place at or after `from` whose character `skipped` refuses, or the end.
fn skip(text: &str, from: usize, skipped: impl Fn(char) -> bool) -> usize {
    find_from(text, from, |c| !skipped(c)).unwrap_or(text.len())
}

#[cfg(test)]
pub(crate) mod tests;
