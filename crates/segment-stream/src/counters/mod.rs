//! What a scan counts.
//!
//! Every counter is a row of one table (`table`): name, unit, kind, help. Metrics of the plan node, the figures of
//! `EXPLAIN ANALYZE` and the page of counters in the book all come from it, and a counter that is no row of it
//! cannot be made. To add one: a row in the table, and the place where it counts.
//!
//! * `scan`: the counters of a node, what is planned among them;
//! * `partition`: those that one partition counts while it runs;
//! * `observed`: what is seen of a partition from outside: its polls, batches and rows;
//! * `extreme`: values of which the smallest or the largest counts.

mod extreme;
mod observed;
mod partition;
mod scan;
mod table;

pub(crate) use observed::Observed;
pub(crate) use partition::{FetchCounters, PartitionCounters, RowCounters, UnitCounters};
pub(crate) use scan::{Planned, ScanCounters};
pub use table::{Counter, Kind, Unit};
