//! Sets of segments.

use std::collections::BTreeSet;

use segue_chunk::SegmentId;

/// A set of segment ids out of all ids there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SegmentSet {
    /// Every segment.
    All,
    /// The segments named.
    Only(BTreeSet<SegmentId>),
    /// Every segment but those named, of which there is at least one.
    Except(BTreeSet<SegmentId>),
}

impl SegmentSet {
    /// No segment.
    pub(crate) fn empty() -> Self {
        Self::Only(BTreeSet::new())
    }

    /// The segment `id` alone.
    pub(crate) fn one(id: impl Into<SegmentId>) -> Self {
        Self::Only(BTreeSet::from([id.into()]))
    }

    fn except(ids: BTreeSet<SegmentId>) -> Self {
        if ids.is_empty() {
            Self::All
        } else {
            Self::Except(ids)
        }
    }

    /// Whether no segment is in the set.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Only(ids) if ids.is_empty())
    }

    /// Whether `id` is in the set.
    pub(crate) fn contains(&self, id: &SegmentId) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(id),
            Self::Except(ids) => !ids.contains(id),
        }
    }

    /// The ids of a set that names what it holds; `None` if it holds all ids but some.
    pub(crate) fn only(&self) -> Option<&BTreeSet<SegmentId>> {
        match self {
            Self::Only(ids) => Some(ids),
            Self::All | Self::Except(_) => None,
        }
    }

    /// The segments that are not in the set.
    pub(crate) fn complement(&self) -> Self {
        match self {
            Self::All => Self::empty(),
            Self::Only(ids) => Self::except(ids.clone()),
            Self::Except(ids) => Self::Only(ids.clone()),
        }
    }

    /// The segments in both sets.
    pub(crate) fn intersect(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, set) | (set, Self::All) => set.clone(),
            (Self::Only(a), Self::Only(b)) => Self::Only(a & b),
            (Self::Only(ids), Self::Except(without)) | (Self::Except(without), Self::Only(ids)) => {
                Self::Only(ids - without)
            }
            (Self::Except(a), Self::Except(b)) => Self::Except(a | b),
        }
    }

    /// The segments in either set.
    pub(crate) fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Only(a), Self::Only(b)) => Self::Only(a | b),
            (Self::Only(ids), Self::Except(without)) | (Self::Except(without), Self::Only(ids)) => {
                Self::except(without - ids)
            }
            (Self::Except(a), Self::Except(b)) => Self::except(a & b),
        }
    }

    /// Whether every segment of `other` is in this set.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (_, Self::All) | (Self::Only(_), Self::Except(_)) => false,
            (Self::Only(a), Self::Only(b)) => b.is_subset(a),
            (Self::Except(without), Self::Only(ids)) => without.is_disjoint(ids),
            (Self::Except(a), Self::Except(b)) => a.is_subset(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names that the sets may mention, and one that none does.
    const NAMES: [&str; 5] = ["", "a", "b", "ü", "unmentioned"];

    fn ids(bits: u8) -> BTreeSet<SegmentId> {
        let named = NAMES[..4].iter().enumerate();
        named
            .filter(|(i, _)| bits >> i & 1 == 1)
            .map(|(_, &name)| name.into())
            .collect()
    }

    fn a_set() -> impl Strategy<Value = SegmentSet> {
        prop_oneof![
            Just(SegmentSet::All),
            (0u8..16).prop_map(|bits| SegmentSet::Only(ids(bits))),
            (0u8..16).prop_map(|bits| SegmentSet::except(ids(bits))),
        ]
    }

    fn held(set: &SegmentSet) -> [bool; 5] {
        NAMES.map(|name| set.contains(&name.into()))
    }

    proptest! {
        #[test]
        fn sets_act_like_sets(a in a_set(), b in a_set()) {
            let pairs: Vec<_> = held(&a).into_iter().zip(held(&b)).collect();
            let both: Vec<_> = pairs.iter().map(|&(a, b)| a && b).collect();
            let either: Vec<_> = pairs.iter().map(|&(a, b)| a || b).collect();
            prop_assert_eq!(held(&a.intersect(&b)).to_vec(), both.clone());
            prop_assert_eq!(held(&a.union(&b)).to_vec(), either);
            prop_assert_eq!(held(&a.complement()), held(&a).map(|held| !held));
            prop_assert_eq!(a.covers(&b), both == held(&b).to_vec());
            prop_assert_eq!(a.is_empty(), held(&a) == [false; 5]);
        }

        #[test]
        fn equal_sets_are_equal_values(a in a_set(), b in a_set()) {
            prop_assert_eq!(held(&a) == held(&b), a == b);
            prop_assert_eq!(a.complement().complement(), a.clone());
            prop_assert_eq!(a.union(&a.complement()), SegmentSet::All);
        }
    }
}
