//! How far is read ahead, counted in groups.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// How often groups were read, and how many readers live.
#[derive(Clone, Debug, Default)]
struct Counts {
    reads: Arc<AtomicUsize>,
    alive: Arc<()>,
}

impl Counts {
    fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    /// References beside this one.
    fn readers(&self) -> usize {
        Arc::strong_count(&self.alive) - 1
    }
}

/// A stream of ten groups of three numbers each; the group `fails` fails.
fn numbers(counts: &Counts, fails: Option<u32>) -> Stream<u32> {
    let counts = counts.clone();
    read_ahead((0..10).collect(), move |group: u32| {
        // Takes hold of all of it, not of a field.
        let counts = &counts;
        counts.reads.fetch_add(1, Ordering::Relaxed);
        async move {
            match Some(group) == fails {
                true => Err(Status::data_loss("group")),
                false => Ok((0..3).map(|n| group * 3 + n).collect()),
            }
        }
    })
}

/// Lets every task go as far as it can: there is one thread, and nothing waits for anything outside.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn no_more_than_a_group_is_read_ahead_of_who_takes_nothing() {
    let counts = Counts::default();
    let mut stream = numbers(&counts, None);
    settle().await;
    assert_eq!(counts.reads(), 1);
    let mut taken = Vec::new();
    while let Some(number) = stream.next().await {
        taken.push(number.unwrap());
        settle().await;
        // One number waits in the channel, and the one behind it in the hand of the reader.
        let reached = (taken.len() + 2).div_ceil(3).min(10);
        assert_eq!(counts.reads(), reached, "{taken:?}");
    }
    assert_eq!(taken, (0..30).collect::<Vec<_>>());
}

#[tokio::test]
async fn nothing_is_read_once_the_stream_is_dropped() {
    let counts = Counts::default();
    let mut stream = numbers(&counts, None);
    assert!(stream.next().await.is_some());
    assert_eq!(counts.readers(), 1);
    drop(stream);
    settle().await;
    assert_eq!(counts.readers(), 0);
    assert!(counts.reads() <= 2, "{counts:?}");
}

#[tokio::test]
async fn the_first_failure_is_the_last_message() {
    let counts = Counts::default();
    let messages: Vec<_> = numbers(&counts, Some(2)).collect().await;
    let numbers: Vec<u32> = messages.iter().flatten().copied().collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    let failure = messages.last().unwrap().as_ref().unwrap_err();
    assert_eq!((failure.code(), messages.len()), (tonic::Code::DataLoss, 7));
    assert_eq!(counts.reads(), 3);
}

#[tokio::test]
async fn a_reader_that_panics_is_a_failure_and_not_an_end() {
    let mut stream: Stream<u32> = read_ahead(vec![1], |_: u32| async { panic!("on purpose") });
    let failure = stream.next().await.unwrap().unwrap_err();
    assert_eq!(failure.code(), tonic::Code::Internal);
    assert!(stream.next().await.is_none());
}
