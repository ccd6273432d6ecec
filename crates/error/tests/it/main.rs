//! What users of the crate rely on.

mod code;
mod error;
mod log;
