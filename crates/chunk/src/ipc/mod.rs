//! Arrow IPC streams of outside origin, read without trust, and written.
//!
//! Every length, count and offset is checked before it is used, and every array is fully validated, so
//! that damaged or hostile bytes are an [`IpcError`], never a panic, and never ask for more memory than
//! what arrived can hold. Buffers are slices of the stream's memory wherever it is aligned.

mod arrays;
mod batch;
mod body;
mod compression;
mod encode;
mod error;
mod framing;
mod schema;
#[cfg(test)]
pub(crate) mod tests;
mod types;

pub(crate) use compression::decompress;
pub(crate) use encode::{WRITTEN_VERSION, write_batch, write_schema};
pub(crate) use error::{IpcError, IpcErrorKind};
pub(crate) use framing::{read_batch, read_plain_batch, read_schema};
