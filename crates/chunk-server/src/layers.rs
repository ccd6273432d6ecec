//! The table of layers: one row per recording and segment in it.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt64Array, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;
use segue_chunk::local::DatasetContents;
use segue_error::{Error, ErrorCode, Result};

/// Column of the segments.
pub(crate) const SEGMENT: &str = "rerun_segment_id";
/// Column of the names of layers.
pub(crate) const LAYER: &str = "rerun_layer_name";

/// The table of the layers of a dataset.
pub(crate) fn table(contents: &DatasetContents) -> Result<RecordBatch> {
    let layers = contents.layers();
    let texts = |texts: Vec<String>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
    let names = layers.iter().map(|layer| layer.name().to_string());
    let segments = layers.iter().map(|layer| layer.segment().to_string());
    let urls = layers.iter().map(|layer| layer.address());
    let types = layers.iter().map(|_| "rrd".to_owned());
    let times = layers.iter().map(|layer| layer.stamp().modified_ns);
    let times: ArrayRef = Arc::new(Int64Array::from_iter_values(times));
    let time = DataType::Timestamp(TimeUnit::Nanosecond, None);
    let times = cast(&times, &time).map_err(internal)?;
    let chunks = layers.iter().map(|layer| layer.store().chunks.len() as u64);
    let bytes = layers.iter().map(|layer| layer.size_bytes());
    let hash = DataType::FixedSizeBinary(32);
    // What is served is there; nothing is being registered.
    let states = layers.iter().map(|_| "done".to_owned());
    let columns: [(&str, ArrayRef, bool); 10] = [
        (LAYER, texts(names.collect()), false),
        (SEGMENT, texts(segments.collect()), false),
        ("rerun_storage_url", texts(urls.collect()), false),
        ("rerun_layer_type", texts(types.collect()), false),
        ("rerun_registration_time", Arc::clone(&times), false),
        ("rerun_last_updated_at", times, false),
        (
            "rerun_num_chunks",
            Arc::new(UInt64Array::from_iter_values(chunks)),
            true,
        ),
        (
            "rerun_size_bytes",
            Arc::new(UInt64Array::from_iter_values(bytes)),
            true,
        ),
        // Known to footers only, which are not kept.
        (
            "rerun_schema_sha256",
            new_null_array(&hash, layers.len()),
            true,
        ),
        ("rerun_registration_status", texts(states.collect()), false),
    ];
    let columns = columns.into_iter();
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
        .map(|(name, array, nullable)| {
            let field = Field::new(name, array.data_type().clone(), nullable);
            (field, array)
        })
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(internal)
}

fn internal(error: ArrowError) -> Error {
    let message = format!("arrow could not build the table of layers: {error}");
    Error::new(ErrorCode::Internal, "server.layers", message).with_source(error)
}
