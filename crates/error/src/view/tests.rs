use std::error::Error as StdError;

use proptest::prelude::*;

use super::*;
use crate::ErrorCode;
use crate::redact::tests::{MARK, carrier, secret};

const KEYS: [&str; 20] = [
    "f00", "f01", "f02", "f03", "f04", "f05", "f06", "f07", "f08", "f09", "f10", "f11", "f12",
    "f13", "f14", "f15", "f16", "f17", "f18", "f19",
];

#[test]
fn the_view_is_one_line_of_named_values() {
    let cause = Error::new(ErrorCode::TransportUnavailable, "client.connect", "refused");
    let error = Error::new(ErrorCode::ChunkCorrupt, "chunk.decode", "bad length 7")
        .with_fact("rows", 3_u64)
        .with_fact("last", true)
        .with_fact("at", -5_i64)
        .with_fact("segment", "s\n1")
        .with_private_fact("value", "hidden")
        .with_trace_id("abc")
        .with_source(cause);
    let expected = "code=chunk_corrupt kind=data_corruption operation=chunk.decode \
                    message=\"bad length 7\" trace_id=\"abc\" rows=3 last=true at=-5 \
                    segment=\"s 1\" cause=\"refused\"";
    assert_eq!(error.log_view().to_string(), expected);
    assert_eq!(format!("{:?}", error.log_view()), expected);
    assert_eq!(format!("{error:?}"), expected);
    assert_eq!(format!("{error:#?}"), expected);
}

#[test]
fn a_fact_named_like_a_secret_is_hidden_whatever_its_value() {
    let error = Error::new(ErrorCode::Internal, "a.b", "m")
        .with_fact("api_token", "plain")
        .with_fact("pwd", 1234_u64);
    assert!(
        error
            .log_view()
            .to_string()
            .ends_with("api_token=[redacted] pwd=[redacted]")
    );
    assert_eq!(error.fact("pwd"), Some(&FactValue::U64(1234)));
}

#[test]
fn at_most_sixteen_facts_are_shown_and_the_rest_counted() {
    let error = KEYS
        .iter()
        .fold(Error::new(ErrorCode::Internal, "a.b", "m"), |error, key| {
            error.with_fact(key, 1_u64)
        });
    let view = error.log_view().to_string();
    assert!(view.contains("f15=1 facts_omitted=4"), "{view}");
    assert_eq!(error.facts().len(), 20);
}

#[test]
fn facts_that_do_not_fit_are_counted() {
    let long = "x".repeat(10_000);
    let error = KEYS
        .iter()
        .take(16)
        .fold(Error::new(ErrorCode::Internal, "a.b", "m"), |error, key| {
            error.with_fact(key, format!("{} {long}", "y ".repeat(200)))
        });
    let view = error.log_view().to_string();
    let shown = view.matches("=\"y y").count();
    assert!(shown >= 6, "{view}");
    assert!(
        view.ends_with(&format!("facts_omitted={}", 16 - shown)),
        "{view}"
    );
    assert!(view.len() <= MAX_VIEW_BYTES);
}

#[derive(Debug)]
struct Circle;

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("round")
    }
}

impl StdError for Circle {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self)
    }
}

#[test]
fn a_chain_of_causes_that_runs_in_a_circle_ends() {
    let error = Error::new(ErrorCode::Internal, "a.b", "m").with_source(Circle);
    assert_eq!(
        error
            .log_view()
            .to_string()
            .matches("cause=\"round\"")
            .count(),
        MAX_CAUSES
    );
}

proptest! {
    #[test]
    fn no_secret_reaches_the_view_from_any_part_of_an_error(
        secret in secret(),
        shape in 0_usize..18,
        part in 0_usize..5,
        padding in prop_oneof![0_usize..20, 100_usize..130, 4_060_usize..4_100],
    ) {
        let text = format!("{}{}", "a ".repeat(padding), carrier(&secret, shape));
        let error = Error::new(ErrorCode::Internal, "a.b", "m");
        let error = match part {
            0 => Error::new(ErrorCode::Internal, "a.b", text),
            1 => error.with_fact("f", text),
            2 => error.with_trace_id(text),
            3 => error.with_source(text),
            _ => error.with_private_fact("f", secret.clone()),
        };
        for view in [format!("{error:?}"), error.log_view().to_string()] {
            prop_assert!(!view.contains(MARK), "{view}");
        }
    }

    #[test]
    fn the_view_keeps_its_bounds_whatever_an_error_holds(
        message in "(?s).{0,600}",
        facts in proptest::collection::vec(("(?s).{0,400}", any::<bool>()), 0..20),
        trace_id in "(?s).{0,100}",
        causes in "(?s).{0,400}",
    ) {
        let mut error = Error::new(ErrorCode::Internal, "a.b", message)
            .with_trace_id(trace_id)
            .with_source(causes);
        for (key, (value, private)) in KEYS.iter().zip(facts) {
            error = match private {
                true => error.with_private_fact(key, value),
                false => error.with_fact(key, value),
            };
        }
        let view = error.log_view().to_string();
        prop_assert!(view.len() <= MAX_VIEW_BYTES);
        prop_assert!(!view.contains('\n'));
        for (i, value) in view.split('"').enumerate() {
            // Every second piece is a value: quotes inside values are replaced.
            prop_assert!(i % 2 == 0 || value.len() <= MAX_VALUE_BYTES - 2);
        }
        let public = error.facts().iter().filter(|fact| !fact.is_private()).count();
        let shown = KEYS.iter().filter(|key| view.contains(&format!(" {key}=\""))).count();
        prop_assert!(shown <= MAX_FACTS.min(public));
        prop_assert_eq!(view.contains("facts_omitted"), shown < public);
    }
}
