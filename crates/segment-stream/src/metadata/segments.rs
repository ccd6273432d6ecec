//! One row per segment.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use segue_chunk::schema::keys::SEGMENT_ID_COLUMN;
use segue_chunk::{ChunkSource, DatasetSchema, segment_table_schema};
use segue_error::{Error, ErrorCode};

use super::rows;
use crate::filter::Filters;

/// What is understood of filters.
const FILTERS: Filters<'_> = Filters {
    text: SEGMENT_ID_COLUMN,
    index: None,
    is_nullable: false,
    components: None,
};

/// The segments of a dataset: layers, sizes, recording properties, and the first and last value on each
/// timeline.
///
/// The columns are those of [`segment_table_schema`], whatever else a source says of its segments.
#[derive(Clone, Debug)]
pub struct SegmentsTable {
    source: Arc<dyn ChunkSource>,
    dataset: Arc<str>,
    schema: SchemaRef,
}

impl SegmentsTable {
    /// The segments of `dataset`, which has the columns `columns`. An error when a property has values that cannot be
    /// in one column.
    pub fn try_new(
        source: Arc<dyn ChunkSource>,
        dataset: impl Into<Arc<str>>,
        columns: &DatasetSchema,
    ) -> segue_error::Result<Self> {
        Ok(Self {
            source,
            dataset: dataset.into(),
            schema: Arc::new(segment_table_schema(columns)?),
        })
    }

    /// `batch` with the columns of the table: those that it lacks are null.
    fn conform(&self, batch: &RecordBatch) -> segue_error::Result<RecordBatch> {
        let columns = self.schema.fields().iter().map(|field| {
            let Some(column) = batch.column_by_name(field.name()) else {
                return Ok(new_null_array(field.data_type(), batch.num_rows()));
            };
            let column: datafusion::arrow::error::Result<ArrayRef> =
                cast(column, field.data_type());
            column.map_err(|error| {
                let (name, found) = (field.name(), column_type(batch, field.name()));
                self.wrong(&format!("column '{name}' has type {found}"))
                    .with_source(error)
            })
        });
        let columns = columns.collect::<segue_error::Result<_>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| self.wrong(&error.to_string()).with_source(error))
    }

    fn wrong(&self, why: &str) -> Error {
        let dataset = &self.dataset;
        let message = format!("the segments of dataset '{dataset}' cannot be listed: {why}");
        Error::new(ErrorCode::SchemaConflict, "segments_table.scan", message)
            .with_fact("dataset", &**dataset)
    }
}

fn column_type(batch: &RecordBatch, name: &str) -> String {
    let column = batch.column_by_name(name);
    column.map_or_else(String::new, |column| column.data_type().to_string())
}

#[async_trait]
impl TableProvider for SegmentsTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions on the segment alone are answered here.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(FILTERS.analyse(filters).pushdown)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let filters: Vec<&Expr> = filters.iter().collect();
        let region = FILTERS.analyse(&filters).region;
        let segments = match region.is_empty() {
            true => RecordBatch::new_empty(Arc::clone(&self.schema)),
            false => {
                let found = self
                    .source
                    .segment_table(&self.dataset, region.segments())
                    .await?;
                self.conform(&found)?
            }
        };
        rows::scan(segments, state, projection, limit).await
    }
}
