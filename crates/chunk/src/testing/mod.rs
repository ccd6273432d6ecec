//! Doubles for tests: chunk builders, a scripted source, and the suite that every [`ChunkSource`] passes.
//!
//! [`ChunkSource`]: crate::ChunkSource

mod builder;
pub mod conformance;
pub mod recording;
pub mod scripted;
pub mod sketch;

pub use builder::{ChunkBuilder, schema_of};
pub use recording::RecordingWriter;
pub use scripted::{Announced, Counts, Fault, Gate, Order, ScriptedSource};
