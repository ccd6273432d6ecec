//! The server, over loopback, as a client meets it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod access;
mod methods;
mod replay;
mod rubbish;
mod streams;
mod support;
