//! The schema message.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_ipc::{Endianness, KeyValue};

use super::error::{IpcError, Result};
use super::types::{data_type, dictionary_key};

/// Deepest nesting of fields.
const MAX_DEPTH: usize = 48;

/// What a schema says of a column beyond its Arrow field: the dictionaries that it and its children use.
#[derive(Debug)]
pub(super) struct Ids {
    /// The dictionary that the values are indexes into.
    pub(super) dictionary: Option<i64>,
    /// Those of the children, in the order of the data type.
    pub(super) children: Vec<Ids>,
}

/// What the values of a dictionary are.
#[derive(Clone, Debug)]
pub(super) struct DictionaryValues {
    pub(super) data_type: DataType,
    pub(super) children: Arc<Ids>,
}

/// A schema with its dictionaries.
#[derive(Debug)]
pub(super) struct StreamSchema {
    pub(super) schema: SchemaRef,
    /// One per column.
    pub(super) ids: Vec<Ids>,
    pub(super) dictionaries: HashMap<i64, DictionaryValues>,
}

impl StreamSchema {
    /// Reads the message `schema`.
    pub(super) fn read(schema: arrow_ipc::Schema<'_>) -> Result<Self> {
        if schema.endianness() != Endianness::Little || cfg!(target_endian = "big") {
            return Err(IpcError::unsupported("big endian data"));
        }
        let mut reader = Reader::default();
        let mut fields = Vec::new();
        let mut ids = Vec::new();
        for field in schema.fields().into_iter().flatten() {
            let (field, own) = reader.field(field, 0)?;
            fields.push(field);
            ids.push(own);
        }
        let metadata = metadata(schema.custom_metadata().into_iter().flatten());
        Ok(Self {
            schema: Arc::new(Schema::new_with_metadata(fields, metadata)),
            ids,
            dictionaries: reader.dictionaries,
        })
    }
}

/// Collects dictionaries while fields are read.
#[derive(Default)]
struct Reader {
    dictionaries: HashMap<i64, DictionaryValues>,
}

impl Reader {
    fn field(&mut self, source: arrow_ipc::Field<'_>, depth: usize) -> Result<(FieldRef, Ids)> {
        if depth > MAX_DEPTH {
            return Err(IpcError::unsupported(format_args!(
                "fields nested over {MAX_DEPTH} deep"
            )));
        }
        let name = source.name().unwrap_or_default();
        let mut fields = Vec::new();
        let mut children = Vec::new();
        for child in source.children().into_iter().flatten() {
            let (field, ids) = self.field(child, depth + 1)?;
            fields.push(field);
            children.push(ids);
        }
        let mut own =
            data_type(source, fields).map_err(|e| e.at(format_args!("field '{name}'")))?;
        let mut ids = Ids {
            dictionary: None,
            children,
        };
        if let Some(dictionary) = source.dictionary() {
            let key = dictionary_key(dictionary)?;
            let values = DictionaryValues {
                data_type: own.clone(),
                children: Arc::new(ids),
            };
            let id = dictionary.id();
            if let Some(known) = self.dictionaries.insert(id, values)
                && known.data_type != own
            {
                return Err(IpcError::malformed(format_args!(
                    "dictionary {id} has two types"
                )));
            }
            own = DataType::Dictionary(Box::new(key), Box::new(own));
            ids = Ids {
                dictionary: Some(id),
                children: Vec::new(),
            };
        }
        let field = Field::new(name, own, source.nullable())
            .with_metadata(metadata(source.custom_metadata().into_iter().flatten()));
        Ok((Arc::new(field), ids))
    }
}

fn metadata<'a>(pairs: impl Iterator<Item = KeyValue<'a>>) -> HashMap<String, String> {
    pairs
        .filter_map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned())))
        .collect()
}
