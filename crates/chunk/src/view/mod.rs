//! What a scan looks at: the columns of its table, and which of them make rows.

mod options;
mod single;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use segue_error::{Error, ErrorCode, Result};

pub use options::{Duplicates, StaticColumns, Unnest, ViewOptions};

use crate::ipc::WRITTEN_VERSION;
use crate::model::{EntityPath, Fill, Timeline};
use crate::names::suggestion;
use crate::schema::{ComponentColumn, DatasetSchema, keys, row_id_field};
use crate::source::EntitySelection;

/// The columns of a table over a dataset, and how its rows are made.
///
/// A row of the table stands for an index value of a segment at which some component of the view has a
/// value of its own (static values make no rows); without an index, for a segment with some static value.
/// Which columns are read has no influence on which rows there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    index: Option<Timeline>,
    timelines: Vec<Timeline>,
    components: Vec<ComponentColumn>,
    /// Positions of the components of each entity.
    by_entity: HashMap<EntityPath, Vec<usize>>,
    /// Of each component, whether its column is plain values.
    unnested: Vec<bool>,
    /// Entities with a Clear that may reach a component of the view.
    clears: Vec<EntityPath>,
    fill: Fill,
    duplicates: Duplicates,
    schema: SchemaRef,
}

/// What a column of a view holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewColumn<'a> {
    /// The segment.
    Segment,
    /// Values of a timeline.
    Timeline(&'a Timeline),
    /// The ids of the rows.
    RowId,
    /// Values of the component at this position among those of the view.
    Component(usize),
}

impl View {
    /// The view by `index` (`None`: the static values) that `options` describe, over a dataset with the columns
    /// `dataset`.
    ///
    /// `unknown_index` when the dataset has no such timeline, `unknown_entity` or `unknown_column` when the contents
    /// name what is not there, `invalid_option` when all duplicates are wanted without an index, `name_clash` when a
    /// timeline is called like another column.
    ///
    /// Without an index, columns are left out that are static nowhere.
    pub fn resolve(
        dataset: &DatasetSchema,
        index: Option<&str>,
        options: &ViewOptions,
    ) -> Result<Self> {
        let index = match index {
            None => None,
            Some(name) => Some(dataset.timeline(name).cloned().ok_or_else(|| {
                let names: Vec<&str> = dataset.timelines.iter().map(|t| &*t.name).collect();
                let hint = suggestion(name, &names);
                Error::new(
                    ErrorCode::UnknownIndex,
                    "view.resolve",
                    format!("no index '{name}'{hint}"),
                )
                .with_fact("index", name)
            })?),
        };
        if index.is_none() && options.duplicates == Duplicates::All {
            return Err(Error::new(
                ErrorCode::InvalidOption,
                "view.resolve",
                "all duplicates can only be read by an index",
            ));
        }
        options.contents.check(&dataset.components)?;
        if let Unnest::Selected(contents) = &options.unnest {
            contents.check(&dataset.components)?;
        }
        let components: Vec<ComponentColumn> = dataset
            .components
            .iter()
            .filter(|c| options.tombstone_columns || !c.is_tombstone)
            .filter(|c| options.empty_columns || c.is_tombstone || !c.is_semantically_empty)
            .filter(|c| index.is_some() || c.is_static)
            .filter(|c| match options.static_columns {
                StaticColumns::Both => true,
                StaticColumns::Only => c.is_static,
                StaticColumns::None => !c.is_static,
            })
            .filter(|c| options.contents.selects(c))
            .cloned()
            .collect();
        let clears = dataset
            .components
            .iter()
            .filter(|c| index.is_some() && &*c.component == keys::CLEAR_COMPONENT)
            .filter(|c| components.iter().any(|x| x.entity.is_within(&c.entity)))
            .map(|c| c.entity.clone())
            .collect();
        let mut by_entity: HashMap<EntityPath, Vec<usize>> = HashMap::new();
        for (at, component) in components.iter().enumerate() {
            by_entity
                .entry(component.entity.clone())
                .or_default()
                .push(at);
        }
        let unnested = components
            .iter()
            .map(|c| single::is_plain(c, &options.unnest));
        let mut view = Self {
            index,
            timelines: dataset.timelines.clone(),
            unnested: unnested.collect(),
            components,
            by_entity,
            clears,
            fill: options.fill,
            duplicates: options.duplicates,
            schema: Arc::new(Schema::empty()),
        };
        view.schema = view.table_schema()?;
        Ok(view)
    }

