//! What the commands do.

mod answer;
mod completions;
mod datasets;
mod query;
mod schema;
mod segments;
mod warnings;

pub(crate) use completions::completions;
pub(crate) use datasets::datasets;
pub(crate) use query::query;
pub(crate) use schema::schema;
pub(crate) use segments::segments;
