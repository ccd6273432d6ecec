//! A segment whose rows are being emitted.

use std::sync::Arc;

use segue_chunk::assemble::{Carry, RowKey};
use segue_chunk::{Chunk, Fill, TimeRange, Timeline, View};
use segue_error::Result;

use super::Delivered;
use crate::plan::{SegmentPlan, chunk_bytes};

/// A segment of which rows are still to be emitted.
pub(super) struct OpenSegment {
    pub(super) plan: Arc<SegmentPlan>,
    /// How many chunks of the plan have come, be they still here or not.
    delivered: usize,
    /// Those of them that can still matter.
    chunks: Vec<Held>,
    /// Chunks that can still matter and were given back: they come again. Ascending.
    missing: Vec<usize>,
    /// What rows to come may need of the chunks that are gone.
    carry: Carry,
    /// Bytes of that.
    copied: usize,
    /// The first row that is not emitted; `None` once there can be no more.
    cursor: Option<RowKey>,
}

/// A chunk that can still matter.
struct Held {
    /// Its position in the plan of the segment.
    at: usize,
    chunk: Arc<Chunk>,
    /// Its largest index value; `None` where it matters to every row.
    end: Option<i64>,
    bytes: usize,
}

impl Held {
    /// Whether it cannot matter to the row `next` and those after it.
    fn has_ended(&self, next: Option<RowKey>) -> bool {
        match (self.end, next) {
            (Some(end), Some(next)) => end < next.time,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

impl OpenSegment {
    pub(super) fn new(plan: Arc<SegmentPlan>) -> Self {
        Self {
            plan,
            delivered: 0,
            chunks: Vec::new(),
            missing: Vec::new(),
            carry: Carry::default(),
            copied: 0,
            cursor: Some(RowKey::MIN),
        }
    }

    /// Takes the next chunk of the plan, or one that was given back, of a table by `index`. Says whether it was either.
    pub(super) fn deliver(&mut self, delivered: Delivered, index: Option<&Timeline>) -> bool {
        let Delivered {
            chunk, bytes, at, ..
        } = delivered;
        match self.missing.binary_search(&at) {
            Ok(place) => drop(self.missing.remove(place)),
            Err(_) if at == self.delivered => self.delivered += 1,
            Err(_) => return false,
        }
        let column = index.and_then(|index| chunk.timeline(&index.name));
        // A source that does not know may name chunks that lack the index: they make no row.
        let is_elsewhere = column.is_none() && !chunk.is_static();
        if !is_elsewhere && chunk.num_rows() > 0 {
            let end = column
                .and_then(|column| column.bounds())
                .map(|(_, last)| last);
            let place = self.chunks.partition_point(|held| held.at < at);
            let held = Held {
                at,
                chunk,
                end,
                bytes,
            };
            self.chunks.insert(place, held);
        }
        true
    }

    /// Whether any chunk has come.
    pub(super) fn has_begun(&self) -> bool {
        self.delivered > 0
    }

    /// Whether all chunks of the plan have come.
    pub(super) fn is_complete(&self) -> bool {
        self.delivered == self.plan.chunks.len() && self.missing.is_empty()
    }

    /// Whether rows cannot be made before chunks come again.
    pub(super) fn lacks_chunks(&self) -> bool {
        !self.missing.is_empty()
    }

    /// All that rows to come are made of, as far as it has come.
    pub(super) fn chunks(&self) -> Vec<Arc<Chunk>> {
        let here = self.chunks.iter().map(|held| Arc::clone(&held.chunk));
        here.chain(self.carry.chunks()).collect()
    }

    /// Bytes of the chunks that are here, and of the copied rows, which are here for good.
    pub(super) fn bytes(&self) -> (usize, usize) {
        (self.chunks.iter().map(|held| held.bytes).sum(), self.copied)
    }

    /// Copies the rows of a chunk that may fill those to come.
    fn carry(&mut self, view: &View, chunks: impl Iterator<Item = Arc<Chunk>>) -> Result<()> {
        for chunk in chunks {
            self.carry.add(view, &chunk)?;
        }
        let rows = self.carry.chunks();
        self.copied = rows.iter().map(|row| chunk_bytes(row.memory_size())).sum();
        Ok(())
    }

    /// The first row that is not emitted, and the index values from there on whose rows no chunk to come can change.
    pub(super) fn horizon(&self) -> Option<(RowKey, TimeRange)> {
        let from = self.cursor?;
        let end = match self.plan.chunks.get(self.delivered) {
            None => i64::MAX,
            // A chunk without a start can have a value anywhere.
            Some(next) => next.start?.checked_sub(1)?,
        };
        let horizon = TimeRange::new(from.time, end);
        (!horizon.is_empty()).then_some((from, horizon))
    }

    /// Goes on at the row `next` of `view`, and lets go of the chunks that end before it.
    pub(super) fn advance(&mut self, next: Option<RowKey>, view: &View) -> Result<()> {
        self.cursor = next;
        let (ended, rest): (Vec<_>, Vec<_>) =
            self.chunks.drain(..).partition(|held| held.has_ended(next));
        self.chunks = rest;
        if view.fill() == Fill::LatestAt && next.is_some() && !ended.is_empty() {
            self.carry(view, ended.into_iter().map(|held| held.chunk))?;
        }
        Ok(())
    }

    /// Copies the rows to come out of chunks of which they are the smaller part, and lets go of these chunks.
    pub(super) fn compact(&mut self, view: &View) -> Result<()> {
        let (Some(index), Some(cursor)) = (view.index(), self.cursor) else {
            return Ok(());
        };
        let mut ended = Vec::new();
        for held in &mut self.chunks {
            let Some(column) = held.chunk.timeline(&index.name) else {
                continue;
            };
            let times = column.times.iter().enumerate();
            let (past, to_come): (Vec<_>, Vec<_>) =
                times.partition(|(_, time)| **time < cursor.time);
            if to_come.len() > past.len() {
                continue;
            }
            let take = |rows: Vec<(usize, &i64)>| {
                let rows: Vec<usize> = rows.into_iter().map(|(row, _)| row).collect();
                held.chunk.take(&rows)
            };
            let rest = take(to_come)?;
            if view.fill() == Fill::LatestAt {
                ended.push(Arc::new(take(past)?));
            }
            held.bytes = chunk_bytes(rest.memory_size());
            held.chunk = Arc::new(rest);
        }
        match ended.is_empty() {
            true => Ok(()),
            false => self.carry(view, ended.into_iter()),
        }
    }

    /// Lets go of the chunks that are here, to have them again later.
    pub(super) fn forget(&mut self) {
        self.missing
            .extend(self.chunks.drain(..).map(|held| held.at));
        self.missing.sort_unstable();
    }

    /// Positions in the plan of the chunks that were let go of, ascending.
    pub(super) fn missing(&self) -> &[usize] {
        &self.missing
    }
}

#[cfg(test)]
mod tests {
    use segue_chunk::testing::{ChunkBuilder, schema_of};
    use segue_chunk::{ChunkInfo, TimeKind, ViewOptions};

    use super::*;

    fn values() -> ChunkBuilder {
        ChunkBuilder::new("s", "/a").floats("x", [Some(1.0)])
    }

    fn open() -> OpenSegment {
        OpenSegment::new(Arc::new(SegmentPlan {
            id: "s".into(),
            chunks: Vec::new().into(),
            samples: None,
        }))
    }

    fn delivered(chunk: &Arc<Chunk>, at: usize) -> Delivered {
        Delivered {
            segment: 0,
            at,
            bytes: 10,
            chunk: Arc::clone(chunk),
        }
    }

    fn view(chunk: &Arc<Chunk>, fill: Fill) -> View {
        let options = ViewOptions {
            fill,
            ..ViewOptions::default()
        };
        let schema = schema_of(&[(**chunk).clone()]);
        View::resolve(&schema, Some("frame"), &options).unwrap()
    }

    #[test]
    fn only_chunks_that_can_make_rows_are_kept() {
        let index = Timeline::new("frame", TimeKind::Sequence);
        let kept = |chunk: ChunkBuilder| {
            let mut segment = open();
            assert!(segment.deliver(delivered(&Arc::new(chunk.build()), 0), Some(&index)));
            assert_eq!(segment.delivered, 1);
            segment
                .chunks
                .iter()
                .map(|held| held.end)
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(values().sequence("frame", [7])), [Some(7)]);
        assert_eq!(kept(values()), [None]);
        assert_eq!(kept(values().sequence("other", [7])), []);
    }

    #[test]
    fn of_a_chunk_that_has_ended_fill_keeps_the_last_row_alone() {
        let chunk = ChunkBuilder::new("s", "/a").sequence("frame", [1, 2, 3]);
        let chunk = Arc::new(chunk.floats("x", [Some(1.0), Some(2.0), None]).build());
        let kept = |fill| {
            let view = view(&chunk, fill);
            let mut segment = open();
            segment.deliver(delivered(&chunk, 0), view.index());
            segment.advance(Some(RowKey::at(3)), &view).unwrap();
            assert_eq!(segment.chunks().len(), 1);
            segment.advance(Some(RowKey::at(4)), &view).unwrap();
            segment.chunks()
        };
        assert!(kept(Fill::None).is_empty());
        let carried = kept(Fill::LatestAt);
        assert_eq!((carried.len(), carried[0].num_rows()), (1, 1));
        assert_eq!(carried[0].row_id(0), chunk.row_id(1));
    }

    #[test]
    fn the_tail_of_a_long_chunk_is_copied_once_it_is_the_smaller_part() {
        let chunk = ChunkBuilder::new("s", "/a").sequence("frame", [5, 1, 2, 3]);
        let chunk = Arc::new(
            chunk
                .floats("x", [Some(5.0), Some(1.0), Some(2.0), None])
                .build(),
        );
        for (fill, carried) in [(Fill::None, 0), (Fill::LatestAt, 1)] {
            let view = view(&chunk, fill);
            let mut segment = open();
            segment.deliver(delivered(&chunk, 0), view.index());
            segment.cursor = Some(RowKey::at(2));
            segment.compact(&view).unwrap();
            assert!(
                Arc::ptr_eq(&segment.chunks[0].chunk, &chunk),
                "three of four rows remain"
            );
            segment.cursor = Some(RowKey::at(4));
            segment.compact(&view).unwrap();
            let rest = &segment.chunks[0];
            assert_eq!((rest.chunk.num_rows(), rest.end), (1, Some(5)));
            assert_eq!(rest.chunk.row_id(0), chunk.row_id(0));
            let copied = segment.carry.chunks();
            assert_eq!(copied.len(), carried);
            assert!(copied.iter().all(|row| row.row_id(0) == chunk.row_id(2)));
        }
    }

    #[test]
    fn what_was_given_back_comes_again_and_nothing_else_does() {
        let index = Timeline::new("frame", TimeKind::Sequence);
        let chunk = Arc::new(values().sequence("frame", [7]).build());
        let info = ChunkInfo {
            id: chunk.id(),
            segment: "s".into(),
            layer: "base".into(),
            entity: "/a".into(),
            is_static: false,
            byte_len: 1,
            byte_len_uncompressed: None,
            start: Some(7),
            end: None,
            num_rows: None,
            key: Default::default(),
        };
        let mut segment = OpenSegment::new(Arc::new(SegmentPlan {
            id: "s".into(),
            chunks: vec![info; 3].into(),
            samples: None,
        }));
        let deliver =
            |at, segment: &mut OpenSegment| segment.deliver(delivered(&chunk, at), Some(&index));
        assert!(deliver(0, &mut segment) && deliver(1, &mut segment));
        assert!(!deliver(1, &mut segment), "it is here");
        segment.forget();
        assert_eq!((segment.missing(), segment.bytes()), (&[0, 1][..], (0, 0)));
        assert!(deliver(1, &mut segment) && !deliver(1, &mut segment));
        assert!(deliver(2, &mut segment));
        assert!(segment.lacks_chunks() && !segment.is_complete());
        assert!(deliver(0, &mut segment));
        assert!(segment.is_complete());
        let order: Vec<usize> = segment.chunks.iter().map(|held| held.at).collect();
        assert_eq!(order, [0, 1, 2]);
    }
}
