//! Recordings as ordered DataFusion tables.
//!
//! [`SegmentStreamTable`] is a `TableProvider` over a dataset of any
//! [`ChunkSource`](segue_chunk::ChunkSource). Its rows are ordered by segment and index, and are made while
//! the chunks arrive:
//!
//! * planning reads metadata only: filters are turned into the segments and index values to read
//!   (`filter`), chunk infos are asked for and put in order (`plan`), and spread over partitions as
//!   DataFusion spreads rows by hash (`partition`), so that joins and aggregates on the segment need no
//!   shuffle;
//! * [`SegmentStreamExec`] describes the read; executing it starts nothing before the first poll;
//! * per partition, `executor` asks for the chunks in the order of the plan, a few units ahead, and `rows` makes
//!   the rows below the start of the next chunk to come, since those are final;
//! * all that is held meanwhile is charged to a `window`, one bound for all queries, and to DataFusion's memory pool.
//!
//! What a scan counts is declared once, in the table of [`Counter`]s (`counters`); `EXPLAIN VERBOSE` says how it came
//! to read what it reads (`explain`).
//!
//! [`SegmentsTable`] and [`ChunksTable`] are tables about a dataset: what segments and chunks it has.
//!
//! It sees chunk sources only, never the network behind them.

// The lock of the window is compiled twice for tests: with the standard locks, and with those of shuttle.
#![cfg_attr(test, allow(clippy::duplicate_mod))]

mod counters;
mod cpu;
mod exec;
mod executor;
mod explain;
mod filter;
mod handles;
mod metadata;
mod options;
mod partition;
mod plan;
mod rows;
mod samples;
mod table;
mod window;

pub use counters::{Counter, Kind, Unit};
pub use cpu::CpuPool;
pub use exec::SegmentStreamExec;
pub use handles::StreamHandles;
pub use metadata::{ChunksTable, SegmentsTable};
pub use options::SegmentStreamOptions;
pub use samples::IndexValues;
pub use table::{SegmentStreamTable, SegmentStreamTableBuilder};
pub use window::MemoryWindow;
