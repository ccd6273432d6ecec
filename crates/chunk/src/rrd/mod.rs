//! Recording files (`.rrd`), read lazily.
//!
//! A file is a 12-byte stream header and a row of messages: a kind and a length of eight bytes each, then
//! a protobuf body. Data comes in messages of one chunk each; the last message ends the stream and carries
//! the *footer*, which holds for every store of the file a *manifest*: its columns, and of every chunk the
//! entity, the place in the file, and its first and last time.
//!
//! [`RecordingIndex::read`] reads the footer and nothing else of the file. A file without one, because
//! whoever wrote it was stopped, and one of several recordings put one behind the other, is scanned once to
//! make the same index; chunks are decoded for that one by one and not kept. [`read_chunk`] then fetches single chunks.
//!
//! # What a damaged file does
//!
//! The footer has a checksum. A file whose tail names no footer is taken for one without: cut at the border of
//! two messages it is complete as far as it goes; what stands after the end message is ignored, as long
//! as the footer inside that message lists as many chunks as were found. Whatever else does not
//! add up is `chunk_corrupt` and names file and offset. Blueprint stores are skipped.
//!
//! Without a footer nothing repeats what a chunk says of itself: a name of an entity or column in which a byte
//! has changed is then another name.

mod chunk;
mod columns;
mod error;
mod footer;
mod frame;
mod index;
mod manifest;
mod read_at;
mod scan;

pub use chunk::{ChunkPlace, read_chunk};
pub(crate) use error::unreadable;
pub use footer::read_manifest;
pub use index::{ChunkEntry, RecordingIndex, StoreIndex, TimeSpan};
pub use read_at::{FileBytes, FileStamp, ReadAt};
