//! The columns of a dataset: which timelines and components its recordings have.
//!
//! Column metadata keys (`rerun:kind`, `rerun:entity_path` and so on) are those of Rerun's published
//! recordings and catalog servers.

mod column;
mod dataset;
pub mod keys;
#[cfg(test)]
mod tests;

pub use column::ComponentColumn;
pub use dataset::{DatasetSchema, SchemaMerger};
pub(crate) use dataset::{row_id_field, timeline, widen};
