//! What users of the crate rely on.

mod code;
mod docs;
mod error;
mod log;
