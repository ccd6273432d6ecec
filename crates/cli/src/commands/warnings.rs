//! Datasets that a listing has found to be unreadable.

use std::collections::BTreeSet;

use segue::SegueCatalog;

use crate::supervise::Desk;
use crate::terminal;

/// The datasets that were warned of.
#[derive(Debug, Default)]
pub(super) struct Warnings(BTreeSet<String>);

impl Warnings {
    /// Warns of the datasets that `catalog` has found to be unreadable, of each once.
    pub(super) fn say_new(&mut self, catalog: &SegueCatalog, desk: &Desk) {
        for (dataset, error) in catalog.unreadable() {
            if self.0.insert(dataset.clone()) {
                let line = format!("dataset '{dataset}' cannot be read: {}", error.message());
                desk.progress
                    .say(&format!("warning: {}", terminal::line(&line)));
            }
        }
    }
}
