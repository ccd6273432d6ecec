//! What drives a partition: one task that owns all that it holds.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use segue_error::Result;
use tokio::sync::mpsc::{Permit, Sender};
use tokio::time::timeout;

use super::fetch::Fetcher;
use super::limits::window_exhausted;
use super::units::Units;
use crate::rows::{RowMaker, Step};
use crate::window::{Kept, PartitionLease, Revocation, UnitLease};

/// How long a consumer has to leave a batch before what its partition keeps is given to others. It costs a second
/// fetch, so a consumer that is merely busy is waited for.
const PATIENCE: Duration = Duration::from_millis(100);

pub(super) struct Driver {
    pub(super) fetcher: Arc<Fetcher>,
    pub(super) units: Units,
    /// Bytes of the units that bring chunks back.
    pub(super) unit_bytes: usize,
    /// Bytes of a batch that the slot has room for.
    pub(super) batch_room: usize,
    /// Bytes beyond that which the slot has been made to hold.
    pub(super) batch_excess: usize,
    /// `None` only while it is at work elsewhere, or that has failed.
    pub(super) rows: Option<Box<RowMaker>>,
    /// The unit in the slot, until its rows are out and the rest of it is kept.
    pub(super) head: Option<Arc<UnitLease>>,
    /// What is charged for beyond the slot.
    pub(super) charged: Kept,
    pub(super) lease: Arc<PartitionLease>,
}

impl Driver {
    /// Makes batches as long as there are any and somebody takes them. At the end nothing is held but what `out` has.
    pub(super) async fn run(mut self, out: &Sender<RecordBatch>) -> Result<()> {
        let outcome = self.send_all(out).await;
        self.units.close().await;
        outcome
    }

    async fn send_all(&mut self, out: &Sender<RecordBatch>) -> Result<()> {
        while let Some(permit) = self.room(out).await? {
            match self.next_batch().await? {
                Some(batch) => permit.send(batch),
                None => break,
            }
        }
        Ok(())
    }

