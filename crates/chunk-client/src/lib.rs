//! Recordings of a catalog server as a [`ChunkSource`](segue_chunk::ChunkSource).
//!
//! [`RemoteSource`] speaks Rerun's cloud protocol, in the form of version 0.36 or that of 0.41, whichever the
//! server can.
//!
//! ```no_run
//! # async fn example() -> segue_error::Result<()> {
//! use segue_chunk::ChunkSource;
//! use segue_chunk_client::RemoteSource;
//!
//! let source = RemoteSource::builder("rerun+http://127.0.0.1:51234").connect().await?;
//! println!("{:?}", source.datasets().await?);
//! # Ok(())
//! # }
//! ```
//!
//! The crate has these rooms: [`Address`] and the builder; `connection`, which carries calls, their headers,
//! deadlines and limits; `catalog`, the names and ids of datasets; `plan`, from a request to chunk infos in
//! either form of the protocol; [`Fetch`], from chunk infos to chunks; `error`, which turns failures into
//! Segue's errors.

mod address;
mod builder;
mod catalog;
mod connection;
mod error;
mod fetch;
mod plan;
mod retry;
mod segments;
mod source;
mod table;

pub use address::Address;
pub use builder::RemoteSourceBuilder;
pub use fetch::Fetch;
pub use retry::RetryPolicy;
pub use source::RemoteSource;
