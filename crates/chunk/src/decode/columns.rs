//! What a chunk's own bytes say.

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{Field, Schema};

use super::Step;
use crate::ipc::{self, IpcError};
use crate::model::{ChunkId, ChunkParts, ComponentName, ComponentValues, EntityPath, TimeColumn};
use crate::schema::{ComponentColumn, keys, timeline};
use crate::source::EncodedChunk;

/// A chunk as its own bytes describe it. They agree with the identity under which they came.
pub(super) struct Described {
    pub(super) parts: ChunkParts,
    /// One per component of `parts`, in the same order.
    pub(super) columns: Vec<ComponentColumn>,
    /// Bytes once decompressed.
    pub(super) len: u64,
}

impl Described {
    pub(super) fn read(encoded: &EncodedChunk) -> Step<Self> {
        let stream = ipc::decompress(
            encoded.compression,
            encoded.uncompressed_len,
            &encoded.payload,
        )?;
        let len = stream.len() as u64;
        let batch = ipc::read_batch(stream)?;
        let schema = batch.schema();
        let id = chunk_id(&schema)?;
        super::agree("id", &encoded.id, &id)?;
        let entity = EntityPath::from(text(&schema, keys::ENTITY_PATH)?);

        let mut row_ids = None;
        let mut timelines = Vec::new();
        let mut components = Vec::new();
        let mut columns = Vec::new();
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            let at = |error: IpcError| error.at(format_args!("column '{}'", field.name()));
            match Role::of(field).map_err(at)? {
                Role::RowId => {
                    if row_ids.replace(row_id_array(array).map_err(at)?).is_some() {
                        return Err(at(IpcError::malformed("row ids stand twice")));
                    }
                }
                Role::Index => timelines.push(times(field, array).map_err(at)?),
                Role::Data => {
                    let (column, values) = component(field, array, &entity).map_err(at)?;
                    columns.push(column);
                    components.push(values);
                }
            }
        }
        let row_ids = row_ids.ok_or_else(|| IpcError::malformed("it has no row ids"))?;
        let segment = encoded.segment.clone();
        let parts = ChunkParts {
            id,
            segment,
            entity,
            row_ids,
            timelines,
            components,
        };
        Ok(Self {
            parts,
            columns,
            len,
        })
    }
}

enum Role {
    RowId,
    Index,
    Data,
}

impl Role {
    /// By kind, in its present and earlier words; columns without one are told by name and component.
    fn of(field: &Field) -> Step<Self> {
        match field.metadata().get(keys::KIND).map(String::as_str) {
            Some("control" | "row_id") => Ok(Self::RowId),
            Some("index" | "time") => Ok(Self::Index),
            Some("data" | "component") => Ok(Self::Data),
            Some(kind) => Err(IpcError::malformed(format_args!("kind '{kind}' is none"))),
            None if field.name() == keys::ROW_ID_COLUMN => Ok(Self::RowId),
            None if field.metadata().contains_key(keys::COMPONENT) => Ok(Self::Data),
            None => Err(IpcError::malformed("its kind is missing")),
        }
    }
}

fn text<'a>(schema: &'a Schema, key: &str) -> Step<&'a str> {
    let value = schema.metadata().get(key).map(String::as_str);
    value.ok_or_else(|| IpcError::malformed(format_args!("schema metadata '{key}' is missing")))
}

fn chunk_id(schema: &Schema) -> Step<ChunkId> {
    let text = text(schema, keys::CHUNK_ID)?;
    let digits = text.strip_prefix("chunk_").unwrap_or(text);
    ChunkId::from_hex(digits)
        .ok_or_else(|| IpcError::malformed(format_args!("'{text}' is no id of a chunk")))
}

fn row_id_array(array: &ArrayRef) -> Step<FixedSizeBinaryArray> {
    match array.as_fixed_size_binary_opt() {
        Some(ids) if ids.value_length() == 16 && ids.null_count() == 0 => Ok(ids.clone()),
        _ => Err(IpcError::malformed(
            "row ids are not 16 bytes wide and non-null",
        )),
    }
}

/// The earliest time: Rerun reserves the number below for static data, and announces times there as this.
const FIRST_TIME: i64 = i64::MIN + 1;

/// The time that `number` stands for.
pub(super) fn time(number: i64) -> i64 {
    number.max(FIRST_TIME)
}

fn times(field: &Field, array: &ArrayRef) -> Step<TimeColumn> {
    let timeline = timeline(field).map_err(|error| IpcError::malformed(error.message()))?;
    if array.null_count() != 0 {
        return Err(IpcError::malformed("an index value is null"));
    }
    let data = array.to_data();
    let [times] = data.buffers() else {
        return Err(IpcError::malformed("index values are not numbers"));
    };
    // Every kind of timeline is stored as 64 bit numbers.
    let times: ScalarBuffer<i64> = ScalarBuffer::new(times.clone(), data.offset(), data.len());
    let times = match times.contains(&i64::MIN) {
        true => times.iter().copied().map(time).collect(),
        false => times,
    };
    Ok(TimeColumn { timeline, times })
}

fn component(
    field: &Field,
    array: &ArrayRef,
    entity: &EntityPath,
) -> Step<(ComponentColumn, ComponentValues)> {
    let Some(column) = ComponentColumn::from_field(field, Some(entity)) else {
        return Err(IpcError::malformed("it names no component"));
    };
    if column.entity != *entity {
        let other = &column.entity;
        return Err(IpcError::malformed(format_args!(
            "it is of entity '{other}', not '{entity}'"
        )));
    }
    let Some(values) = array.as_list_opt::<i32>() else {
        let data_type = array.data_type();
        return Err(IpcError::malformed(format_args!(
            "type {data_type} where a list is wanted"
        )));
    };
    let component = ComponentName::clone(&column.component);
    Ok((
        column,
        ComponentValues {
            component,
            values: values.clone(),
        },
    ))
}
