//! Every state that a world can come to.

use std::collections::HashMap;

use super::model::{State, World};

/// How many states a world may have.
const MOST_STATES: usize = 400_000;

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// So many states, from each of which an end can be reached.
    Sound(usize),
    /// A state from which there is no way to the end.
    Stuck(String),
}

/// Visits all states of `world`. Panics where something is wrong in one of them.
pub(super) fn search(world: &World) -> Found {
    let first = State::new(world);
    let mut places = HashMap::from([(first.clone(), 0)]);
    let mut states = vec![first];
    // By state, those from which it is the next.
    let mut before: Vec<Vec<usize>> = vec![Vec::new()];
    let mut at = 0;
    while at < states.len() {
        for next in states[at].successors(world) {
            let place = *places.entry(next.clone()).or_insert(states.len());
            if place == states.len() {
                states.push(next);
                before.push(Vec::new());
                assert!(states.len() <= MOST_STATES, "too many states: {world:?}");
            }
            before[place].push(at);
        }
        at += 1;
    }
    let mut ends = vec![false; states.len()];
    let over = states
        .iter()
        .enumerate()
        .filter(|(_, state)| state.is_over(world));
    let mut open: Vec<usize> = over.map(|(at, _)| at).collect();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut ends[at], true) {
            open.extend(&before[at]);
        }
    }
    match ends.iter().position(|ends| !ends) {
        None => Found::Sound(states.len()),
        Some(stuck) => Found::Stuck(format!("{world:#?}\n{:#?}", states[stuck])),
    }
}
