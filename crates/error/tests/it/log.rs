use std::fmt;
use std::sync::{Arc, Mutex};

use segue_error::{Error, ErrorCode};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the fields of every event as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let line = format!("{}: {value:?}\n", field.name());
        if let Ok(mut text) = self.0.lock() {
            text.push_str(&line);
        }
    }
}

#[test]
fn a_logged_error_shows_its_code_and_no_secret() {
    let error = Error::new(
        ErrorCode::TransportUnavailable,
        "client.connect",
        "cannot reach https://user:hunter2@host/?sig=hunter3",
    )
    .with_private_fact("sql", "hunter4")
    .with_source("Bearer hunter5 was refused");

    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        tracing::warn!(error = %error.log_view());
        tracing::warn!(error = ?error);
    });
    let text = log.0.lock().unwrap().clone();
    assert_eq!(
        text.matches("code=transport_unavailable").count(),
        2,
        "{text}"
    );
    assert!(!text.contains("hunter"), "{text}");
}
