//! The policy, searched: all that can happen, in every order, in worlds small enough to see all of it.

mod model;
mod named;
mod search;
mod worlds;

/// A rule whose absence must be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    /// A head unit stands in the slot of its partition.
    Slots,
    /// Who stands still, or came later, gives back.
    Revocation,
    /// What is cancelled is released. It is the guards that do so, and the model in their place.
    ReleaseOnCancel,
}
