//! The table of a dataset by an index.

mod builder;
mod planning;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use segue_chunk::schema::keys::SEGMENT_ID_COLUMN;
use segue_chunk::{ChunkSource, TextSet, View};

pub use builder::SegmentStreamTableBuilder;

use crate::exec::SegmentStreamExec;
use crate::executor::Memory;
use crate::filter::{Analysis, Components, Filters};
use crate::options::SegmentStreamOptions;
use crate::samples::Samples;

/// A dataset as a table whose rows are ordered by segment and index.
///
/// Columns: `rerun_segment_id`, one per timeline, one per component. One row per segment and index value
/// at which a component of the view has a value, or per index value that is given; without an index, one per segment
/// with static values. Which columns are read, and which rows are asked for, does not change the rows there are.
#[derive(Clone, Debug)]
pub struct SegmentStreamTable {
    source: Arc<dyn ChunkSource>,
    dataset: Arc<str>,
    view: Arc<View>,
    /// Segments of the view.
    segments: TextSet,
    /// Index values that have a row, where they are given.
    samples: Option<Samples>,
    /// Columns of which the scan can be told that they must have a value.
    components: Arc<Components>,
}

impl SegmentStreamTable {
    /// Starts a table over `dataset` of `source`: all contents of all segments, without an index.
    pub fn builder(
        source: Arc<dyn ChunkSource>,
        dataset: impl Into<Arc<str>>,
    ) -> SegmentStreamTableBuilder {
        SegmentStreamTableBuilder::new(source, dataset.into())
    }

    /// The columns of the table, and which of them make rows.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    fn analyse(&self, filters: &[&Expr]) -> Analysis {
        let index = self.view.index();
        let columns = Filters {
            text: SEGMENT_ID_COLUMN,
            index: index.map(|timeline| (&*timeline.name, timeline.kind)),
            is_nullable: false,
            components: Some(&self.components),
        };
        columns.analyse(filters)
    }
}

#[async_trait]
impl TableProvider for SegmentStreamTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.view.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(self.analyse(filters).pushdown)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let filters: Vec<&Expr> = filters.iter().collect();
        let options = SegmentStreamOptions::from_config(state.config_options());
        let all = || (0..self.view.schema().fields().len()).collect();
        let projection: Arc<[usize]> = projection.map_or_else(all, |p| p.as_slice().into());
        let memory = Memory::of(state.config(), state.runtime_env());
        match self.plan(&projection, &filters, options, memory).await? {
            Some(scan) if !scan.segments.is_empty() => {
                let target = state.config().target_partitions();
                let exec = SegmentStreamExec::try_new(Arc::new(scan), projection, target, limit)?;
                Ok(Arc::new(exec))
            }
            _ => {
                let schema = self.view.schema().project(&projection)?;
                Ok(Arc::new(EmptyExec::new(Arc::new(schema))))
            }
        }
    }
}
