use std::collections::HashSet;

use segue_error::{ErrorCode, ErrorKind, Persistence};

#[test]
fn labels_are_unique_and_the_snake_case_of_the_code() {
    let mut seen = HashSet::new();
    for code in ErrorCode::ALL {
        let mut snake = String::new();
        for c in format!("{code:?}").chars() {
            if c.is_ascii_uppercase() && !snake.is_empty() {
                snake.push('_');
            }
            snake.push(c.to_ascii_lowercase());
        }
        assert_eq!(code.label(), snake);
        assert_eq!(code.to_string(), code.label());
        assert!(seen.insert(code.label()), "{code} is there twice");
    }
    assert_eq!(seen.len(), 35);
}

#[test]
fn only_what_is_temporary_is_retryable() {
    let retryable: Vec<_> = ErrorCode::ALL
        .iter()
        .filter(|code| code.is_retryable())
        .collect();
    assert!(!retryable.is_empty());
    for code in retryable {
        assert_eq!(code.persistence(), Persistence::Temporary, "{code}");
    }
}

#[test]
fn every_summary_is_one_sentence_of_one_line() {
    for code in ErrorCode::ALL {
        let summary = code.summary();
        assert!(
            summary.ends_with('.') && !summary.contains(['\n', '|']),
            "{code}: {summary}"
        );
    }
}

#[test]
fn every_kind_has_a_code() {
    let kinds: HashSet<_> = ErrorCode::ALL.iter().map(|code| code.kind()).collect();
    assert_eq!(kinds.len(), 12);
    let labels: HashSet<_> = kinds.iter().map(|kind| kind.label()).collect();
    assert_eq!(labels.len(), 12);
}

#[test]
fn kinds_say_whom_to_blame() {
    for (code, kind) in [
        (ErrorCode::DeadlineExceeded, ErrorKind::Cancelled),
        (ErrorCode::UnknownIndex, ErrorKind::NotFound),
        (ErrorCode::InvalidOption, ErrorKind::InvalidInput),
        (ErrorCode::ChunkCorrupt, ErrorKind::DataCorruption),
        (
            ErrorCode::MemoryReservationFailed,
            ErrorKind::ResourceExhausted,
        ),
        (ErrorCode::TransportUnavailable, ErrorKind::Unavailable),
    ] {
        assert_eq!(code.kind(), kind, "{code}");
    }
}
