//! Tests of the crate from outside.

mod conformance;
mod damage;
mod local;
mod recordings;
mod support;
