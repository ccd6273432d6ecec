//! Timelines: the axes by which rows are ordered.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};

use crate::schema::keys;

/// What the 64 bit numbers of a timeline mean. The order of the variants is the order of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeKind {
    /// Nanoseconds since some start.
    Duration,
    /// Nanoseconds since the Unix epoch, without a time zone.
    Timestamp,
    /// A counter, such as a frame number.
    Sequence,
}

impl TimeKind {
    /// The Arrow type of a column of such times.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Duration => DataType::Duration(TimeUnit::Nanosecond),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Nanosecond, None),
            Self::Sequence => DataType::Int64,
        }
    }

    /// The kind whose columns have the type `data_type`, if any.
    pub fn from_data_type(data_type: &DataType) -> Option<Self> {
        [Self::Duration, Self::Timestamp, Self::Sequence]
            .into_iter()
            .find(|kind| kind.data_type() == *data_type)
    }
}

/// A named axis of time or counting. Sorts by kind, then name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timeline {
    /// What its numbers mean.
    pub kind: TimeKind,
    /// Its name, which is also the name of its column.
    pub name: Arc<str>,
}

impl Timeline {
    /// A timeline `name` of the given kind.
    pub fn new(name: impl Into<Arc<str>>, kind: TimeKind) -> Self {
        Self {
            kind,
            name: name.into(),
        }
    }

    /// The field of a column of bounds, named after the timeline and `marker`: `start` or `end`.
    pub fn bound_field(&self, marker: &str) -> Field {
        let kind = match self.kind {
            TimeKind::Duration => "duration",
            TimeKind::Timestamp => "timestamp",
            TimeKind::Sequence => "sequence",
        };
        let metadata = [
            (keys::KIND, "index"),
            (keys::INDEX, &*self.name),
            (keys::INDEX_KIND, kind),
            (keys::INDEX_MARKER, marker),
        ];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let name = format!("{}:{marker}", self.name);
        Field::new(name, self.kind.data_type(), true).with_metadata(metadata.into())
    }

    /// The field of the column of such times, with its metadata.
    pub(crate) fn field(&self, nullable: bool) -> Field {
        let metadata = [(keys::KIND, "index"), (keys::INDEX_NAME, &*self.name)];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Field::new(&*self.name, self.kind.data_type(), nullable).with_metadata(metadata.into())
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.name, self.kind)
    }
}

/// An inclusive range of values of one timeline. Empty when `start > end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// Smallest value in the range.
    pub start: i64,
    /// Largest value in the range.
    pub end: i64,
}

impl TimeRange {
    /// Every value.
    pub const ALL: Self = Self {
        start: i64::MIN,
        end: i64::MAX,
    };

    /// The range from `start` to `end`, both included.
    pub const fn new(start: i64, end: i64) -> Self {
        Self { start, end }
    }

    /// Whether no value lies in the range.
    pub const fn is_empty(&self) -> bool {
        self.start > self.end
    }

    /// Whether `value` lies in the range.
    pub const fn contains(&self, value: i64) -> bool {
        self.start <= value && value <= self.end
    }

    /// Whether some value lies in both ranges.
    pub const fn intersects(&self, other: &Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The values that lie in both ranges.
    pub const fn intersection(&self, other: &Self) -> Self {
        Self {
            start: if self.start > other.start {
                self.start
            } else {
                other.start
            },
            end: if self.end < other.end {
                self.end
            } else {
                other.end
            },
        }
    }
}
