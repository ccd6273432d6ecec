//! Folders of recordings as a catalog server.
//!
//! [`ChunkServer`] serves the datasets of a [`LocalSource`](segue_chunk::LocalSource) over gRPC, as Rerun's
//! own servers of version 0.36 and 0.41 do, as far as reading goes:
//!
//! ```no_run
//! # use segue_chunk::LocalSource;
//! # use segue_chunk_server::ChunkServer;
//! # async fn example() -> segue_error::Result<()> {
//! let source = LocalSource::builder().folder("recordings").build()?;
//! let server = ChunkServer::builder(source).bind(([127, 0, 0, 1], 51234).into()).await?;
//! println!("listening at {}", server.local_addr());
//! server.serve(std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What it does
//!
//! * `Version`, `WhoAmI`, `FindEntries`, `ReadDatasetEntry`: who is there;
//! * `GetDatasetSchema`, `ScanSegmentTable`, `ScanDatasetManifest`, `GetRrdManifest` and the schemas of
//!   these tables: what a dataset has;
//! * `QueryDataset` (0.36) and `FindChunks` (0.41): which chunks a read needs;
//! * `FetchChunks`: the chunks.
//!
//! Every other call is `Unimplemented`. `GET /version` over HTTP/1.1 at the same port tells whether the server
//! is there, and needs no login.
//!
//! # What it promises
//!
//! * A plan may name more chunks than a read needs, never fewer. Chunks that lack the index of the read are of no
//!   use to it and are left out.
//! * Nothing of a recording is kept but its index. Of each request, a few chunks are in memory: one group is read
//!   ahead of the client, and no more before it takes what is there. A client that goes away stops the reading.
//!   Payloads are sent as they lie in the file, compressed or not.
//! * Requests may have up to [`MAX_REQUEST_BYTES`]; answers are not limited.
//! * Ids of datasets follow from their names. A chunk key finds its chunk as long as the recording is not changed;
//!   if it is, the call fails with `FailedPrecondition`, and the client has to plan again.
//! * Errors name files, not folders. The storage addresses in the tables of segments and layers are whole ones.

mod builder;
mod entry;
mod http;
mod infos;
mod key;
mod layers;
mod linger;
mod manifest;
mod plan;
mod request;
mod scan;
mod server;
mod service;
mod status;

pub use builder::ChunkServer;
pub use server::{BoundServer, MAX_REQUEST_BYTES};
