//! Values of which the smallest or the largest counts. DataFusion's own would add up those of partitions.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use datafusion::common::{human_readable_duration, human_readable_size};
use datafusion::physical_plan::metrics::CustomMetricValue;

/// The smallest of the durations recorded. Clones are the same value.
#[derive(Clone, Debug)]
pub(crate) struct Least(Arc<AtomicU64>);

/// The largest of the numbers of bytes recorded. Clones are the same value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Most(Arc<AtomicU64>);

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

impl Most {
    /// Takes note of `bytes`.
    pub(super) fn record(&self, bytes: usize) {
        self.0.fetch_max(bytes as u64, Ordering::Relaxed);
    }

    fn bytes(&self) -> usize {
        usize::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(usize::MAX)
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

impl fmt::Display for Most {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&human_readable_size(self.bytes()))
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

impl CustomMetricValue for Most {
    fn new_empty(&self) -> Arc<dyn CustomMetricValue> {
        Arc::new(Self::default())
    }

    fn aggregate(&self, other: Arc<dyn CustomMetricValue>) {
        if let Some(other) = other.as_any().downcast_ref::<Self>() {
            self.record(other.bytes());
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_usize(&self) -> usize {
        self.bytes()
    }

    fn is_eq(&self, other: &Arc<dyn CustomMetricValue>) -> bool {
        let other = other.as_any().downcast_ref::<Self>();
        other.is_some_and(|other| other.bytes() == self.bytes())
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

    #[test]
    fn the_largest_counts_and_is_not_added_up() {
        let value = |bytes| {
            let most = Most::default();
            most.record(bytes);
            Arc::new(most)
        };
        let all = value(3 << 20);
        all.aggregate(value(5 << 20));
        all.aggregate(value(4 << 20));
        assert_eq!(
            (all.as_usize(), all.to_string().as_str()),
            (5 << 20, "5.0 MB")
        );
        let (same, other): (Arc<dyn CustomMetricValue>, _) = (value(5 << 20), value(1));
        let other: Arc<dyn CustomMetricValue> = other;
        assert!(all.is_eq(&same) && !all.is_eq(&other));
    }
}
