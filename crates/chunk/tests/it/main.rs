//! Tests of the crate from outside.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail as tests do, by a panic"
)]

mod conformance;
mod contents;
mod damage;
mod layers;
mod limits;
mod local;
mod recordings;
mod support;
