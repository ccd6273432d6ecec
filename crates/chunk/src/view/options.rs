//! What a reader may ask for beside an index.

use crate::contents::Contents;
use crate::model::Fill;

/// How a dataset is read: which of its columns, and what makes its rows and cells.
///
/// The default reads all contents, one row per index value, and fills nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewOptions {
    /// Entities and components.
    pub contents: Contents,
    /// What stands where a component has no value of its own.
    pub fill: Fill,
    /// Whether columns with static values are read.
    pub static_columns: StaticColumns,
    /// Which of several values at one index value are read.
    pub duplicates: Duplicates,
    /// Whether columns are read whose every value is empty.
    pub empty_columns: bool,
    /// Whether the columns that Clear itself writes are read.
    pub tombstone_columns: bool,
    /// Which columns are plain values rather than lists.
    pub unnest: Unnest,
}

impl From<Contents> for ViewOptions {
    fn from(contents: Contents) -> Self {
        Self {
            contents,
            ..Self::default()
        }
    }
}

/// Whether columns are read that have a static value in some segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaticColumns {
    /// With all others.
    #[default]
    Both,
    /// They alone.
    Only,
    /// All others alone.
    None,
}

/// Which of several values of a component at one index value are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The last, by row id: one row per index value.
    #[default]
    Last,
    /// All: one row per logged row, with its row id in a column of its own.
    All,
}

/// Which component columns are plain values, rather than lists of them.
///
/// A value stands for a list that holds it alone; null for a list without a value, and for no list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Unnest {
    /// None.
    #[default]
    Off,
    /// Those whose archetype declares that there is one value.
    Auto,
    /// Those that the rules select. A longer list is an error when it is read.
    Selected(Contents),
}