    /// The timeline that orders the rows; `None` for the table of static values.
    pub fn index(&self) -> Option<&Timeline> {
        self.index.as_ref()
    }

    /// The timelines of the dataset, one column each.
    pub fn timelines(&self) -> &[Timeline] {
        &self.timelines
    }

    /// The component columns.
    pub fn components(&self) -> &[ComponentColumn] {
        &self.components
    }

    /// The positions of the components of `entity`, ascending.
    pub fn components_of(&self, entity: &EntityPath) -> &[usize] {
        self.by_entity.get(entity).map_or(&[], Vec::as_slice)
    }

    /// Whether the column of the component at position `component` is plain values, not lists.
    pub fn is_unnested(&self, component: usize) -> bool {
        self.unnested.get(component).copied().unwrap_or(false)
    }

    /// What stands where a component has no value of its own.
    pub fn fill(&self) -> Fill {
        self.fill
    }

    /// Which of several values at one index value are read.
    pub fn duplicates(&self) -> Duplicates {
        self.duplicates
    }

    /// The schema of the table: segment id, timelines, row id if all duplicates are read, components. Segment id,
    /// index and row id are never null.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What the column at `position` in the schema holds; `None` beyond its end.
    pub fn column(&self, position: usize) -> Option<ViewColumn<'_>> {
        let Some(mut at) = position.checked_sub(1) else {
            return Some(ViewColumn::Segment);
        };
        if let Some(timeline) = self.timelines.get(at) {
            return Some(ViewColumn::Timeline(timeline));
        }
        at -= self.timelines.len();
        if self.duplicates == Duplicates::All {
            match at.checked_sub(1) {
                None => return Some(ViewColumn::RowId),
                Some(next) => at = next,
            }
        }
        (at < self.components.len()).then_some(ViewColumn::Component(at))
    }

    /// What a source must be asked for: the entities of the view, and those whose Clear may reach them.
    pub fn entities(&self) -> Vec<EntitySelection> {
        self.entities_of(&self.all_components())
    }

    /// What a source must be asked for, so that the values of `components` (positions among those of the view) are
    /// right.
    pub fn entities_of(&self, components: &BTreeSet<usize>) -> Vec<EntitySelection> {
        let mut entities: BTreeMap<&EntityPath, BTreeSet<_>> = BTreeMap::new();
        for column in components.iter().filter_map(|&at| self.components.get(at)) {
            let wanted = entities.entry(&column.entity).or_default();
            wanted.insert(Arc::clone(&column.component));
        }
        let reached = |clear: &EntityPath| entities.keys().any(|entity| entity.is_within(clear));
        let clears: Vec<&EntityPath> = self.clears.iter().filter(|clear| reached(clear)).collect();
        for entity in clears {
            let wanted = entities.entry(entity).or_default();
            wanted.insert(keys::CLEAR_COMPONENT.into());
        }
        entities
            .into_iter()
            .map(|(entity, components)| EntitySelection {
                entity: entity.clone(),
                components,
            })
            .collect()
    }

    /// The positions of all components.
    pub fn all_components(&self) -> BTreeSet<usize> {
        (0..self.components.len()).collect()
    }

    fn table_schema(&self) -> Result<SchemaRef> {
        let segment = Field::new(keys::SEGMENT_ID_COLUMN, DataType::Utf8, false);
        let timelines = self
            .timelines
            .iter()
            .map(|timeline| timeline.field(self.index.as_ref() != Some(timeline)));
        let row_id =
            (self.duplicates == Duplicates::All).then(|| row_id_field(keys::ROW_ID_TABLE_COLUMN));
        let components = self.components.iter().zip(&self.unnested);
        let components = components.map(|(component, unnested)| match unnested {
            true => single::plain(component.field()),
            false => component.field(),
        });
        let fields: Vec<Field> = std::iter::once(segment)
            .chain(timelines)
            .chain(row_id)
            .chain(components)
            .collect();
        let mut names = BTreeSet::new();
        if let Some(twice) = fields.iter().find(|field| !names.insert(field.name())) {
            return Err(Error::new(
                ErrorCode::NameClash,
                "view.resolve",
                format!(
                    "two columns of the dataset would be called '{}'",
                    twice.name()
                ),
            ));
        }
        let version = (keys::SORBET_VERSION.to_owned(), WRITTEN_VERSION.to_owned());
        let metadata = HashMap::from([version]);
        Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
    }
}
