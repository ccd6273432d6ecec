//! Typed key/values that say what an error is about.

use std::fmt;

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FactValue {
    /// A count, a size in bytes, an index.
    U64(u64),
    /// A number that can be negative, such as an index value.
    I64(i64),
    /// A claim.
    Bool(bool),
    /// A name or a text.
    Str(String),
}

impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U64(value) => value.fmt(f),
            Self::I64(value) => value.fmt(f),
            Self::Bool(value) => value.fmt(f),
            Self::Str(value) => value.fmt(f),
        }
    }
}

impl From<u64> for FactValue {
    fn from(value: u64) -> Self {
        Self::U64(value)
    }
}

impl From<u32> for FactValue {
    fn from(value: u32) -> Self {
        Self::U64(u64::from(value))
    }
}

impl From<usize> for FactValue {
    fn from(value: usize) -> Self {
        // No supported platform has a usize wider than 64 bits; saturating keeps this total.
        Self::U64(u64::try_from(value).unwrap_or(u64::MAX))
    }
}

impl From<i64> for FactValue {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<i32> for FactValue {
    fn from(value: i32) -> Self {
        Self::I64(i64::from(value))
    }
}

impl From<bool> for FactValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for FactValue {
    fn from(value: &str) -> Self {
        Self::Str(value.to_owned())
    }
}

impl From<String> for FactValue {
    fn from(value: String) -> Self {
        Self::Str(value)
    }
}

/// One key/value of an error.
///
/// `Debug` shows only the key and whether the value is private; [`Fact::value`] gives the value.
#[derive(Clone, PartialEq, Eq)]
pub struct Fact {
    key: &'static str,
    value: FactValue,
    private: bool,
}

impl Fact {
    /// The name of the fact.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// The value, unredacted.
    pub fn value(&self) -> &FactValue {
        &self.value
    }

    /// True if the value never goes to a log.
    pub fn is_private(&self) -> bool {
        self.private
    }
}

impl fmt::Debug for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fact")
            .field("key", &self.key)
            .field("private", &self.private)
            .finish_non_exhaustive()
    }
}

/// The facts of an error, in the order in which they were added.
///
/// The first write of a key wins: the place where an error arises knows best, and what passes it on
/// can only add. That also holds for privacy: a private fact cannot be made public later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    // An error has a handful of facts: a scan is cheaper than a map, and order comes for free.
    entries: Vec<Fact>,
}

impl Facts {
    /// The value of a fact, log-safe or private.
    pub fn get(&self, key: &str) -> Option<&FactValue> {
        self.iter().find(|fact| fact.key == key).map(Fact::value)
    }

    /// All facts, private ones included.
    pub fn iter(&self) -> std::slice::Iter<'_, Fact> {
        self.entries.iter()
    }

    /// How many facts there are, private ones included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are no facts.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a fact unless its key is taken.
    pub(crate) fn insert(&mut self, key: &'static str, value: FactValue, private: bool) {
        if self.get(key).is_none() {
            self.entries.push(Fact {
                key,
                value,
                private,
            });
        }
    }
}

impl<'a> IntoIterator for &'a Facts {
    type Item = &'a Fact;
    type IntoIter = std::slice::Iter<'a, Fact>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
