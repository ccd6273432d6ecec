use std::error::Error as _;

use segue_error::{Error, ErrorCode, FactValue, Result};

fn error(code: ErrorCode) -> Error {
    Error::new(code, "test.run", format!("{code} happened"))
}

#[test]
fn an_error_is_one_pointer_wide_also_in_a_result() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
}

#[test]
fn an_error_can_cross_threads_and_be_cloned() {
    fn check<T: Send + Sync + Clone + 'static>() {}
    check::<Error>();
}

#[test]
fn display_prints_the_message_and_nothing_else() {
    let error = error(ErrorCode::NameClash)
        .with_fact("name", "x")
        .with_trace_id("t")
        .with_source("cause");
    assert_eq!(error.to_string(), "name_clash happened");
    assert_eq!(error.message(), "name_clash happened");
}

#[test]
fn getters_return_what_was_put_in() {
    let error = error(ErrorCode::ServiceOverloaded).with_source("busy");
    assert_eq!(error.code(), ErrorCode::ServiceOverloaded);
    assert_eq!(error.kind(), ErrorCode::ServiceOverloaded.kind());
    assert_eq!(
        error.persistence(),
        ErrorCode::ServiceOverloaded.persistence()
    );
    assert!(error.is_retryable());
    assert_eq!(error.operation(), "test.run");
    assert_eq!(
        error.source().map(ToString::to_string).as_deref(),
        Some("busy")
    );
    assert_eq!(error.trace_id(), None);
}

#[test]
fn the_first_write_of_a_fact_wins_and_its_privacy_with_it() {
    let error = error(ErrorCode::Internal)
        .with_private_fact("b", "first")
        .with_fact("a", 1_u32)
        .with_fact("b", "second")
        .with_private_fact("a", 2_i32);
    let facts: Vec<_> = error
        .facts()
        .iter()
        .map(|fact| (fact.key(), fact.value().clone(), fact.is_private()))
        .collect();
    assert_eq!(
        facts,
        [
            ("b", FactValue::Str("first".into()), true),
            ("a", FactValue::U64(1), false),
        ]
    );
    assert_eq!(error.fact("b"), Some(&FactValue::from("first")));
    assert_eq!(error.fact("c"), None);
}

#[test]
fn debug_of_facts_shows_no_values() {
    let error = error(ErrorCode::Internal).with_private_fact("b", "hidden");
    assert!(!format!("{:?}", error.facts()).contains("hidden"));
}

#[test]
fn fact_values_keep_number_and_sign() {
    assert_eq!(FactValue::from(u64::MAX), FactValue::U64(u64::MAX));
    assert_eq!(FactValue::from(7_usize), FactValue::U64(7));
    assert_eq!(FactValue::from(i64::MIN), FactValue::I64(i64::MIN));
    assert_eq!(FactValue::from(-1_i32), FactValue::I64(-1));
    assert_eq!(FactValue::from(true).to_string(), "true");
    assert_eq!(FactValue::from(String::from("x")).to_string(), "x");
}

#[test]
fn a_trace_id_is_added_only_where_there_is_none() {
    let error = error(ErrorCode::Internal)
        .with_trace_id("first")
        .with_trace_id("second");
    assert_eq!(error.trace_id(), Some("first"));
}

#[test]
fn the_first_specific_error_wins() {
    use ErrorCode::{Cancelled, ChunkCorrupt, Internal, TransportUnavailable};
    for (first, second, winner) in [
        (Internal, TransportUnavailable, TransportUnavailable),
        (Cancelled, ChunkCorrupt, ChunkCorrupt),
        (ChunkCorrupt, Cancelled, ChunkCorrupt),
        (ChunkCorrupt, TransportUnavailable, ChunkCorrupt),
        (Cancelled, Internal, Cancelled),
        (Internal, Cancelled, Internal),
    ] {
        assert_eq!(Error::prefer(error(first), error(second)).code(), winner);
    }
    assert!(!error(Cancelled).is_specific());
}

#[test]
fn the_preferred_error_takes_the_others_trace_id_if_it_has_none() {
    let traced = error(ErrorCode::Cancelled).with_trace_id("t");
    let winner = Error::prefer(traced.clone(), error(ErrorCode::ChunkCorrupt));
    assert_eq!(
        (winner.code(), winner.trace_id()),
        (ErrorCode::ChunkCorrupt, Some("t"))
    );
    let winner = Error::prefer(error(ErrorCode::ChunkCorrupt).with_trace_id("own"), traced);
    assert_eq!(winner.trace_id(), Some("own"));
}
