//! What stands where a component has no value of its own.

/// What stands at an index value where a component has no value of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Nothing: the cell is null.
    #[default]
    None,
    /// The last value before, however long ago.
    LatestAt,
}
