//! Makes tables.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::DFSchema;
use segue_chunk::view::{Duplicates, StaticColumns, Unnest};
use segue_chunk::{
    ChunkSource, Contents, DatasetSchema, Fill, SegmentId, TextSet, View, ViewOptions,
};
use segue_error::{Error, ErrorCode, from_datafusion};

use super::SegmentStreamTable;
use crate::filter::{Component, Components};
use crate::samples::{IndexValues, Samples};

/// Makes a [`SegmentStreamTable`].
#[derive(Clone, Debug)]
pub struct SegmentStreamTableBuilder {
    source: Arc<dyn ChunkSource>,
    dataset: Arc<str>,
    index: Option<String>,
    options: ViewOptions,
    segments: TextSet,
    values: Option<IndexValues>,
}

impl SegmentStreamTableBuilder {
    pub(super) fn new(source: Arc<dyn ChunkSource>, dataset: Arc<str>) -> Self {
        Self {
            source,
            dataset,
            index: None,
            options: ViewOptions::default(),
            segments: TextSet::all(),
            values: None,
        }
    }

    /// Orders rows by the timeline `name`.
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    /// Narrows the view to entities and components.
    pub fn contents(mut self, contents: Contents) -> Self {
        self.options.contents = contents;
        self
    }

    /// Narrows the view to segments. Unknown ones give no rows.
    pub fn segments(mut self, segments: impl IntoIterator<Item = SegmentId>) -> Self {
        let segments: Vec<SegmentId> = segments.into_iter().collect();
        self.segments = segments.iter().map(SegmentId::as_str).collect();
        self
    }

    /// Fills cells without a value. Filling changes no row, and sees values before a range that a filter asks for.
    /// Without an index there is nothing to fill.
    pub fn fill(mut self, fill: Fill) -> Self {
        self.options.fill = fill;
        self
    }

    /// Has rows at these index values, and at no others.
    pub fn index_values(mut self, values: IndexValues) -> Self {
        self.values = Some(values);
        self
    }

    /// Reads columns with static values, no others, or only others.
    pub fn static_columns(mut self, columns: StaticColumns) -> Self {
        self.options.static_columns = columns;
        self
    }

    /// Reads the last of several values at one index value, or all: a row per logged row.
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.options.duplicates = duplicates;
        self
    }

    /// Reads the columns whose every value is empty, too.
    pub fn empty_columns(mut self, are_read: bool) -> Self {
        self.options.empty_columns = are_read;
        self
    }

    /// Reads the columns that Clear itself writes, too.
    pub fn tombstone_columns(mut self, are_read: bool) -> Self {
        self.options.tombstone_columns = are_read;
        self
    }

    /// Gives plain values instead of lists that hold one.
    pub fn unnest(mut self, unnest: Unnest) -> Self {
        self.options.unnest = unnest;
        self
    }

    /// Asks the source for the columns of the dataset and makes the table.
    ///
    /// `unknown_dataset` when there is none of that name; what the source reports, and what
    /// [`build_from`](Self::build_from) does.
    pub async fn build(self) -> segue_error::Result<SegmentStreamTable> {
        let schema = self.source.schema(&self.dataset).await?;
        self.build_from(&schema)
    }

    /// Makes the table from the columns that the dataset is known to have, without asking the source.
    ///
    /// `unknown_index`, `unknown_entity` or `unknown_column` when there is none of that name, `invalid_argument` for
    /// values that the index cannot have or that come twice, `invalid_option` for options that contradict each other:
    /// index values or all duplicates without an index, or both together.
    pub fn build_from(self, schema: &DatasetSchema) -> segue_error::Result<SegmentStreamTable> {
        let view = View::resolve(schema, self.index.as_deref(), &self.options)?;
        let contradiction = |message: &str| {
            let operation = "segment_stream.build";
            Error::new(ErrorCode::InvalidOption, operation, message.to_owned())
        };
        let samples = match (&self.values, view.index()) {
            (None, _) => None,
            (Some(_), None) => {
                return Err(contradiction("index values can only be given by an index"));
            }
            (Some(_), Some(_)) if view.duplicates() == Duplicates::All => {
                return Err(contradiction(
                    "index values have one row each: all duplicates cannot be read at them",
                ));
            }
            (Some(values), Some(index)) => Some(Samples::new(values, index)?),
        };
        Ok(SegmentStreamTable {
            source: self.source,
            dataset: self.dataset,
            segments: self.segments,
            samples,
            components: Arc::new(components(&view)?),
            view: Arc::new(view),
        })
    }
}

/// The columns of `view` of which a scan can be told that they must have a value: where they have none, the component
/// has none in the row either. Not so where the column is filled, or where a static value stands on all rows.
fn components(view: &View) -> segue_error::Result<Components> {
    let schema = DFSchema::try_from(Arc::clone(view.schema()));
    let schema = schema.map_err(|error| from_datafusion(error, "segment_stream.build"))?;
    let index = view.index();
    let is_own = |is_static: bool| match index {
        None => true,
        Some(_) => view.fill() == Fill::None && !is_static,
    };
    let columns = view.components().iter().enumerate();
    let columns = columns.filter(|(_, column)| is_own(column.is_static));
    let columns: HashMap<String, Component> = columns
        .map(|(position, column)| {
            let is_list = !view.is_unnested(position);
            (column.column_name(), Component { position, is_list })
        })
        .collect();
    Ok(Components::new(columns, schema))
}
