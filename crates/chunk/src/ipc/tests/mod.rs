//! Streams of every type, whole and damaged.

mod compressed;
mod damage;
mod fuzz;
pub(crate) mod mutate;
pub(crate) mod rewrite;
mod round_trip;
pub(crate) mod samples;
mod types;
