//! Results on their way out.
//!
//! [`Results`] takes the batches of one result after the other, an [`Encoder`](encoder::Encoder) makes bytes of them, and a sink
//! writes those to a [`Destination`](destination::Destination) on a thread of its own.

mod arrow;
mod cell;
mod csv;
mod destination;
mod encoder;
mod explanation;
mod json;
mod parquet;
mod results;
mod scratch;
mod sink;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use results::Results;
pub(crate) use scratch::Scratch;
