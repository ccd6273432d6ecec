//! The table of a dataset by an index.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use segue_chunk::{
    ChunkInfo, ChunkSource, Contents, DatasetSchema, PlanRequest, SegmentId, TimeRange,
    TimeSelection, View,
};
use segue_error::{Error, ErrorCode};
use tracing::{Span, debug};

use crate::exec::SegmentStreamExec;
use crate::explain::Narrowing;
use crate::filter::{Analysis, Filters, IntervalSet, Region, SegmentSet};
use crate::options::SegmentStreamOptions;
use crate::plan::{Scan, order};

/// A dataset as a table whose rows are ordered by segment and index.
///
/// Columns: `rerun_segment_id`, one per timeline, one per component. One row per segment and index value
/// at which a component of the view has a value; without an index, one per segment with static values.
/// Which columns are read, and which rows are asked for, does not change the rows there are.
#[derive(Clone, Debug)]
pub struct SegmentStreamTable {
    source: Arc<dyn ChunkSource>,
    dataset: Arc<str>,
    view: Arc<View>,
    /// Segments of the view.
    segments: SegmentSet,
}

/// Makes a [`SegmentStreamTable`].
#[derive(Clone, Debug)]
pub struct SegmentStreamTableBuilder {
    source: Arc<dyn ChunkSource>,
    dataset: Arc<str>,
    index: Option<String>,
    contents: Contents,
    segments: SegmentSet,
}

impl SegmentStreamTable {
    /// Starts a table over `dataset` of `source`: all contents of all segments, without an index.
    pub fn builder(
        source: Arc<dyn ChunkSource>,
        dataset: impl Into<Arc<str>>,
    ) -> SegmentStreamTableBuilder {
        SegmentStreamTableBuilder {
            source,
            dataset: dataset.into(),
            index: None,
            contents: Contents::default(),
            segments: SegmentSet::All,
        }
    }

    /// The columns of the table, and which of them make rows.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    fn analyse(&self, filters: &[&Expr]) -> Analysis {
        let index = self.view.index();
        let index = index.map(|timeline| (&*timeline.name, timeline.kind));
        Filters::analyse(index, filters)
    }

    /// What to ask the source for; `None` if nothing can be in `region`.
    fn request(&self, region: &Region) -> Option<PlanRequest> {
        let range = region.index().hull()?;
        let entities = self.view.entities();
        if region.is_empty() || entities.is_empty() {
            return None;
        }
        let time = match self.view.index() {
            None => TimeSelection::Static,
            Some(index) => TimeSelection::Index {
                index: Arc::clone(&index.name),
                range,
            },
        };
        Some(PlanRequest {
            dataset: Arc::clone(&self.dataset),
            entities,
            segments: region.segments().only().cloned(),
            time,
        })
    }

    /// Checks that the dataset still has the columns of the table.
    fn check_columns(&self, now: &DatasetSchema) -> segue_error::Result<()> {
        let changed = self.view.components().iter().find(|column| {
            let now = now.component(&column.entity, &column.component);
            now.is_none_or(|now| now.data_type != column.data_type)
        });
        let Some(column) = changed else {
            return Ok(());
        };
        let (name, dataset) = (column.column_name(), &self.dataset);
        Err(Error::new(
            ErrorCode::SourceChanged,
            "segment_stream.plan",
            format!("column '{name}' of dataset '{dataset}' is no longer what it was"),
        )
        .with_fact("column", name))
    }

    /// What to read of `filters`, as far as it lies in the view; `None` if nothing can be there.
    async fn plan(
        &self,
        filters: &[&Expr],
        options: SegmentStreamOptions,
    ) -> segue_error::Result<Option<Scan>> {
        let Analysis { region, pushdown } = self.analyse(filters);
        let view = Region::new(self.segments.clone(), IntervalSet::all());
        let region = region.intersect(&view);
        let Some(request) = self.request(&region) else {
            return Ok(None);
        };
        // What is planned now may have columns that were not there when the table was made.
        let dataset_schema = self.source.schema(&self.dataset).await?;
        self.check_columns(&dataset_schema)?;
        let mut infos = self.source.plan(&request).await?;
        let named = infos.len();
        infos.retain(|info| is_wanted(&region, info));
        let narrowing = Narrowing::new(view, filters.iter().copied().zip(&pushdown));
        let narrowing = narrowing.leaving_out(named - infos.len());
        debug!(dataset = %self.dataset, chunks = infos.len(), "planned a segment stream");
        Ok(Some(Scan {
            source: Arc::clone(&self.source),
            dataset: Arc::clone(&self.dataset),
            dataset_schema,
            view: Arc::clone(&self.view),
            region,
            segments: order(infos),
            narrowing,
            options,
            span: Span::current(),
        }))
    }
}

impl SegmentStreamTableBuilder {
    /// Orders rows by the timeline `name`.
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    /// Narrows the view to entities and components.
    pub fn contents(mut self, contents: Contents) -> Self {
        self.contents = contents;
        self
    }

    /// Narrows the view to segments. Unknown ones give no rows.
    pub fn segments(mut self, segments: impl IntoIterator<Item = SegmentId>) -> Self {
        let segments: BTreeSet<SegmentId> = segments.into_iter().collect();
        self.segments = SegmentSet::Only(segments);
        self
    }

    /// Asks the source for the columns of the dataset and makes the table.
    ///
    /// `unknown_dataset` or `unknown_index` when there is none of that name; what the source reports.
    pub async fn build(self) -> segue_error::Result<SegmentStreamTable> {
        let schema = self.source.schema(&self.dataset).await?;
        self.build_from(&schema)
    }

    /// Makes the table from the columns that the dataset is known to have, without asking the source.
    ///
    /// `unknown_index` when there is none of that name.
    pub fn build_from(self, schema: &DatasetSchema) -> segue_error::Result<SegmentStreamTable> {
        let view = View::resolve(schema, self.index.as_deref(), &self.contents)?;
        Ok(SegmentStreamTable {
            source: self.source,
            dataset: self.dataset,
            view: Arc::new(view),
            segments: self.segments,
        })
    }
}

/// Whether a chunk may have a row in `region`.
fn is_wanted(region: &Region, info: &ChunkInfo) -> bool {
    let meets = |range: TimeRange| {
        region
            .index()
            .iter()
            .any(|wanted| wanted.intersects(&range))
    };
    region.segments().contains(&info.segment) && info.range().is_none_or(meets)
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
        match self.plan(&filters, options).await? {
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
