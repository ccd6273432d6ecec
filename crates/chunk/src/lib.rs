//! Recordings as chunks, and chunks as rows.
//!
//! A *recording* is a pile of [`Chunk`]s: Arrow record batches of one entity, each row with a row id,
//! zero or more timelines and nullable list columns, one per component. One or more recordings with the
//! same id are a *segment*; segments form a *dataset*.
//!
//! The crate has five rooms:
//!
//! * [`model`] and [`schema`]: what a chunk and a dataset are;
//! * [`ChunkDecoder`] and [`EncodedChunk`]: encoded bytes to validated chunks and back;
//! * [`source`]: the [`ChunkSource`] trait, the seam between where chunks come from and what is done with
//!   them; [`local`] implements it over folders of `.rrd` files read by [`rrd`];
//! * [`wire`]: chunks and tables as protocol messages, for clients and servers;
//! * [`assemble`]: from the chunks of a segment to ordered rows, a pure function over Arrow arrays.
//!
//! Nothing here knows a network or a query engine.
//!
//! # What damage can be seen
//!
//! Chunks carry no checksum. Damage in framing, metadata, lengths, compression or a recording's footer is
//! reported as `chunk_corrupt` or has no effect; damage in the bytes of a value cannot be told from
//! another value, and in a recording without a footer, neither can damage in the name of an entity or
//! component. Neither ever costs a row.

pub mod assemble;
pub mod contents;
mod decode;
mod ipc;
pub mod local;
pub mod model;
mod names;
pub mod rrd;
pub mod schema;
mod segments;
pub mod source;
#[cfg(any(test, feature = "test-util"))]
pub mod testing;
mod text_set;
pub mod view;
pub mod wire;

pub use contents::Contents;
pub use decode::{ChunkDecoder, decode_unannounced};
pub use local::LocalSource;
pub use model::{
    Chunk, ChunkId, ComponentName, ComponentValues, EntityPath, Fill, RowId, SegmentId, TimeColumn,
    TimeKind, TimeRange, Timeline,
};
pub use names::suggestion;
pub use schema::{ComponentColumn, DatasetSchema};
pub use segments::{rows_of_segments, segment_table_schema};
pub use source::{
    ChunkInfo, ChunkSource, ChunkStream, Compression, EncodedChunk, EntitySelection, PlanRequest,
    TimeSelection,
};
pub use text_set::TextSet;
pub use view::{View, ViewOptions};
