//! What a scan looks at: the columns of its table, and which of them make rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use segue_error::{Error, ErrorCode, Result};

use crate::contents::Contents;
use crate::model::{EntityPath, Timeline};
use crate::names::suggestion;
use crate::schema::{ComponentColumn, DatasetSchema, keys};
use crate::source::EntitySelection;

/// The columns of a table over a dataset.
///
/// A row of the table stands for an index value of a segment at which some component of the view has a
/// value of its own (static values make no rows); without an index, for a segment with some static value.
/// Which columns are read has no influence on which rows there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    index: Option<Timeline>,
    timelines: Vec<Timeline>,
    components: Vec<ComponentColumn>,
    /// Entities with a Clear that may reach a component of the view.
    clears: Vec<EntityPath>,
    schema: SchemaRef,
}

impl View {
    /// The view of `contents` by `index` (`None`: the static values), over a dataset with the columns
    /// `dataset`. `unknown_index` when the dataset has no such timeline, `unknown_entity` or `unknown_column` when
    /// `contents` names what is not there, `name_clash` when a timeline is
    /// called like another column.
    ///
    /// Clear's own columns and columns without meaning are left out; without an index, so are columns
    /// that are static nowhere.
    pub fn resolve(
        dataset: &DatasetSchema,
        index: Option<&str>,
        contents: &Contents,
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
        contents.check(&dataset.components)?;
        let components: Vec<ComponentColumn> = dataset
            .components
            .iter()
            .filter(|c| !c.is_tombstone && !c.is_semantically_empty)
            .filter(|c| index.is_some() || c.is_static)
            .filter(|c| contents.selects(c))
            .cloned()
            .collect();
        let clears = dataset
            .components
            .iter()
            .filter(|c| index.is_some() && &*c.component == keys::CLEAR_COMPONENT)
            .filter(|c| components.iter().any(|x| x.entity.is_within(&c.entity)))
            .map(|c| c.entity.clone())
            .collect();
        let schema = table_schema(&dataset.timelines, index.as_ref(), &components)?;
        Ok(Self {
            index,
            timelines: dataset.timelines.clone(),
            components,
            clears,
            schema,
        })
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

    /// The schema of the table: segment id, timelines, components. Segment id and index are never null.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What a source must be asked for: the entities of the view, and those whose Clear may reach them.
    pub fn entities(&self) -> Vec<EntitySelection> {
        let mut entities: BTreeMap<&EntityPath, BTreeSet<_>> = BTreeMap::new();
        for column in &self.components {
            let components = entities.entry(&column.entity).or_default();
            components.insert(Arc::clone(&column.component));
        }
        for entity in &self.clears {
            entities
                .entry(entity)
                .or_default()
                .insert(keys::CLEAR_COMPONENT.into());
        }
        entities
            .into_iter()
            .map(|(entity, components)| EntitySelection {
                entity: entity.clone(),
                components,
            })
            .collect()
    }
}

fn table_schema(
    timelines: &[Timeline],
    index: Option<&Timeline>,
    components: &[ComponentColumn],
) -> Result<SchemaRef> {
    let segment = Field::new(keys::SEGMENT_ID_COLUMN, DataType::Utf8, false);
    let timelines = timelines
        .iter()
        .map(|timeline| timeline.field(index != Some(timeline)));
    let components = components.iter().map(ComponentColumn::field);
    let fields: Vec<Field> = std::iter::once(segment)
        .chain(timelines)
        .chain(components)
        .collect();
    let mut names = BTreeSet::new();
    match fields.iter().find(|field| !names.insert(field.name())) {
        None => Ok(Arc::new(Schema::new(fields))),
        Some(twice) => Err(Error::new(
            ErrorCode::NameClash,
            "view.resolve",
            format!(
                "two columns of the dataset would be called '{}'",
                twice.name()
            ),
        )),
    }
}
