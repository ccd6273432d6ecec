//! Record batches and dictionaries.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use arrow::array::{ArrayData, ArrayRef, make_array};
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use arrow_ipc::DictionaryBatch;

use super::arrays::Arrays;
use super::error::{IpcError, Result};
use super::schema::StreamSchema;

/// The dictionaries read so far, by their ids.
pub(super) type Dictionaries = HashMap<i64, ArrayData>;

/// Reads the record batch `batch` of a stream with the given schema.
pub(super) fn read_columns(
    schema: &StreamSchema,
    dictionaries: &Dictionaries,
    batch: arrow_ipc::RecordBatch<'_>,
    body: Buffer,
) -> Result<RecordBatch> {
    let mut arrays = Arrays::new(batch, body, dictionaries)?;
    let rows = arrays.rows();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (field, ids) in schema.schema.fields().iter().zip(&schema.ids) {
        let at = |error: IpcError| error.at(format_args!("column '{}'", field.name()));
        let data = arrays.read(field.data_type(), ids).map_err(at)?;
        let len = data.len();
        if len != rows {
            let error = format_args!("{len} values in a batch of {rows} rows");
            return Err(at(IpcError::malformed(error)));
        }
        columns.push(make_array(data));
    }
    arrays.finish()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(SchemaRef::clone(&schema.schema), columns, &options)
        .map_err(IpcError::malformed)
}

/// Reads a dictionary batch into `dictionaries`.
pub(super) fn read_dictionary(
    schema: &StreamSchema,
    dictionaries: &mut Dictionaries,
    batch: DictionaryBatch<'_>,
    body: Buffer,
) -> Result<()> {
    let id = batch.id();
    let at = |error: IpcError| error.at(format_args!("dictionary {id}"));
    let no = |reason: &str| Err(at(IpcError::malformed(reason)));
    if batch.isDelta() {
        return Err(at(IpcError::unsupported("a delta")));
    }
    let Some(values) = schema.dictionaries.get(&id) else {
        return no("no column uses it");
    };
    let Some(batch) = batch.data() else {
        return no("it has no values");
    };
    let mut arrays = Arrays::new(batch, body, dictionaries).map_err(at)?;
    let data = arrays
        .read(&values.data_type, &values.children)
        .map_err(at)?;
    if data.len() != arrays.rows() {
        return no("its length is not that of its values");
    }
    arrays.finish().map_err(at)?;
    match dictionaries.entry(id) {
        Entry::Vacant(free) => {
            free.insert(data);
            Ok(())
        }
        Entry::Occupied(_) => Err(at(IpcError::unsupported("a replacement"))),
    }
}
