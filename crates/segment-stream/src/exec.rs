//! The plan node.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, SchedulingType,
};
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet, RecordOutput,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::{StreamExt, stream};
use segue_chunk::assemble::Limits;
use segue_chunk::schema::keys::SEGMENT_ID_COLUMN;
use tracing::Span;

use crate::fetch::{FetchMetrics, deliveries};
use crate::options::SegmentStreamOptions;
use crate::plan::{Partitions, Scan};
use crate::stream::{Emission, rows};

/// Reads segments of a dataset as rows ordered by segment and index.
///
/// Describes the read and starts none of it: `execute` is immediate, the first poll begins. The same node
/// can be executed any number of times.
#[derive(Clone, Debug)]
pub struct SegmentStreamExec {
    scan: Arc<Scan>,
    /// Columns to emit, as positions in the schema of the view.
    projection: Arc<[usize]>,
    partitions: Arc<Partitions>,
    fetch: Option<usize>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl SegmentStreamExec {
    pub(crate) fn try_new(
        scan: Arc<Scan>,
        projection: Arc<[usize]>,
        target_partitions: usize,
        fetch: Option<usize>,
    ) -> Result<Self> {
        let partitions = Partitions::of(&scan.segments, target_partitions)?;
        let schema = Arc::new(scan.view.schema().project(&projection)?);
        let properties = PlanProperties::new(
            orderings(&scan, &schema)?,
            partitioning(&partitions, &schema)?,
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Ok(Self {
            scan,
            projection,
            partitions: Arc::new(partitions),
            fetch,
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(properties),
        })
    }
}

/// Rows ascend by segment, then index. Neither is ever null, so that one claim serves both null orders.
/// Claimed only while the segment is among the columns: a partition holds several.
fn orderings(scan: &Scan, schema: &SchemaRef) -> Result<EquivalenceProperties> {
    let mut keys = Vec::new();
    let index = scan.view.index().map(|index| &*index.name);
    for name in std::iter::once(SEGMENT_ID_COLUMN).chain(index) {
        match Column::new_with_schema(name, schema) {
            Ok(column) => keys.push(PhysicalSortExpr::new_default(Arc::new(column))),
            Err(_) => break,
        }
    }
    let mut properties = EquivalenceProperties::new(Arc::clone(schema));
    properties.add_ordering(keys);
    Ok(properties)
}

fn partitioning(partitions: &Partitions, schema: &SchemaRef) -> Result<Partitioning> {
    let count = partitions.plans.len();
    let key = Column::new_with_schema(SEGMENT_ID_COLUMN, schema);
    Ok(match key {
        Ok(key) if partitions.are_hashed => Partitioning::Hash(vec![Arc::new(key)], count),
        _ => Partitioning::UnknownPartitioning(count),
    })
}

impl DisplayAs for SegmentStreamExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scan = &self.scan;
        let chunks: usize = scan.segments.iter().map(|s| s.chunks.len()).sum();
        let index = scan.view.index().map_or("none", |index| &index.name);
        let (dataset, segments) = (&scan.dataset, scan.segments.len());
        if let DisplayFormatType::TreeRender = format {
            writeln!(f, "dataset={dataset}")?;
            writeln!(f, "index={index}")?;
            return writeln!(f, "segments={segments}");
        }
        write!(f, "SegmentStreamExec: dataset={dataset}, index={index}, ")?;
        write!(f, "segments={segments}, chunks={chunks}")?;
        write!(f, ", read=[{}]", scan.region.display(index))?;
        let names = self.properties.eq_properties.schema().fields().iter();
        let names: Vec<&str> = names.map(|field| field.name().as_str()).collect();
        write!(f, ", projection=[{}]", names.join(", "))?;
        match self.fetch {
            Some(fetch) => write!(f, ", fetch={fetch}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for SegmentStreamExec {
    fn name(&self) -> &str {
        "SegmentStreamExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(Arc::new(Self {
            metrics,
            ..(*self).clone()
        }))
    }

    fn repartitioned(
        &self,
        target_partitions: usize,
        _: &ConfigOptions,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let (scan, projection) = (Arc::clone(&self.scan), Arc::clone(&self.projection));
        let other = Self::try_new(scan, projection, target_partitions, self.fetch)?;
        if other.partitions.plans.len() == self.partitions.plans.len() {
            return Ok(None);
        }
        let metrics = self.metrics.clone();
        Ok(Some(Arc::new(Self { metrics, ..other })))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let fetch = limit;
        Some(Arc::new(Self {
            fetch,
            ..self.clone()
        }))
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let Some(plan) = self.partitions.plans.get(partition) else {
            let count = self.partitions.plans.len();
            return datafusion::common::internal_err!(
                "partition {partition} of a segment stream with {count} partitions"
            );
        };
        let config = context.session_config();
        let options = SegmentStreamOptions::from_config(config.options());
        let counter = |name| MetricBuilder::new(&self.metrics).counter(name, partition);
        let fetched = FetchMetrics {
            chunks: counter("chunks_fetched"),
            bytes: counter("bytes_fetched"),
        };
        let emission = Emission {
            batch: Limits {
                rows: config.batch_size().max(1),
                bytes: options.batch_bytes,
            },
            fetch: self.fetch,
        };
        let schema = self.schema();
        let deliveries = deliveries(
            Arc::clone(&self.scan),
            plan.clone(),
            options.unit_bytes,
            options.units_ahead,
            fetched,
        );
        let rows = rows(
            Arc::clone(&self.scan),
            plan.clone(),
            Arc::clone(&self.projection),
            emission,
            deliveries,
            Arc::clone(&schema),
        );
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        let mut rows = rows
            .map(move |batch| Ok(batch?.record_output(&baseline)))
            .boxed();
        // Whoever executes and polls may be a task that has no span of its own: requests belong to the query's.
        let span = match Span::current() {
            none if none.is_none() => self.scan.span.clone(),
            current => current,
        };
        let rows = stream::poll_fn(move |cx| span.in_scope(|| rows.poll_next_unpin(cx)));
        let rows = RecordBatchStreamAdapter::new(schema, rows.boxed());
        Ok(Box::pin(cooperative(rows)))
    }
}
