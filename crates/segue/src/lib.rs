//! Recordings as SQL tables.
//!
//! A folder of `.rrd` recordings, a catalog server, or any other [`ChunkSource`](chunk::ChunkSource), becomes a catalog in
//! which datasets are schemas and indexes are tables. Rows are streamed in the order of
//! `(rerun_segment_id, index)`; nothing is imported first.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use segue::SegueSession;
//! use segue::chunk::LocalSource;
//!
//! # let recordings = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/recordings");
//! let source = LocalSource::builder().folder(recordings).build()?;
//! let session = SegueSession::builder()
//!     .with_source(Arc::new(source))
//!     .build()
//!     .await?;
//!
//! // `robots` is a folder of recordings, `frame_nr` one of their timelines.
//! let frames = session
//!     .sql(
//!         "SELECT rerun_segment_id, count(*) AS frames
//!          FROM robots.frame_nr
//!          WHERE rerun_segment_id LIKE 'scalars_%'
//!          GROUP BY rerun_segment_id
//!          ORDER BY rerun_segment_id",
//!     )
//!     .await?;
//! let rows: usize = frames.collect().await?.iter().map(|batch| batch.num_rows()).sum();
//! assert_eq!(rows, 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Names
//!
//! Names are those of the recordings. DataFusion turns unquoted names into lower case, and most component
//! columns need quotes anyway: `"/sensor/temp:Scalars:scalars"`. An unknown dataset, index or column is an
//! error that names the nearest ones.
//!
//! # In an engine of your own
//!
//! [`install`] adds the catalog beside those a session has: `SELECT * FROM segue.robots.log_time`. One table
//! with options is a [`SegmentStreamTable`](stream::SegmentStreamTable), to be registered under any name.
//!
//! # What is where
//!
//! This crate is the one dependency that an engine needs: [`chunk`] has recordings and sources, [`stream`]
//! the tables, [`Error`] is the error of all of them. Behind the feature `client` (on by default), `client`
//! reads from catalog servers; behind `server`, `server` is one.

mod catalog;
mod function;
mod install;
mod message;
mod session;
mod statement;

pub use segue_chunk as chunk;
#[cfg(feature = "client")]
pub use segue_chunk_client as client;
#[cfg(feature = "server")]
pub use segue_chunk_server as server;
pub use segue_segment_stream as stream;

pub use catalog::{CHUNKS_TABLE, PUBLIC_SCHEMA, SEGMENTS_TABLE, STATIC_TABLE, SegueCatalog};
pub use install::{DEFAULT_CATALOG, install};
pub use message::error_message;
pub use segue_error::{Error, ErrorCode, ErrorKind, Result, find_segue_error};
pub use session::{SegueSession, SegueSessionBuilder};
