//! A time of which the smallest counts.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use datafusion::common::human_readable_duration;
use datafusion::physical_plan::metrics::CustomMetricValue;

/// The smallest of the durations recorded. DataFusion's own `Time` would add up those of partitions.
///
/// Clones are the same value.
#[derive(Clone, Debug)]
pub(crate) struct Least(Arc<AtomicU64>);

/// No duration was recorded.
const NONE: u64 = u64::MAX;

impl Least {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(NONE)))
    }

    /// Takes note of `duration`, in whole nanoseconds.
    pub(super) fn record(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(NONE - 1);
        self.0.fetch_min(nanos.min(NONE - 1), Ordering::Relaxed);
    }

    fn nanos(&self) -> Option<u64> {
        let nanos = self.0.load(Ordering::Relaxed);
        (nanos != NONE).then_some(nanos)
    }
}

impl fmt::Display for Least {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nanos() {
            Some(nanos) => f.write_str(&human_readable_duration(nanos)),
            None => f.write_str("NOT RECORDED"),
        }
    }
}

impl CustomMetricValue for Least {
    fn new_empty(&self) -> Arc<dyn CustomMetricValue> {
        Arc::new(Self::new())
    }

    fn aggregate(&self, other: Arc<dyn CustomMetricValue>) {
        let other = other.as_any().downcast_ref::<Self>();
        if let Some(nanos) = other.and_then(Self::nanos) {
            self.0.fetch_min(nanos, Ordering::Relaxed);
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_usize(&self) -> usize {
        let nanos = self.nanos().unwrap_or(0);
        usize::try_from(nanos).unwrap_or(usize::MAX)
    }

    fn is_eq(&self, other: &Arc<dyn CustomMetricValue>) -> bool {
        let other = other.as_any().downcast_ref::<Self>();
        other.is_some_and(|other| other.nanos() == self.nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_counts_whatever_the_order_and_none_is_not_zero() {
        let value = |millis: &[u64]| {
            let least = Least::new();
            for millis in millis {
                least.record(Duration::from_millis(*millis));
            }
            Arc::new(least)
        };
        let all = value(&[]);
        assert_eq!(
            (all.as_usize(), all.to_string().as_str()),
            (0, "NOT RECORDED")
        );
        for millis in [&[7, 5][..], &[], &[9]] {
            all.aggregate(value(millis));
        }
        assert_eq!(
            (all.as_usize(), all.to_string().as_str()),
            (5_000_000, "5.00ms")
        );
        let same: Arc<dyn CustomMetricValue> = value(&[5]);
        let other: Arc<dyn CustomMetricValue> = value(&[]);
        assert!(all.is_eq(&same) && !all.is_eq(&other));
        assert_eq!(all.new_empty().to_string(), "NOT RECORDED");
    }
}
