//! Sets of texts.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::model::SegmentId;

/// How many entries of a set are printed.
const PRINTED: usize = 8;

/// A set of texts out of all there may be, such as ids of segments: any union of intervals in the order of their bytes.
///
/// ```
/// use segue_chunk::TextSet;
///
/// let set = TextSet::prefix("run_").intersect(&TextSet::one("run_7").complement());
/// assert!(set.contains("run_8") && !set.contains("run_7") && !set.contains("walk"));
/// assert_eq!(set.to_string(), "[run_, run_7), [run_7\0, run`)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct TextSet {
    /// Where the set begins and ends in turn, ascending: texts from the first on are in it, those from the second on
    /// are not, and so forth.
    turns: Vec<Arc<str>>,
}

impl TextSet {
    /// Every text.
    pub fn all() -> Self {
        Self::from_text("")
    }

    /// No text.
    pub fn empty() -> Self {
        Self { turns: Vec::new() }
    }

    /// `text` alone.
    pub fn one(text: &str) -> Self {
        Self {
            turns: vec![text.into(), next(text)],
        }
    }

    /// The texts that begin with `prefix`.
    pub fn prefix(prefix: &str) -> Self {
        let end = behind_prefix(prefix).map(Arc::from);
        let turns = std::iter::once(prefix.into()).chain(end);
        Self {
            turns: turns.collect(),
        }
    }

    /// The texts that do not come before `text`.
    pub fn from_text(text: &str) -> Self {
        Self {
            turns: vec![text.into()],
        }
    }

    /// The texts that come after `text`.
    pub fn after(text: &str) -> Self {
        Self {
            turns: vec![next(text)],
        }
    }

    /// Whether no text is in the set.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Whether every text is in the set.
    pub fn is_all(&self) -> bool {
        matches!(self.turns.as_slice(), [start] if start.is_empty())
    }

    /// Whether `text` is in the set.
    pub fn contains(&self, text: &str) -> bool {
        self.turns.partition_point(|turn| &**turn <= text) % 2 == 1
    }

    /// The texts of a set that is a list of them, ascending; `None` for a set without end.
    pub fn listed(&self) -> Option<Vec<&str>> {
        let points = self.turns.chunks(2).map(|turns| match turns {
            [start, end] if is_next(start, end) => Some(&**start),
            _ => None,
        });
        points.collect()
    }

    /// The segments of a set that is a list of their ids; `None` for a set without end.
    pub fn segments(&self) -> Option<BTreeSet<SegmentId>> {
        let listed = self.listed()?;
        Some(listed.into_iter().map(SegmentId::from).collect())
    }

    /// The texts that are not in the set.
    pub fn complement(&self) -> Self {
        let turns = match self.turns.split_first() {
            Some((start, rest)) if start.is_empty() => rest.to_vec(),
            _ => std::iter::once("".into())
                .chain(self.turns.iter().map(Arc::clone))
                .collect(),
        };
        Self { turns }
    }

    /// The texts in both sets.
    pub fn intersect(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a && b)
    }

    /// The texts in either set.
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a || b)
    }

    /// Whether every text of `other` is in this set.
    pub fn covers(&self, other: &Self) -> bool {
        other
            .combine(self, |inner, outer| inner && !outer)
            .is_empty()
    }

    /// The texts that `is_in` takes, by whether they are in this set and in `other`. None of what is in neither.
    fn combine(&self, other: &Self, is_in: impl Fn(bool, bool) -> bool) -> Self {
        let (mut a, mut b) = (self.turns.iter().peekable(), other.turns.iter().peekable());
        let (mut in_a, mut in_b) = (false, false);
        let mut turns: Vec<Arc<str>> = Vec::new();
        while let Some(turn) = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => Some(Arc::clone(x.min(y))),
            (Some(turn), None) | (None, Some(turn)) => Some(Arc::clone(turn)),
            (None, None) => None,
        } {
            in_a ^= a.next_if(|next| **next == turn).is_some();
            in_b ^= b.next_if(|next| **next == turn).is_some();
            if is_in(in_a, in_b) != (turns.len() % 2 == 1) {
                turns.push(turn);
            }
        }
        Self { turns }
    }
}

/// A list of texts.
impl<S: AsRef<str>> FromIterator<S> for TextSet {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        let texts: BTreeSet<Arc<str>> =
            texts.into_iter().map(|text| text.as_ref().into()).collect();
        let mut turns: Vec<Arc<str>> = Vec::with_capacity(2 * texts.len());
        for text in texts {
            let end = next(&text);
            // Right behind the one before: the two are one interval.
            match turns.last() == Some(&text) {
                true => drop(turns.pop()),
                false => turns.push(text),
            }
            turns.push(end);
        }
        Self { turns }
    }
}

/// The first text after `text`.
fn next(text: &str) -> Arc<str> {
    format!("{text}\0").into()
}

fn is_next(text: &str, next: &str) -> bool {
    next.strip_suffix('\0') == Some(text)
}

/// The first text after all that begin with `prefix`; `None` where there is none.
fn behind_prefix(prefix: &str) -> Option<String> {
    let mut start = prefix.to_owned();
    while let Some(last) = start.pop() {
        // The range of characters leaves out what is none.
        if let Some(above) = (last..=char::MAX).nth(1) {
            start.push(above);
            return Some(start);
        }
    }
    None
}

impl fmt::Display for TextSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let intervals = self.turns.chunks(2);
        for (i, turns) in intervals.take(PRINTED).enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            match turns {
                [start, end] if is_next(start, end) => f.write_str(start)?,
                [start, end] if behind_prefix(start).as_deref() == Some(end) => {
                    write!(f, "{start}*")?;
                }
                [start, end] => write!(f, "[{start}, {end})")?,
                [start] => write!(f, "[{start}, ..)")?,
                _ => {}
            }
        }
        let len = self.turns.len().div_ceil(2);
        match len.checked_sub(PRINTED) {
            Some(more) if more > 0 => write!(f, ", {more} more"),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for TextSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}
