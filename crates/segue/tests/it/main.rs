//! The public behaviour of Segue, from SQL to rows.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod cancelling;
mod catalog;
mod duplicates;
mod errors;
mod function;
mod golden;
mod memory;
mod plans;
mod reports;
mod slt;
mod support;