    /// Waits until the consumer has taken the last batch; `None` if it is gone. There is never more than one batch.
    async fn room<'a>(
        &mut self,
        out: &'a Sender<RecordBatch>,
    ) -> Result<Option<Permit<'a, RecordBatch>>> {
        let permit = match out.try_reserve() {
            Ok(permit) => Some(permit),
            Err(_) => {
                self.lease.stand(true);
                let permit = self.stand(out).await?;
                self.lease.stand(false);
                permit
            }
        };
        self.hold_batch(0).await?;
        Ok(permit)
    }

    async fn stand<'a>(
        &mut self,
        out: &'a Sender<RecordBatch>,
    ) -> Result<Option<Permit<'a, RecordBatch>>> {
        loop {
            let (lease, least) = (Arc::clone(&self.lease), self.can_give());
            tokio::select! {
                biased;
                permit = out.reserve() => return Ok(permit.ok()),
                asked = revoked(&lease, least) => match asked {
                    Revocation::Kept if !self.units.has_ahead() => {
                        match timeout(PATIENCE, out.reserve()).await {
                            Ok(permit) => return Ok(permit.ok()),
                            Err(_elapsed) => self.give_up_kept()?,
                        }
                    }
                    _ => self.units.drop_ahead(),
                },
            }
        }
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let step = self.at_work(RowMaker::step).await?;
            self.let_go();
            let pending = self.rows.as_ref().map_or(0, |rows| rows.pending_bytes());
            match step {
                Step::Batch(batch) => {
                    self.hold_batch(pending + batch.get_array_memory_size())
                        .await?;
                    return Ok(Some(batch));
                }
                Step::Done => return Ok(None),
                Step::NeedsChunks => self.hold_batch(pending).await?,
            }
            if let Some(batch) = self.settle().await? {
                return Ok(Some(batch));
            }
            self.next_head().await?;
        }
    }

    /// Keeps what rows to come need, so that the slot is free for the next head. Where that is hard, gives out the rows
    /// that there are instead; then it is to be called again.
    async fn settle(&mut self) -> Result<Option<RecordBatch>> {
        if !self.lease.try_keep(self.kept()) {
            self.at_work(RowMaker::compact).await?;
            if !self.lease.try_keep(self.kept()) {
                if let Some(batch) = self.at_work(RowMaker::flush).await? {
                    return Ok(Some(batch));
                }
                self.lease.ask_to_keep(self.kept());
                self.granted().await?;
            }
        }
        self.charged = self.kept();
        self.head = None;
        Ok(None)
    }

    /// Gives back what rows that were made have left behind.
    fn let_go(&mut self) {
        let kept = self.kept();
        if kept.bytes < self.charged.bytes {
            self.lease.ask_to_keep(kept);
            self.charged = kept;
        }
    }

    /// Waits until what was asked for is granted. Gives back meanwhile what older claims are to have, even if that is
    /// what was to be kept: then it asks for no more.
    async fn granted(&mut self) -> Result<()> {
        loop {
            let (lease, least) = (Arc::clone(&self.lease), self.can_give());
            let scan = &self.fetcher.scan;
            tokio::select! {
                biased;
                granted = self.fetcher.counters.waiting(lease.granted()) => {
                    return granted.map_err(|denied| window_exhausted(scan, &denied));
                }
                asked = revoked(&lease, least) => match asked {
                    Revocation::Kept if !self.units.has_ahead() => self.give_up_kept()?,
                    _ => self.units.drop_ahead(),
                },
            }
        }
    }

    /// Waits for the next head, and takes its chunks.
    async fn next_head(&mut self) -> Result<()> {
        self.units.start_head();
        self.units.look_ahead();
        let (delivered, lease) = loop {
            let (lease, least) = (Arc::clone(&self.lease), self.can_give());
            tokio::select! {
                biased;
                head = self.units.head() => break head?,
                asked = revoked(&lease, least) => match asked {
                    Revocation::Kept if !self.units.has_ahead() => {
                        self.give_up_kept()?;
                        self.units.start_head();
                    }
                    _ => self.units.drop_ahead(),
                },
            }
        };
        self.head = Some(lease);
        self.rows()?.deliver(delivered)
    }

    /// What could be given back, if it were asked for.
    fn can_give(&self) -> Option<Revocation> {
        match self.units.has_ahead() {
            true => Some(Revocation::Ahead),
            false => (self.charged.bytes > self.charged.fixed).then_some(Revocation::Kept),
        }
    }

    fn kept(&self) -> Kept {
        self.rows
            .as_ref()
            .map_or_else(Kept::default, |rows| rows.kept())
    }

    /// Drops all chunks, and has them fetched again before others.
    fn give_up_kept(&mut self) -> Result<()> {
        let missing = self.rows()?.forget();
        self.fetcher.counters.given_back(missing.len());
        let again = self.fetcher.plan.cut(missing, self.unit_bytes);
        self.units.drop_all(again);
        self.head = None;
        self.charged = self.kept();
        self.lease.ask_to_keep(self.charged);
        Ok(())
    }

    /// Has the slot hold `bytes` of rows.
    async fn hold_batch(&mut self, bytes: usize) -> Result<()> {
        let excess = bytes.saturating_sub(self.batch_room);
        if std::mem::replace(&mut self.batch_excess, excess) == excess {
            return Ok(());
        }
        self.lease.ask_for_batch(excess);
        self.granted().await
    }

    fn rows(&mut self) -> Result<&mut RowMaker> {
        self.rows.as_deref_mut().ok_or_else(lost)
    }

    /// Does `work` where processor time is spent. What it works on stays charged until it is done.
    async fn at_work<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut RowMaker) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut rows = self.rows.take().ok_or_else(lost)?;
        let charged = (self.head.clone(), Arc::clone(&self.lease));
        let cpu = Arc::clone(&self.fetcher.cpu);
        // If nobody waits any more, the rows go before what they are charged to.
        let (rows, outcome, _charged) = cpu
            .run(move || {
                let outcome = work(&mut rows);
                (rows, outcome, charged)
            })
            .await?;
        self.rows = Some(rows);
        outcome
    }
}

/// Waits until the partition is asked to give back `least`; for good if it has nothing to give.
async fn revoked(lease: &PartitionLease, least: Option<Revocation>) -> Revocation {
    match least {
        Some(least) => lease.revoked(least).await,
        None => std::future::pending().await,
    }
}

fn lost() -> segue_error::Error {
    segue_error::Error::new(
        segue_error::ErrorCode::Invariant,
        "segment_stream.run",
        "a partition was polled after it had failed",
    )
}
