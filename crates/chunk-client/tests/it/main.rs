//! Remote sources against a server that does as it is told.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod connecting;
mod copies;
mod faults;
mod headers;
mod layers;
mod raw;
mod reading;
mod rubbish;
mod support;
mod tls;
