//! The plan node.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::ConfigOptions;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_expr_common::physical_expr::fmt_sql;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, EvaluationType, ReplaceChildrenOptions, SchedulingType,
};
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};
use segue_chunk::Fill;
use segue_chunk::assemble::Limits;
use segue_chunk::schema::keys::{ROW_ID_TABLE_COLUMN, SEGMENT_ID_COLUMN};
use segue_chunk::view::Duplicates;
use tracing::Span;

use crate::counters::{Observed, ScanCounters};
use crate::executor::{Partition, Query};
use crate::explain::{Summary, short};
use crate::plan::{Partitions, Scan};
use crate::rows::Emission;

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
    /// Filters that are left to the nodes above, as text.
    residual: Arc<[String]>,
    counters: ScanCounters,
    /// What its partitions hold memory as.
    query: Query,
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
        .with_scheduling_type(SchedulingType::Cooperative)
        .with_evaluation_type(EvaluationType::Eager);
        Ok(Self {
            counters: ScanCounters::new(&scan.segments),
            scan,
            projection,
            partitions: Arc::new(partitions),
            fetch,
            residual: Arc::new([]),
            query: Query::default(),
            properties: Arc::new(properties),
        })
    }
}

/// Rows ascend by segment, then index, then row id where there is one. None of these is ever null, so that one claim
/// serves both null orders. Claimed only while the segment is among the columns: a partition holds several.
fn orderings(scan: &Scan, schema: &SchemaRef) -> Result<EquivalenceProperties> {
    let mut keys = Vec::new();
    let index = scan.view.index().map(|index| &*index.name);
    let has_ids = scan.view.duplicates() == Duplicates::All;
    let row_id = has_ids.then_some(ROW_ID_TABLE_COLUMN);
    for name in [SEGMENT_ID_COLUMN].into_iter().chain(index).chain(row_id) {
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
        let (scan, planned) = (&self.scan, self.counters.planned());
        let index = scan.view.index().map_or("none", |index| &index.name);
        let (dataset, segments, chunks) = (&scan.dataset, planned.segments, planned.chunks);
        if let DisplayFormatType::TreeRender = format {
            writeln!(f, "dataset={dataset}")?;
            writeln!(f, "index={index}")?;
            return writeln!(f, "segments={segments}");
        }
        write!(f, "SegmentStreamExec: dataset={dataset}, index={index}, ")?;
        write!(f, "segments={segments}, chunks={chunks}")?;
        write!(f, ", read=[{}]", scan.region.display(index))?;
        if !scan.not_null.is_empty() {
            let components = scan.not_null.iter();
            let components = components.filter_map(|&at| scan.view.components().get(at));
            let names: Vec<String> = components.map(|c| c.column_name()).collect();
            write!(f, ", not_null=[{}]", names.join(", "))?;
        }
        if scan.view.fill() == Fill::LatestAt {
            f.write_str(", fill=latest_at")?;
        }
        if scan.view.duplicates() == Duplicates::All {
            f.write_str(", duplicates=all")?;
        }
        let mut samples = scan.segments.iter().filter_map(|s| s.samples.as_ref());
        if let Some(first) = samples.next() {
            let all = samples.map(Vec::len).sum::<usize>() + first.len();
            write!(f, ", index_values={all}")?;
        }
        let names = self.properties.eq_properties.schema().fields().iter();
        let names: Vec<&str> = names.map(|field| field.name().as_str()).collect();
        write!(f, ", projection=[{}]", names.join(", "))?;
        if let Some(fetch) = self.fetch {
            write!(f, ", fetch={fetch}")?;
        }
        let DisplayFormatType::Verbose = format else {
            return Ok(());
        };
        let summary = Summary {
            scan,
            projection: &self.projection,
            planned,
            partitions: self.partitions.plans.len(),
            residual: &self.residual,
        };
        write!(f, "{summary}")
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
        let counters = self.counters.anew();
        Ok(Arc::new(Self {
            counters,
            query: Query::default(),
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
        Ok(Some(Arc::new(Self {
            counters: self.counters.clone(),
            query: self.query.clone(),
            residual: Arc::clone(&self.residual),
            ..other
        })))
    }

    /// Takes note of the filters that come down to here, and leaves them all to those above: what the scan can answer
    /// of them it was told when it was planned.
    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let filters = result.parent_filters.iter();
        let residual = filters.map(|filter| short(fmt_sql(filter.filter.as_ref())));
        let residual = match phase {
            FilterPushdownPhase::Pre => residual.collect(),
            // Those of the later phase have no values before execution.
            FilterPushdownPhase::Post => Arc::clone(&self.residual),
        };
        let left = FilterPushdownPropagation::all_unsupported(result);
        if residual == self.residual {
            return Ok(left);
        }
        let node = Self {
            residual,
            ..self.clone()
        };
        Ok(left.with_updated_node(Arc::new(node)))
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
        Some(self.counters.metrics())
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
        let batch_size = context.session_config().batch_size();
        let counters = self.counters.partition(partition, plan);
        let schema = self.schema();
        let run = Partition {
            scan: Arc::clone(&self.scan),
            plan: plan.clone(),
            of: self.partitions.plans.len(),
            projection: Arc::clone(&self.projection),
            schema: Arc::clone(&schema),
            emission: Emission {
                batch: Limits {
                    rows: batch_size.max(1),
                    bytes: self.scan.options.batch_bytes,
                },
                fetch: self.fetch,
                counters: counters.rows,
            },
            counters: counters.fetch,
            query: self.query.clone(),
            context,
        };
        let rows = run.execute();
        let rows = rows.map_err(DataFusionError::from).boxed();
        let mut rows = Observed::new(rows, counters.polls);
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
