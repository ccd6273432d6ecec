//! What tells rows apart, and the rows of chunks in that order.

use std::borrow::Cow;
use std::fmt::Debug;

use super::RowKey;
use super::sources::Indexed;
use crate::model::RowId;

/// What tells rows apart, and puts them in order: their index values, with row ids where all duplicates are read.
pub(super) trait Key: Copy + Ord + Debug {
    /// As what callers see.
    fn row_key(self) -> RowKey;

    /// The index value.
    fn time(self) -> i64;

    /// The first key at an index value.
    fn at(time: i64) -> Self;

    /// The first key that does not come before `row`; `None` if there can be none.
    fn not_before(row: RowKey) -> Option<Self>;

    /// The key of row `row` of a chunk.
    fn of(chunk: &Indexed<'_>, row: usize) -> Self;

    /// The rows of a chunk from the key `first` to the index value `last`.
    fn sequence<'a>(chunk: &Indexed<'a>, first: Self, last: i64) -> Sequence<'a, Self>;
}

/// Where the last values of a row are read, its index value.
impl Key for i64 {
    fn row_key(self) -> RowKey {
        RowKey::at(self)
    }

    fn time(self) -> i64 {
        self
    }

    fn at(time: i64) -> Self {
        time
    }

    fn not_before(row: RowKey) -> Option<Self> {
        match row == RowKey::at(row.time) {
            true => Some(row.time),
            false => row.time.checked_add(1),
        }
    }

    fn of(chunk: &Indexed<'_>, row: usize) -> Self {
        chunk.times[row]
    }

    fn sequence<'a>(chunk: &Indexed<'a>, first: Self, last: i64) -> Sequence<'a, Self> {
        if !chunk.is_sorted {
            return Sequence::sorted(chunk, first, last);
        }
        let rows = chunk.rows_between(first, last);
        Sequence {
            keys: Cow::Borrowed(&chunk.times[rows.clone()]),
            rows: Rows::From(rows.start),
        }
    }
}

/// Where all duplicates are read.
impl Key for RowKey {
    fn row_key(self) -> RowKey {
        self
    }

    fn time(self) -> i64 {
        self.time
    }

    fn at(time: i64) -> Self {
        Self::at(time)
    }

    fn not_before(row: RowKey) -> Option<Self> {
        Some(row)
    }

    fn of(chunk: &Indexed<'_>, row: usize) -> Self {
        Self {
            time: chunk.times[row],
            row_id: chunk.chunk.row_id(row),
        }
    }

    fn sequence<'a>(chunk: &Indexed<'a>, first: Self, last: i64) -> Sequence<'a, Self> {
        let rows = match chunk.is_sorted {
            true => chunk.rows_between(first.time, last),
            false => return Sequence::sorted(chunk, first, last),
        };
        // The index values ascend, the row ids at one of them need not, and some of these may come before `first`.
        let keys: Vec<Self> = rows.clone().map(|row| Self::of(chunk, row)).collect();
        let is_sequence = keys.first().is_none_or(|key| *key >= first) && keys.is_sorted();
        match is_sequence {
            true => Sequence {
                keys: Cow::Owned(keys),
                rows: Rows::From(rows.start),
            },
            false => Sequence::sorted(chunk, first, last),
        }
    }
}

/// Rows of a chunk by ascending key.
#[derive(Debug)]
pub(super) struct Sequence<'a, K: Key> {
    /// Their keys; one may stand more than once.
    pub(super) keys: Cow<'a, [K]>,
    rows: Rows,
}

/// Which rows of the chunk they are.
#[derive(Debug)]
enum Rows {
    /// Those from this one on, one after the other.
    From(usize),
    /// These.
    Picked(Vec<usize>),
}

impl<K: Key> Sequence<'_, K> {
    /// Puts the rows from `first` to the index value `last` in order.
    fn sorted(chunk: &Indexed<'_>, first: K, last: i64) -> Self {
        let rows = 0..chunk.times.len();
        let rows = rows.filter(|&row| chunk.times[row] <= last);
        let keyed = rows.map(|row| (K::of(chunk, row), row));
        let mut keyed: Vec<(K, usize)> = keyed.filter(|(key, _)| *key >= first).collect();
        keyed.sort_unstable();
        let (keys, rows) = keyed.into_iter().unzip();
        Self {
            keys: Cow::Owned(keys),
            rows: Rows::Picked(rows),
        }
    }

    /// The row of the chunk at position `at` of the sequence.
    pub(super) fn row(&self, at: usize) -> usize {
        match &self.rows {
            Rows::From(first) => first + at,
            Rows::Picked(rows) => rows[at],
        }
    }

    /// The first row, where the others are those after it.
    pub(super) fn first_of_neighbours(&self) -> Option<usize> {
        match self.rows {
            Rows::From(first) => Some(first),
            Rows::Picked(_) => None,
        }
    }
}

/// By what the last of several values with one key is found.
pub(super) type Rank = (RowId, crate::model::ChunkId);

/// How many of the ascending `keys` come before the first that `is_behind`, found in steps that grow: fast where it is
/// near.
pub(super) fn gallop<K>(keys: &[K], is_before: impl Fn(&K) -> bool) -> usize {
    let mut step = 1;
    let mut start = 0;
    while let Some(key) = keys.get(start + step - 1) {
        if !is_before(key) {
            break;
        }
        start += step;
        step *= 2;
    }
    let end = keys.len().min(start + step - 1);
    start + keys[start..end].partition_point(is_before)
}
