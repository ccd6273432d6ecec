//! How often and when to try again.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

/// How a failed attempt is repeated: after pauses that grow by a factor of two, each cut to a random part of
/// itself (full jitter), so that clients that failed together do not come back together.
///
/// Only what the error's code calls retryable is repeated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: usize,
    /// Longest first pause.
    pub first_pause: Duration,
    /// Longest pause of all.
    pub longest_pause: Duration,
    /// What all pauses together may take.
    pub all_pauses: Duration,
}

impl RetryPolicy {
    /// No second attempt.
    pub const NEVER: Self = Self {
        retries: 0,
        first_pause: Duration::ZERO,
        longest_pause: Duration::ZERO,
        all_pauses: Duration::ZERO,
    };

    /// The longest pauses, before they are cut.
    fn pauses(&self) -> impl Iterator<Item = Duration> + use<> {
        ExponentialBuilder::new()
            .with_factor(2.0)
            .with_min_delay(self.first_pause)
            .with_max_delay(self.longest_pause)
            .with_max_times(self.retries)
            .with_total_delay(Some(self.all_pauses))
            .build()
    }

    /// The pauses of one operation.
    pub(crate) fn backoff(&self) -> impl Iterator<Item = Duration> + use<> {
        self.pauses().map(|pause| pause.mul_f64(fastrand::f64()))
    }
}

impl Default for RetryPolicy {
    /// Three further attempts, after pauses of less than a second together.
    fn default() -> Self {
        Self {
            retries: 3,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(1),
            all_pauses: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_are_cut_at_random() {
        let policy = RetryPolicy {
            retries: 4,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_millis(300),
            all_pauses: Duration::from_secs(60),
        };
        let millis = |policy: &RetryPolicy| -> Vec<u128> {
            policy.pauses().map(|pause| pause.as_millis()).collect()
        };
        assert_eq!(millis(&policy), [100, 200, 300, 300]);
        let impatient = RetryPolicy {
            all_pauses: Duration::from_millis(700),
            ..policy.clone()
        };
        assert_eq!(millis(&impatient), [100, 200, 300]);
        for _ in 0..100 {
            let mut cut = policy.backoff().zip(policy.pauses());
            assert!(cut.all(|(cut, whole)| cut <= whole));
        }
        assert_eq!(RetryPolicy::NEVER.backoff().count(), 0);
    }
}
