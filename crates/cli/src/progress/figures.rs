//! What the scans of a plan have done so far.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::MetricsSet;

/// Name of the plan node that scans a dataset.
const SCAN: &str = "SegmentStreamExec";

/// Figures of all scans together. One that a scan does not count is not known of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) rows: Option<usize>,
    pub(super) chunks_fetched: Option<usize>,
    pub(super) chunks_planned: Option<usize>,
    pub(super) bytes_fetched: Option<usize>,
    pub(super) bytes_planned: Option<usize>,
}

impl Figures {
    /// The figures of the scans in `plan`, at this moment.
    pub(super) fn of(plan: &Arc<dyn ExecutionPlan>) -> Self {
        let mut scans = Vec::new();
        collect(plan, &mut scans);
        Self::sum(&scans)
    }

    fn sum(scans: &[MetricsSet]) -> Self {
        // What is done may be counted only from the start of a scan on; what is planned is known before.
        let done = |name: &str| {
            let known = scans.iter().filter_map(|scan| value(scan, name));
            known.reduce(|a, b| a + b)
        };
        let planned = |name: &str| {
            let each: Option<Vec<usize>> = scans.iter().map(|scan| value(scan, name)).collect();
            each.filter(|each| !each.is_empty())
                .map(|each| each.iter().sum())
        };
        Self {
            rows: done("output_rows"),
            chunks_fetched: done("chunks_fetched"),
            chunks_planned: planned("chunks_planned"),
            bytes_fetched: done("bytes_fetched"),
            bytes_planned: planned("bytes_planned"),
        }
    }
}

fn collect(plan: &Arc<dyn ExecutionPlan>, scans: &mut Vec<MetricsSet>) {
    if plan.name() == SCAN {
        scans.extend(plan.metrics());
    }
    for child in plan.children() {
        collect(child, scans);
    }
}

/// The metric `name` over all partitions.
fn value(metrics: &MetricsSet, name: &str) -> Option<usize> {
    let parts = metrics.iter().map(|metric| metric.value());
    let parts = parts.filter(|value| value.name() == name);
    parts.map(|value| value.as_usize()).reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests {
    use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};

    use super::*;

    fn scan(counters: &[(&'static str, usize)]) -> MetricsSet {
        let metrics = ExecutionPlanMetricsSet::new();
        for (partition, (name, value)) in counters.iter().enumerate() {
            match *name {
                "output_rows" => MetricBuilder::new(&metrics)
                    .output_rows(partition)
                    .add(*value),
                name => MetricBuilder::new(&metrics)
                    .counter(name, partition)
                    .add(*value),
            }
        }
        metrics.clone_inner()
    }

    #[test]
    fn partitions_and_scans_are_summed() {
        let scans = [
            scan(&[
                ("output_rows", 1),
                ("output_rows", 2),
                ("chunks_planned", 4),
                ("bytes_planned", 5),
            ]),
            scan(&[
                ("output_rows", 10),
                ("chunks_planned", 40),
                ("chunks_fetched", 7),
                ("other", 9),
            ]),
        ];
        let figures = Figures {
            rows: Some(13),
            chunks_fetched: Some(7),
            chunks_planned: Some(44),
            bytes_fetched: None,
            // One of the scans does not say.
            bytes_planned: None,
        };
        assert_eq!(Figures::sum(&scans), figures);
        assert_eq!(Figures::sum(&[]), Figures::default());
    }
}
