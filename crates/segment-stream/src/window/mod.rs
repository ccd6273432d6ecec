//! The memory window: one bound on what all queries hold, in every interleaving.
//!
//! * `policy`: the rules, as a state machine that is pure and searched exhaustively;
//! * `rim`: the lock around it, the futures that wait and the guards that release;
//! * `pool`: DataFusion's memory pool, from which every byte is taken;
//! * `registry`: which window a query has.

#[cfg(test)]
mod interleavings;
mod policy;
mod pool;
mod registry;
mod rim;
mod sync;

pub(crate) use policy::{Denied, Kept, Limit, Revocation, Slot};
pub use registry::MemoryWindow;
pub(crate) use rim::{PartitionLease, QueryLease, UnitLease};
