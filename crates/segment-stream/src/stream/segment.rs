//! A segment whose rows are being emitted.

use std::sync::Arc;

use segue_chunk::assemble::{Carry, RowKey};
use segue_chunk::{Chunk, Fill, TimeRange, Timeline, View};
use segue_error::Result;

use crate::plan::SegmentPlan;

/// A segment of which rows are still to be emitted.
pub(super) struct OpenSegment {
    pub(super) plan: Arc<SegmentPlan>,
    /// How many chunks of the plan have come.
    delivered: usize,
    /// Those of them that can still matter.
    chunks: Vec<Arc<Chunk>>,
    /// The largest index value of each of those; `None` where it matters to every row.
    ends: Vec<Option<i64>>,
    /// What rows to come may need of the chunks that are gone.
    carry: Carry,
    /// The first row that is not emitted; `None` once there can be no more.
    cursor: Option<RowKey>,
}

impl OpenSegment {
    pub(super) fn new(plan: Arc<SegmentPlan>) -> Self {
        Self {
            plan,
            delivered: 0,
            chunks: Vec::new(),
            ends: Vec::new(),
            carry: Carry::default(),
            cursor: Some(RowKey::MIN),
        }
    }

    /// Takes the next chunk of the plan, of a table by `index`.
    pub(super) fn deliver(&mut self, chunk: Arc<Chunk>, index: Option<&Timeline>) {
        self.delivered += 1;
        let column = index.and_then(|index| chunk.timeline(&index.name));
        // A source that does not know may name chunks that lack the index: they make no row.
        let is_elsewhere = column.is_none() && !chunk.is_static();
        if is_elsewhere || chunk.num_rows() == 0 {
            return;
        }
        let bounds = column.and_then(|column| column.bounds());
        self.chunks.push(chunk);
        self.ends.push(bounds.map(|(_, last)| last));
    }

    /// Whether all chunks of the plan have come.
    pub(super) fn is_complete(&self) -> bool {
        self.delivered == self.plan.chunks.len()
    }

    /// All that rows to come are made of, as far as it has come.
    pub(super) fn chunks(&self) -> Vec<Arc<Chunk>> {
        let carried = self.carry.chunks();
        self.chunks.iter().map(Arc::clone).chain(carried).collect()
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
        let has_ended = |end: &Option<i64>| match (end, next) {
            (Some(end), Some(next)) => *end < next.time,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if view.fill() == Fill::LatestAt && next.is_some() {
            for (chunk, end) in self.chunks.iter().zip(&self.ends) {
                if has_ended(end) {
                    self.carry.add(view, chunk)?;
                }
            }
        }
        let mut ends = self.ends.iter();
        self.chunks
            .retain(|_| ends.next().is_some_and(|end| !has_ended(end)));
        self.ends.retain(|end| !has_ended(end));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use segue_chunk::testing::{ChunkBuilder, schema_of};
    use segue_chunk::{TimeKind, ViewOptions};

    use super::*;

    fn values() -> ChunkBuilder {
        ChunkBuilder::new("s", "/a").floats("x", [Some(1.0)])
    }

    fn open() -> OpenSegment {
        OpenSegment::new(Arc::new(SegmentPlan {
            id: "s".into(),
            chunks: Vec::new(),
            samples: None,
        }))
    }

    #[test]
    fn only_chunks_that_can_make_rows_are_kept() {
        let index = Timeline::new("frame", TimeKind::Sequence);
        let kept = |chunk: ChunkBuilder| {
            let mut segment = open();
            segment.deliver(Arc::new(chunk.build()), Some(&index));
            assert_eq!(segment.delivered, 1);
            (segment.chunks.len(), segment.ends)
        };
        assert_eq!(kept(values().sequence("frame", [7])), (1, vec![Some(7)]));
        assert_eq!(kept(values()), (1, vec![None]));
        assert_eq!(kept(values().sequence("other", [7])), (0, vec![]));
    }

    #[test]
    fn of_a_chunk_that_has_ended_fill_keeps_the_last_row_alone() {
        let chunk = ChunkBuilder::new("s", "/a").sequence("frame", [1, 2, 3]);
        let chunk = Arc::new(chunk.floats("x", [Some(1.0), Some(2.0), None]).build());
        let schema = schema_of(std::slice::from_ref(&chunk));
        let kept = |fill| {
            let options = ViewOptions {
                fill,
                ..ViewOptions::default()
            };
            let view = View::resolve(&schema, Some("frame"), &options).unwrap();
            let mut segment = open();
            segment.deliver(Arc::clone(&chunk), view.index());
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
}
