//! Sets against looking at every text.

use proptest::prelude::*;

use super::*;

/// Texts that sets may mention, and neighbours of them.
const TEXTS: [&str; 14] = [
    "",
    "\0",
    "a",
    "a\0",
    "a\0\0",
    "aa",
    "ab",
    "b",
    "b\u{10ffff}",
    "c",
    "\u{d7ff}",
    "\u{e000}",
    "\u{10ffff}",
    "\u{10ffff}\u{10ffff}x",
];

/// A set, and whether each of the texts is in it.
type Known = (TextSet, Vec<bool>);

fn known(set: TextSet, is_in: impl Fn(&str) -> bool) -> Known {
    (set, TEXTS.map(is_in).to_vec())
}

fn a_set() -> impl Strategy<Value = Known> {
    let text = prop::sample::select(TEXTS.to_vec());
    let texts = prop::collection::vec(text.clone(), 0..5);
    let leaf = prop_oneof![
        Just(known(TextSet::all(), |_| true)),
        Just(known(TextSet::empty(), |_| false)),
        text.clone()
            .prop_map(|x| known(TextSet::one(x), |t| t == x)),
        text.clone()
            .prop_map(|x| known(TextSet::prefix(x), |t| t.starts_with(x))),
        text.clone()
            .prop_map(|x| known(TextSet::from_text(x), |t| t >= x)),
        text.prop_map(|x| known(TextSet::after(x), |t| t > x)),
        texts.prop_map(|xs| known(xs.iter().collect(), |t| xs.contains(&t))),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let zip = |a: &Known, b: &Known, set: TextSet, op: fn(bool, bool) -> bool| {
            let held = a.1.iter().zip(&b.1).map(|(&a, &b)| op(a, b));
            (set, held.collect())
        };
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            inner.prop_map(|(set, held)| (set.complement(), held.iter().map(|h| !h).collect())),
            pair.clone()
                .prop_map(move |(a, b)| zip(&a, &b, a.0.intersect(&b.0), |a, b| a && b)),
            pair.prop_map(move |(a, b)| zip(&a, &b, a.0.union(&b.0), |a, b| a || b)),
        ]
    })
}

proptest! {
    #[test]
    fn sets_act_like_sets((a, held) in a_set(), (b, other) in a_set()) {
        let found = TEXTS.map(|text| a.contains(text));
        prop_assert_eq!(found.to_vec(), held.clone());
        if a.is_empty() {
            prop_assert!(held.iter().all(|held| !held));
        }
        if a.covers(&b) {
            prop_assert!(held.iter().zip(&other).all(|(&outer, &inner)| outer || !inner));
        }
        prop_assert!(a.union(&b).covers(&a) && a.covers(&a.intersect(&b)));
        prop_assert_eq!(a.covers(&b), a.union(&b) == a);
    }

    #[test]
    fn equal_sets_are_equal_values((a, _) in a_set(), (b, _) in a_set()) {
        prop_assert_eq!(a.complement().complement(), a.clone());
        prop_assert!(a.union(&a.complement()).is_all());
        prop_assert!(a.intersect(&a.complement()).is_empty());
        prop_assert_eq!(a.intersect(&b), b.intersect(&a));
        let both = a.complement().union(&b.complement()).complement();
        prop_assert_eq!(both, a.intersect(&b));
        prop_assert!(a.turns.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn lists_are_told_apart_from_what_has_no_end((set, _) in a_set()) {
        if let Some(listed) = set.listed() {
            prop_assert_eq!(listed.into_iter().collect::<TextSet>(), set);
        }
    }
}

#[test]
fn a_list_names_its_texts_and_a_prefix_is_none() {
    let set: TextSet = ["b", "a", "b"].into_iter().collect();
    assert_eq!(set.listed(), Some(vec!["a", "b"]));
    assert_eq!(set.segments().map(|ids| ids.len()), Some(2));
    assert_eq!(TextSet::empty().listed(), Some(vec![]));
    assert_eq!(TextSet::prefix("a").listed(), None);
    assert_eq!(TextSet::all().listed(), None);
}

#[test]
fn long_sets_are_cut_when_printed() {
    let ids: TextSet = (0..20).map(|n| format!("s{n:02}")).collect();
    let printed = "s00, s01, s02, s03, s04, s05, s06, s07, 12 more";
    assert_eq!(ids.to_string(), printed);
    assert_eq!(TextSet::prefix("run_").to_string(), "run_*");
    assert_eq!(TextSet::after("x").to_string(), "[x\0, ..)");
}
