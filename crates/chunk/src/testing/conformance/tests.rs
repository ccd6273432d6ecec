mod faults;
mod mutants;

use std::sync::Arc;

use super::*;
use crate::source::Compression;
use crate::testing::{Announced, Order, ScriptedSource};
use faults::faults;
use mutants::{Mutant, Mutation};

/// A faithful source that is loaded as the suite wants it.
fn loaded() -> ScriptedSource {
    recordings()
        .into_iter()
        .fold(ScriptedSource::new(), |source, recording| {
            source.layer(recording.dataset, recording.layer, recording.chunks)
        })
}

async fn verdict(source: ScriptedSource) -> Verdict {
    let source = Arc::new(source);
    let counter = Arc::clone(&source);
    let expected = Expected::standard().observed(move || {
        let counts = counter.counts();
        Activity {
            started: counts.started,
            running: counts.streams,
        }
    });
    check_source(&*source, &expected).await
}

#[tokio::test]
async fn a_faithful_source_passes_in_every_order_of_delivery() {
    for order in [
        Order::AsAsked,
        Order::Reversed,
        Order::Shuffled(1),
        Order::Shuffled(2),
    ] {
        assert_eq!(verdict(loaded().order(order)).await, Ok(()), "{order:?}");
    }
}

#[tokio::test]
async fn a_faithful_source_passes_whatever_it_compresses_and_announces() {
    let compressed = loaded().compression(Compression::Lz4);
    assert_eq!(verdict(compressed).await, Ok(()));
    assert_eq!(
        verdict(loaded().announcing(Announced::NOTHING)).await,
        Ok(())
    );
}

#[tokio::test]
async fn every_scripted_fault_is_found_under_the_clause_that_it_breaks() {
    for (fault, clause) in faults() {
        let name = format!("{fault:?}");
        let found = verdict(loaded().fault(fault)).await;
        let found = found.expect_err(&name);
        assert!(found.starts_with(clause), "{name} is found as '{found}'");
    }
}

#[tokio::test]
async fn every_mutant_is_found_under_the_clause_that_it_breaks() {
    for &(mutation, clause) in Mutation::ALL {
        let mutant = Mutant::new(loaded(), mutation);
        let expected = Expected::standard().observed(mutant.activity());
        let found = check_source(&mutant, &expected).await;
        let found = found.expect_err(&format!("{mutation:?}"));
        assert!(found.contains(clause), "{mutation:?} is found as '{found}'");
    }
}

#[tokio::test]
async fn the_wrapper_of_the_mutants_does_no_harm_by_itself() {
    let mutant = Mutant::new(loaded(), Mutation::Harmless);
    let expected = Expected::standard().observed(mutant.activity());
    assert_eq!(check_source(&mutant, &expected).await, Ok(()));
}
