//! The counters of a plan node.

use std::sync::Arc;

use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, Metric, MetricBuilder, MetricValue, MetricsSet, Time,
};

use super::extreme::{Least, Most};
use super::{Counter, PartitionCounters};
use crate::plan::{PartitionPlan, SegmentPlan};

/// How much is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Segments.
    pub(crate) segments: usize,
    /// Chunks.
    pub(crate) chunks: usize,
    /// Bytes, as announced.
    pub(crate) bytes: u64,
}

impl Planned {
    /// All of `segments`.
    pub(crate) fn of(segments: &[Arc<SegmentPlan>]) -> Self {
        let mut planned = Self::default();
        for segment in segments {
            planned.segments += 1;
            for chunk in segment.chunks.iter() {
                planned.add_chunk(chunk.byte_len);
            }
        }
        planned
    }

    /// Adds a chunk of `bytes`.
    pub(crate) fn add_chunk(&mut self, bytes: u64) {
        self.chunks += 1;
        // What a source announces can be any number.
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn metric(self, counter: Counter) -> Option<Metric> {
        let value = match counter {
            Counter::SegmentsPlanned => self.segments,
            Counter::ChunksPlanned => self.chunks,
            Counter::BytesPlanned => saturated(self.bytes),
            _ => return None,
        };
        let count = Count::new();
        count.add(value);
        let name = counter.name().into();
        let metric = Metric::new(MetricValue::Count { name, count }, None);
        Some(metric.with_category(counter.unit().category()))
    }
}

/// A number of bytes as metrics count them.
pub(super) fn saturated(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// All that a node counts. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct ScanCounters {
    /// What the plan says; kept apart from what is registered, so that it is there once however often the plan is
    /// executed or split.
    planned: Planned,
    /// What execution registers.
    done: ExecutionPlanMetricsSet,
}

impl ScanCounters {
    /// Counters of a read of `segments`, which has not begun.
    pub(crate) fn new(segments: &[Arc<SegmentPlan>]) -> Self {
        Self {
            planned: Planned::of(segments),
            done: ExecutionPlanMetricsSet::new(),
        }
    }

    /// Counters of the same read as if it had not begun.
    pub(crate) fn anew(&self) -> Self {
        Self {
            planned: self.planned,
            done: ExecutionPlanMetricsSet::new(),
        }
    }

    /// How much is to be read.
    pub(crate) fn planned(&self) -> Planned {
        self.planned
    }

    /// The metrics as they stand now.
    pub(crate) fn metrics(&self) -> MetricsSet {
        let planned = Counter::ALL.iter();
        let planned = planned.filter_map(|counter| self.planned.metric(*counter));
        let mut metrics: MetricsSet = planned.map(Arc::new).collect();
        metrics.extend(self.done.clone_inner());
        metrics
    }

    /// Counters of one execution of the partition at `partition`, which reads `plan`.
    pub(crate) fn partition(&self, partition: usize, plan: &PartitionPlan) -> PartitionCounters {
        let registry = Registry {
            metrics: &self.done,
            partition,
        };
        PartitionCounters::new(&registry, Planned::of(&plan.segments))
    }
}

/// Makes the counters of a partition. Nothing else makes any.
pub(super) struct Registry<'a> {
    pub(super) metrics: &'a ExecutionPlanMetricsSet,
    pub(super) partition: usize,
}

impl Registry<'_> {
    pub(super) fn count(&self, counter: Counter) -> Count {
        let count = Count::new();
        let name = counter.name().into();
        let value = count.clone();
        self.register(counter, MetricValue::Count { name, count: value });
        count
    }

    pub(super) fn time(&self, counter: Counter) -> Time {
        let time = Time::new();
        let name = counter.name().into();
        let value = time.clone();
        self.register(counter, MetricValue::Time { name, time: value });
        time
    }

    pub(super) fn least(&self, counter: Counter) -> Least {
        let least = Least::new();
        let name = counter.name().into();
        let value = Arc::new(least.clone());
        self.register(counter, MetricValue::Custom { name, value });
        least
    }

    pub(super) fn most(&self, counter: Counter) -> Most {
        let most = Most::default();
        let name = counter.name().into();
        let value = Arc::new(most.clone());
        self.register(counter, MetricValue::Custom { name, value });
        most
    }

    fn register(&self, counter: Counter, value: MetricValue) {
        MetricBuilder::new(self.metrics)
            .with_partition(self.partition)
            .with_category(counter.unit().category())
            .build(value);
    }
}
