//! Which store a message belongs to.

use std::sync::Arc;

use segue_proto::common;

/// Identity of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreKey {
    pub(crate) is_blueprint: bool,
    pub(crate) recording: Arc<str>,
    pub(crate) application: Option<Arc<str>>,
}

impl StoreKey {
    /// The store that a message names; the reason when it names none.
    pub(crate) fn from_wire(id: Option<common::StoreId>) -> Result<Self, String> {
        let Some(id) = id else {
            return Err("a message names no store".to_owned());
        };
        let is_blueprint = match id.kind() {
            common::StoreKind::Recording => false,
            common::StoreKind::Blueprint => true,
            common::StoreKind::Unspecified => {
                return Err(format!(
                    "store '{}' is of unknown kind {}",
                    id.recording_id, id.kind
                ));
            }
        };
        Ok(Self {
            is_blueprint,
            recording: id.recording_id.into(),
            application: id.application_id.map(|application| application.id.into()),
        })
    }

    /// Whether a message that names `self` belongs to the store `known`: the application may be left out.
    pub(crate) fn names(&self, known: &Self) -> bool {
        let application = self.application.is_none() || self.application == known.application;
        self.is_blueprint == known.is_blueprint && self.recording == known.recording && application
    }
}
