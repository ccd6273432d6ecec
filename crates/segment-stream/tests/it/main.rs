//! Integration tests of segment streams over scripted sources.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod claims;
mod counters;
mod docs;
mod equivalence;
mod execution;
mod explain;
mod faults;
mod metadata;
mod reading;
mod support;
mod tracing;
mod types;
mod window;
