//! Chunks, tables and schemas as messages of the protocol, and back.
//!
//! What comes from outside is checked as a recording is: rubbish is an error, never a panic, and never
//! decides how much memory is taken.

mod chunk;
mod store;
mod table;
#[cfg(test)]
mod tests;

use segue_error::{Error, ErrorCode};

pub(crate) use chunk::{ArrowMessage, compression};
pub(crate) use store::StoreKey;
pub use table::{decode_request_table, decode_schema, decode_table, encode_schema, encode_table};

/// The error that an answer does not follow the protocol.
fn invalid(reason: &str) -> Error {
    let message = format!("the server's answer does not follow the protocol: {reason}");
    Error::new(ErrorCode::InvalidResponse, "wire.decode", message)
}
