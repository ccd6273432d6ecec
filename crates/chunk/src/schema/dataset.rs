//! The schema of a dataset, and how those of its recordings are put together.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use segue_error::{Error, ErrorCode, Result};

use super::{ComponentColumn, keys};
use crate::model::{ComponentName, EntityPath, TimeKind, Timeline};

/// Timelines and component columns of a dataset, each in canonical order and each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetSchema {
    /// Timelines: durations, timestamps, sequences; each by name.
    pub timelines: Vec<Timeline>,
    /// Component columns, those of properties last.
    pub components: Vec<ComponentColumn>,
}

impl DatasetSchema {
    /// Reads the schema that a recording or a catalog states; control columns are left out.
    ///
    /// `schema_conflict` when a column stands twice with different types, `unsupported` when an index or
    /// component column has a type that none can have.
    pub fn from_arrow(schema: &Schema) -> Result<Self> {
        let mut merger = SchemaMerger::default();
        for field in schema.fields() {
            match field.metadata().get(keys::KIND).map(String::as_str) {
                Some("index" | "time") => merger.add_timeline(timeline(field)?)?,
                Some("data" | "component") => {
                    if let Some(column) = ComponentColumn::from_field(field, None) {
                        merger.add_component(column)?;
                    }
                }
                _ => {}
            }
        }
        Ok(merger.finish())
    }

    /// The schema as catalogs state it: row id, timelines, components, each with its metadata.
    pub fn to_arrow(&self) -> Schema {
        let row_id = row_id_field(keys::ROW_ID_COLUMN);
        let timelines = self.timelines.iter().map(|timeline| timeline.field(true));
        let components = self.components.iter().map(ComponentColumn::field);
        let fields = std::iter::once(row_id).chain(timelines).chain(components);
        Schema::new(fields.collect::<Vec<_>>())
    }

    /// The timeline called `name`.
    pub fn timeline(&self, name: &str) -> Option<&Timeline> {
        self.timelines.iter().find(|t| &*t.name == name)
    }

    /// The column of `component` of `entity`.
    pub fn component(&self, entity: &EntityPath, component: &str) -> Option<&ComponentColumn> {
        let mut columns = self.components.iter();
        columns.find(|c| c.entity == *entity && &*c.component == component)
    }
}

/// Puts the schemas of recordings together: the union of their columns.
#[derive(Clone, Debug, Default)]
pub struct SchemaMerger {
    timelines: BTreeMap<Arc<str>, Timeline>,
    components: BTreeMap<(EntityPath, ComponentName), ComponentColumn>,
}

impl SchemaMerger {
    /// Adds the columns of `schema`; `schema_conflict` when one is there already with another type.
    pub fn add(&mut self, schema: &DatasetSchema) -> Result<()> {
        for timeline in &schema.timelines {
            self.add_timeline(timeline.clone())?;
        }
        for column in &schema.components {
            self.add_component(column.clone())?;
        }
        Ok(())
    }

    /// Adds a timeline.
    pub fn add_timeline(&mut self, timeline: Timeline) -> Result<()> {
        let known = self
            .timelines
            .entry(Arc::clone(&timeline.name))
            .or_insert_with(|| timeline.clone());
        if known.kind == timeline.kind {
            return Ok(());
        }
        Err(conflict(
            &timeline.name,
            &known.kind.data_type(),
            &timeline.kind.data_type(),
        ))
    }

    /// Adds a component column. Static and tombstone flags add up; a column is semantically empty only
    /// while all are.
    pub fn add_component(&mut self, column: ComponentColumn) -> Result<()> {
        if !matches!(column.data_type, DataType::List(_)) {
            let (name, data_type) = (column.column_name(), &column.data_type);
            return Err(Error::new(
                ErrorCode::Unsupported,
                "dataset.schema",
                format!("column '{name}' has type {data_type} where a list is wanted"),
            ));
        }
        match self
            .components
            .entry((column.entity.clone(), Arc::clone(&column.component)))
        {
            Entry::Vacant(free) => {
                free.insert(column);
            }
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                let Some(data_type) = widen(&known.data_type, &column.data_type) else {
                    let name = column.column_name();
                    return Err(conflict(&name, &known.data_type, &column.data_type));
                };
                known.data_type = data_type;
                known.is_static |= column.is_static;
                known.is_tombstone |= column.is_tombstone;
                known.is_semantically_empty &= column.is_semantically_empty;
                known.archetype = known.archetype.take().or(column.archetype);
                known.component_type = known.component_type.take().or(column.component_type);
            }
        }
        Ok(())
    }

    /// The union, in canonical order.
    pub fn finish(self) -> DatasetSchema {
        let mut timelines: Vec<_> = self.timelines.into_values().collect();
        let mut components: Vec<_> = self.components.into_values().collect();
        timelines.sort();
        components.sort();
        DatasetSchema {
            timelines,
            components,
        }
    }
}

/// The field of a column `name` of row ids.
pub(crate) fn row_id_field(name: &str) -> Field {
    let metadata = [
        (keys::KIND, "control"),
        ("ARROW:extension:name", "rerun.datatypes.TUID"),
        ("ARROW:extension:metadata", r#"{"namespace":"row"}"#),
    ];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Field::new(name, DataType::FixedSizeBinary(16), false).with_metadata(metadata.into())
}

/// The timeline that an index field describes.
pub(crate) fn timeline(field: &Field) -> Result<Timeline> {
    let name = field
        .metadata()
        .get(keys::INDEX_NAME)
        .unwrap_or_else(|| field.name());
    let Some(kind) = TimeKind::from_data_type(field.data_type()) else {
        let data_type = field.data_type();
        return Err(Error::new(
            ErrorCode::Unsupported,
            "dataset.schema",
            format!("index '{name}' has type {data_type}, which no timeline has"),
        ));
    };
    Ok(Timeline::new(name.as_str(), kind))
}

/// The type that holds the values of both: equal but for fields that one of them lets be null.
pub(crate) fn widen(a: &DataType, b: &DataType) -> Option<DataType> {
    let field = |a: &Field, b: &Field| -> Option<Field> {
        let data_type = widen(a.data_type(), b.data_type())?;
        let nullable = a.is_nullable() || b.is_nullable();
        (a.name() == b.name()).then(|| a.clone().with_data_type(data_type).with_nullable(nullable))
    };
    match (a, b) {
        (DataType::List(x), DataType::List(y)) => Some(DataType::List(field(x, y)?.into())),
        (DataType::LargeList(x), DataType::LargeList(y)) => {
            Some(DataType::LargeList(field(x, y)?.into()))
        }
        (DataType::FixedSizeList(x, n), DataType::FixedSizeList(y, m)) if n == m => {
            Some(DataType::FixedSizeList(field(x, y)?.into(), *n))
        }
        (DataType::Struct(x), DataType::Struct(y)) if x.len() == y.len() => {
            let fields: Option<Vec<Field>> = x.iter().zip(y).map(|(x, y)| field(x, y)).collect();
            Some(DataType::Struct(fields?.into()))
        }
        _ => (a == b).then(|| a.clone()),
    }
}

fn conflict(column: &str, known: &DataType, other: &DataType) -> Error {
    Error::new(
        ErrorCode::SchemaConflict,
        "dataset.schema",
        format!("column '{column}' has type {known} in one recording and {other} in another"),
    )
    .with_fact("column", column)
}
