//! The public behaviour of Segue, from SQL to rows.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod catalog;
mod errors;
mod golden;
mod memory;
mod plans;
mod reports;
mod support;
