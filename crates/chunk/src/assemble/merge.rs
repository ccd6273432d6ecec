//! Ascending lists of keys as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::order::gallop;

/// Appends the first `most` keys of `lists`, all of them ascending, each key once.
///
/// Costs what it takes to copy the keys where lists follow each other or are equal; a step in a heap
/// where they take turns.
pub(super) fn union<K: Copy + Ord>(mut lists: Vec<&[K]>, most: usize) -> Vec<K> {
    lists.retain(|list| !list.is_empty());
    lists.sort_by_key(|list| (list[0], list.len()));
    lists.dedup();
    let mut union = Union {
        most,
        keys: Vec::with_capacity(most.min(lists.iter().map(|list| list.len()).sum())),
    };
    let heads = lists.iter().enumerate();
    let mut heads: BinaryHeap<_> = heads.map(|(at, list)| Reverse((list[0], at))).collect();
    let mut together = Vec::new();
    while let Some(Reverse((first, at))) = heads.pop() {
        together.clear();
        together.push(at);
        while let Some(&Reverse((head, other))) = heads.peek()
            && head == first
        {
            together.push(other);
            heads.pop();
        }
        // What these lists have in common, as far as it comes before what the others have.
        let mut common = lists[at];
        if let Some(&Reverse((next, _))) = heads.peek() {
            common = &common[..gallop(common, |key| *key < next)];
        }
        for &other in &together[1..] {
            common = &common[..shared(common, lists[other])];
        }
        if !union.append(common) {
            break;
        }
        for &list in &together {
            lists[list] = &lists[list][common.len()..];
            if let Some(&head) = lists[list].first() {
                heads.push(Reverse((head, list)));
            }
        }
    }
    union.keys
}

struct Union<K> {
    most: usize,
    keys: Vec<K>,
}

impl<K: Copy + Eq> Union<K> {
    /// Appends ascending keys. Says whether there may be more.
    fn append(&mut self, keys: &[K]) -> bool {
        let mut last = self.keys.last().copied();
        for &key in keys {
            if last == Some(key) {
                continue;
            }
            if self.keys.len() >= self.most {
                return false;
            }
            self.keys.push(key);
            last = Some(key);
        }
        true
    }
}

/// How many keys two lists have in common before they differ.
fn shared<K: Eq>(a: &[K], b: &[K]) -> usize {
    /// Keys that are compared together.
    const BLOCK: usize = 64;
    let len = a.len().min(b.len());
    let blocks = a[..len].chunks(BLOCK).zip(b[..len].chunks(BLOCK));
    let equal = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let start = equal.min(len);
    let rest = a[start..len].iter().zip(&b[start..len]);
    start + rest.take_while(|(a, b)| a == b).count()
}

/// The keys that both `a` and `b` have, which ascend.
pub(super) fn intersection<K: Copy + Ord>(a: &[K], b: &[K]) -> Vec<K> {
    let mut common = Vec::with_capacity(a.len().min(b.len()));
    let mut rest = b;
    for &key in a {
        rest = &rest[gallop(rest, |other| *other < key)..];
        match rest.first() {
            Some(other) if *other == key => common.push(key),
            Some(_) => {}
            None => break,
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn lists() -> impl Strategy<Value = Vec<Vec<i64>>> {
        let keys = prop::collection::vec(0i64..40, 0..30);
        let sorted = keys.prop_map(|mut keys| {
            keys.sort_unstable();
            keys
        });
        prop::collection::vec(sorted, 0..5)
    }

    proptest! {
        #[test]
        fn a_union_has_the_first_keys_once(lists in lists(), most in 0usize..50) {
            let all: BTreeSet<i64> = lists.iter().flatten().copied().collect();
            let expected: Vec<i64> = all.into_iter().take(most).collect();
            let slices = lists.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(union(slices, most), expected);
        }

        #[test]
        fn an_intersection_has_what_is_in_both(a in lists(), b in lists()) {
            let [a, b] = [a, b].map(|lists| union(lists.iter().map(Vec::as_slice).collect(), usize::MAX));
            let [x, y] = [&a, &b].map(|keys| keys.iter().copied().collect::<BTreeSet<i64>>());
            let expected: Vec<i64> = x.intersection(&y).copied().collect();
            prop_assert_eq!(intersection(&a, &b), expected);
        }
    }

    #[test]
    fn long_lists_that_differ_late_are_joined() {
        let a: Vec<i64> = (0..200).collect();
        let mut b = a.clone();
        b[150] = 1000;
        b.sort_unstable();
        let joined = union(vec![&a, &b, &a], usize::MAX);
        assert_eq!(joined, (0..200).chain([1000]).collect::<Vec<i64>>());
        assert_eq!(shared(&a, &b), 150);
    }
}
