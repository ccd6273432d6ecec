//! One component column of a dataset.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};

use super::keys;
use crate::model::{ComponentName, EntityPath};

/// A component of an entity, as a column. Sorts in the canonical order of columns: data before recording
/// properties, then by entity, archetype and component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentColumn {
    /// Entity that the values belong to.
    pub entity: EntityPath,
    /// Name of the component.
    pub component: ComponentName,
    /// Archetype that the component is a field of.
    pub archetype: Option<Arc<str>>,
    /// Type name of the component.
    pub component_type: Option<Arc<str>>,
    /// Arrow type, always a `List`.
    pub data_type: DataType,
    /// Whether some segment has a static value.
    pub is_static: bool,
    /// Whether it is Clear's own column.
    pub is_tombstone: bool,
    /// Whether every value is empty.
    pub is_semantically_empty: bool,
}

impl ComponentColumn {
    /// Reads a data column from a field of a dataset or chunk schema; `None` when the field names no
    /// component. `entity` is the entity of the chunk where the field does not name one.
    pub fn from_field(field: &Field, entity: Option<&EntityPath>) -> Option<Self> {
        let text = |key: &str| field.metadata().get(key).map(String::as_str);
        let flag = |key: &str| text(key) == Some("true");
        let entity = match text(keys::ENTITY_PATH) {
            Some(path) => EntityPath::from(path),
            None => entity?.clone(),
        };
        let component: ComponentName = text(keys::COMPONENT)?.into();
        Some(Self {
            entity,
            is_tombstone: flag(keys::IS_TOMBSTONE) || &*component == keys::CLEAR_COMPONENT,
            component,
            archetype: text(keys::ARCHETYPE).map(Arc::from),
            component_type: text(keys::COMPONENT_TYPE).map(Arc::from),
            data_type: field.data_type().clone(),
            is_static: flag(keys::IS_STATIC),
            is_semantically_empty: flag(keys::IS_SEMANTICALLY_EMPTY),
        })
    }

    /// Name of the table column: `ENTITY:COMPONENT`, or `property:…` for recording properties.
    pub fn column_name(&self) -> String {
        match self.entity.property_path() {
            None => format!("{}:{}", self.entity, self.component),
            Some("") => format!("property:{}", self.component),
            Some(path) => format!("property:{path}:{}", self.component),
        }
    }

    /// The nullable field of the table column, with its metadata.
    pub fn field(&self) -> Field {
        let flag = |is: bool| is.then(|| "true".to_owned());
        let text = |value: &Option<Arc<str>>| value.as_ref().map(|v| v.to_string());
        let metadata: HashMap<String, String> = [
            (keys::KIND, Some("data".to_owned())),
            (keys::ENTITY_PATH, Some(self.entity.to_string())),
            (keys::COMPONENT, Some(self.component.to_string())),
            (keys::ARCHETYPE, text(&self.archetype)),
            (keys::COMPONENT_TYPE, text(&self.component_type)),
            (keys::IS_STATIC, flag(self.is_static)),
            (keys::IS_TOMBSTONE, flag(self.is_tombstone)),
            (
                keys::IS_SEMANTICALLY_EMPTY,
                flag(self.is_semantically_empty),
            ),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();
        Field::new(self.column_name(), self.data_type.clone(), true).with_metadata(metadata)
    }

    /// What columns are sorted by.
    fn order(&self) -> (bool, &EntityPath, &Option<Arc<str>>, &ComponentName) {
        let is_property = self.entity.property_path().is_some();
        (is_property, &self.entity, &self.archetype, &self.component)
    }
}

impl Ord for ComponentColumn {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for ComponentColumn {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
