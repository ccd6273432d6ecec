//! `segue schema`.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow::datatypes::{Field, Schema};
use segue::STATIC_TABLE;
use segue::chunk::schema::keys;
use segue::chunk::{View, ViewOptions};

use crate::args::SchemaArgs;
use crate::exit::Failure;
use crate::output::Results;
use crate::source;
use crate::supervise::Desk;

/// Writes a row per column of the dataset, or of the table of an index.
pub(crate) async fn schema(args: SchemaArgs, desk: Desk) -> Result<(), Failure> {
    desk.progress.connect();
    let results = Results::open(&args.output, desk).await?;
    let source = source::open(&args.source).await?;
    let dataset = source.schema(&args.dataset).await?;
    let index = match args.index.as_deref() {
        Some(STATIC_TABLE) => None,
        Some(index) => Some(index),
        // The tables of all indexes have the same columns.
        None => dataset.timelines.first().map(|timeline| &*timeline.name),
    };
    let view = View::resolve(&dataset, index, &ViewOptions::default())?;
    let rows = describe(view.schema())?;
    results.write_all(&rows).await
}

/// A row per field of a table.
fn describe(table: &Schema) -> Result<RecordBatch, Failure> {
    let texts = |text: fn(&Field) -> Option<String>| -> ArrayRef {
        let texts = table.fields().iter().map(|field| text(field));
        Arc::new(texts.collect::<StringArray>())
    };
    let is_static: BooleanArray = table
        .fields()
        .iter()
        .map(|field| {
            let is_static = metadata(field, keys::IS_STATIC).is_some_and(|text| text == "true");
            (kind(field) == "component").then_some(is_static)
        })
        .collect();
    let rows = RecordBatch::try_from_iter_with_nullable([
        ("name", texts(|field| Some(field.name().clone())), false),
        (
            "type",
            texts(|field| Some(field.data_type().to_string())),
            false,
        ),
        ("kind", texts(|field| Some(kind(field).to_owned())), false),
        (
            "entity",
            texts(|field| metadata(field, keys::ENTITY_PATH)),
            true,
        ),
        (
            "component",
            texts(|field| metadata(field, keys::COMPONENT)),
            true,
        ),
        (
            "archetype",
            texts(|field| metadata(field, keys::ARCHETYPE)),
            true,
        ),
        ("is_static", Arc::new(is_static), true),
    ]);
    rows.map_err(|error| Failure::Message(error.to_string()))
}

fn metadata(field: &Field, key: &str) -> Option<String> {
    field.metadata().get(key).cloned()
}

fn kind(field: &Field) -> &'static str {
    match field.metadata().get(keys::KIND).map(String::as_str) {
        Some("index" | "time") => "index",
        Some("data" | "component") => "component",
        _ => "segment",
    }
}
