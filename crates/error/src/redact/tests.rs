use proptest::prelude::*;

use super::*;

#[test]
fn secrets_are_hidden_and_the_rest_is_kept() {
    let cases = [
        ("nothing to hide here", "nothing to hide here"),
        (
            "https://host/a/b.rrd is gone",
            "https://host/a/b.rrd is gone",
        ),
        (
            "see https://u:p@host/a now",
            "see https://[redacted]@host/a now",
        ),
        (
            "https://host/a?sig=1&x=2 failed",
            "https://host/a?[redacted] failed",
        ),
        (
            "https://host/a#access failed",
            "https://host/a#[redacted] failed",
        ),
        ("https://u:p?w@host/a", "https://[redacted]"),
        ("https://u:p@ss@host/", "https://[redacted]@host/"),
        ("proxy u:p@host", "proxy [redacted]@host"),
        ("u:p@x://host", "[redacted]@x://host"),
        ("@,http://h/a#b", "@,http://h/a#[redacted]"),
        ("/a?b=c&d=https://h/e?f=g", "/a?[redacted]"),
        ("GET /a?sig=1 failed", "GET /a?[redacted] failed"),
        ("mail a@example.org", "mail a@example.org"),
        ("is it so? a=b", "is it so? a=b"),
        ("Bearer abc rest", "Bearer [redacted] rest"),
        ("bearer: abc rest", "bearer: [redacted] rest"),
        ("x=Bearer%20abc rest", "x=Bearer[redacted] rest"),
        ("Authorization: Basic abc def", "Authorization: [redacted]"),
        ("Cookie: a=b; c=d\nHost: h", "Cookie: [redacted]\nHost: h"),
        ("token=abc rest", "token=[redacted] rest"),
        ("token = abc rest", "token = [redacted] rest"),
        ("token=Bearer abc rest", "token=[redacted] rest"),
        ("key=abc rows=3", "key=[redacted] rows=3"),
        ("monkeys=3", "monkeys=3"),
        (
            "AWS_SECRET_ACCESS_KEY=abc rest",
            "AWS_SECRET_ACCESS_KEY=[redacted] rest",
        ),
        (
            "{\"apiKey\": \"a b\", \"rows\": 3}",
            "{\"apiKey\": [redacted] \"rows\": 3}",
        ),
        (
            "Login { password: Some(\"a b\") }",
            "Login { password: [redacted] }",
        ),
        ("password=\"a b", "password=[redacted]"),
        (
            "run --token abc --rows 3",
            "run --token [redacted] --rows 3",
        ),
        ("token%3Dabc rest", "token%3D[redacted] rest"),
        ("ghp_0123456789abcdef rest", "[redacted] rest"),
        ("eyJhbGciOi.eyJzdWIi.c2ln rest", "[redacted] rest"),
        ("id -----BEGIN PRIVATE KEY-----\nabc", "id [redacted]"),
        ("token=a@b:c@d?e=f rest", "[redacted] rest"),
    ];
    for (text, expected) in cases {
        assert_eq!(redact(text), expected, "from {text:?}");
    }
}

#[test]
fn a_text_cut_in_a_password_loses_the_whole_word() {
    let prose = "a ".repeat(SCAN_BYTES / 2 - 10);
    let text = format!("{prose}https://user:hunter2hunter2@host/");
    let shown = log_safe(&text, SCAN_BYTES * 2);
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.ends_with('…'));
    assert_eq!(log_safe(&"x".repeat(SCAN_BYTES + 1), 100), "…");
}

#[test]
fn log_safe_text_is_one_line_without_quotes_or_invisible_characters() {
    let text = "a\nb\r\u{1b}[31m\"c\"\u{202e}\u{200b}d";
    assert_eq!(log_safe(&text, 100), "a b  [31m'c'  d");
}

#[test]
fn formatting_stops_once_enough_was_seen() {
    struct Endless(std::cell::Cell<usize>);
    impl fmt::Display for Endless {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            loop {
                self.0.set(self.0.get() + 1);
                f.write_str("word ")?;
            }
        }
    }
    let endless = Endless(std::cell::Cell::new(0));
    assert_eq!(log_safe(&endless, 12), "word word…");
    assert!(endless.0.get() <= SCAN_BYTES / 5 + 1);
}

/// Begins and ends every secret, so that a part of one is noticed too.
pub(crate) const MARK: &str = "Zq9";

/// A secret that nothing else in these tests contains.
pub(crate) fn secret() -> impl Strategy<Value = String> {
    "Zq9[A-Za-z0-9!$&*+,;~_./@:?#=-]{3,24}Zq9"
}

/// A text that carries a secret in one of the shapes that must be recognised.
pub(crate) fn carrier(secret: &str, shape: usize) -> String {
    let shapes: [&dyn Fn() -> String; 18] = [
        &|| format!("https://user:{secret}@host/path"),
        &|| format!("https://{secret}@host/path"),
        &|| format!("user:{secret}@host:80"),
        &|| format!("s3://bucket/path?X-Sig={secret}"),
        &|| format!("http://host/?a=b&c={secret}#d"),
        &|| format!("http://host/path#{secret}"),
        &|| format!("/path?x={secret}"),
        &|| format!("Bearer {secret}"),
        &|| format!("authorization: Basic {secret}"),
        &|| format!("Authorization: Custom id=1, {secret}"),
        &|| format!("token={secret}"),
        &|| format!("key={secret}"),
        &|| format!("api_key: {secret}"),
        &|| format!("\"clientSecret\" : \"{secret} {secret}\""),
        &|| format!("password = '{secret} {secret}'"),
        &|| format!("Token {{ token: Some(\"{secret}\") }}"),
        &|| format!("--access-token {secret}"),
        &|| format!("session_token=>Bearer {secret}"),
    ];
    shapes[shape % shapes.len()]()
}

proptest! {
    #[test]
    fn no_recognised_shape_shows_its_secret(
        secret in secret(),
        shape in 0_usize..18,
        before in "\\PC{0,40}",
        after in "\\PC{0,40}",
        glue in "[ ,;({\n\t]",
    ) {
        let text = format!("{before}{glue}{} {after}", carrier(&secret, shape));
        let shown = redact(&text);
        prop_assert!(!shown.contains(MARK), "{text:?} -> {shown:?}");
    }

    #[test]
    fn any_text_is_redacted_within_its_bound(text in "(?s).{0,600}", max in 8_usize..300) {
        let shown = log_safe(&text, max);
        prop_assert!(shown.len() <= max);
        let forbidden = ['\n', '\r', '"', '\u{1b}'];
        prop_assert!(!shown.contains(forbidden));
    }

    #[test]
    fn text_of_plain_words_is_left_alone(text in "([a-j]{1,8} ){0,20}") {
        prop_assert_eq!(redact(&text), text.as_str());
    }
}
