//! `segue datasets`.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};

use crate::args::DatasetsArgs;
use crate::exit::Failure;
use crate::output::Results;
use crate::session;
use crate::supervise::Desk;

/// Writes the names of the datasets.
pub(crate) async fn datasets(args: DatasetsArgs, desk: Desk) -> Result<(), Failure> {
    desk.progress.connect();
    let results = Results::open(&args.output, desk).await?;
    let session = session::open(&args.source).await?;
    let names = session.catalog().datasets().await?;
    let schema = Arc::new(Schema::new(vec![Field::new(
        "dataset",
        DataType::Utf8,
        false,
    )]));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    let rows = RecordBatch::try_new(schema, vec![names]);
    let rows = rows.map_err(|error| Failure::Message(error.to_string()))?;
    results.write_all(&rows).await
}
