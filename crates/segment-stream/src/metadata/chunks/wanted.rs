//! Which chunks filters over the table of chunks ask for.

use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use segue_chunk::schema::keys::SEGMENT_ID_COLUMN;
use segue_chunk::{ChunkInfo, TextSet, TimeRange, Timeline};

use super::{ENTITY_COLUMN, STATIC_COLUMN};
use crate::filter::{Analysis, Filters};

/// The chunks that filters ask for.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) segments: TextSet,
    pub(super) entities: TextSet,
    /// Whether they are static, or are not; `None` for either.
    pub(super) is_static: Option<bool>,
    /// Per timeline a range that each of them has a value in; `None` where they may lack the timeline.
    pub(super) ranges: Vec<Option<TimeRange>>,
    /// Whether there are none.
    pub(super) is_nothing: bool,
    /// How far each filter is answered.
    pub(super) pushdown: Vec<TableProviderFilterPushDown>,
}

impl Wanted {
    /// What `filters` ask of the chunks of a dataset with `timelines`.
    pub(super) fn new(filters: &[&Expr], timelines: &[Timeline]) -> Self {
        let by_text = |text| of(text, None).analyse(filters);
        let segments = by_text(SEGMENT_ID_COLUMN);
        let entities = by_text(ENTITY_COLUMN);
        let mut all = vec![segments.pushdown.clone(), entities.pushdown.clone()];
        let (mut ranges, mut is_nothing) = (Vec::new(), false);
        for timeline in timelines {
            let bounds = ["start", "end"].map(|marker| {
                let name = format!("{}:{marker}", timeline.name);
                of("", Some((&name, timeline))).analyse(filters)
            });
            is_nothing |= bounds.iter().any(|bound| bound.region.is_empty());
            all.extend(bounds.each_ref().map(|bound| bound.pushdown.clone()));
            ranges.push(range(&bounds));
        }
        let said = filters.iter().map(|filter| says_static(filter));
        let said: Vec<Option<bool>> = said.collect();
        let is_static = said.iter().copied().flatten().next();
        is_nothing |= said.iter().flatten().any(|said| Some(*said) != is_static);
        is_nothing |= segments.region.is_empty() || entities.region.is_empty();
        let pushdown = said.iter().enumerate().map(|(at, said)| match said {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => best(all.iter().map(|of_one| &of_one[at])),
        });
        Self {
            pushdown: pushdown.collect(),
            segments: segments.region.segments().clone(),
            entities: entities.region.segments().clone(),
            is_static,
            ranges,
            is_nothing,
        }
    }

    /// Whether `chunk` is one of them, as far as that is answered exactly.
    pub(super) fn has(&self, chunk: &ChunkInfo) -> bool {
        self.segments.contains(chunk.segment.as_str())
            && self.entities.contains(chunk.entity.as_str())
            && self
                .is_static
                .is_none_or(|wanted| wanted == chunk.is_static)
    }
}

fn of<'a>(text: &'a str, bound: Option<(&'a str, &Timeline)>) -> Filters<'a> {
    Filters {
        text,
        index: bound.map(|(name, timeline)| (name, timeline.kind)),
        // A chunk may lack the timeline.
        is_nullable: true,
        components: None,
    }
}

/// A range that chunks have a value in whose first and last values are as `bounds` say.
fn range([start, end]: &[Analysis; 2]) -> Option<TimeRange> {
    let hull = |bound: &Analysis| bound.region.index().hull();
    let is_open = |bound: &Analysis| bound.region.index().is_all();
    if is_open(start) && is_open(end) {
        return None;
    }
    let (start, end) = (hull(start)?, hull(end)?);
    // The first is no later than the last, and both are values of the chunk.
    let (low, high) = (start.start.max(end.start), start.end.min(end.end));
    Some(TimeRange::new(low.min(high), low.max(high)))
}

/// Whether `filter` is that chunks are static, or that they are not.
fn says_static(filter: &Expr) -> Option<bool> {
    match filter {
        Expr::Column(column) if column.name == STATIC_COLUMN => Some(true),
        Expr::Not(inner) => says_static(inner).map(|said| !said),
        _ => None,
    }
}

/// The most that is done about one filter.
fn best<'a>(
    done: impl Iterator<Item = &'a TableProviderFilterPushDown>,
) -> TableProviderFilterPushDown {
    use TableProviderFilterPushDown::{Exact, Inexact, Unsupported};
    done.fold(Unsupported, |best, next| match (best, next) {
        (Exact, _) | (_, Exact) => Exact,
        (Inexact, _) | (_, Inexact) => Inexact,
        (Unsupported, Unsupported) => Unsupported,
    })
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::{col, lit};
    use segue_chunk::TimeKind;

    use super::*;

    #[test]
    fn a_chunk_has_a_value_where_its_bounds_are() {
        let timelines = [Timeline::new("frame", TimeKind::Sequence)];
        let range = |filters: &[Expr]| {
            let filters: Vec<&Expr> = filters.iter().collect();
            let wanted = Wanted::new(&filters, &timelines);
            wanted.ranges[0].map(|range| (range.start, range.end))
        };
        let start = || col("\"frame:start\"");
        let end = || col("\"frame:end\"");
        assert_eq!(range(&[]), None);
        assert_eq!(range(&[start().lt_eq(lit(5i64))]), Some((i64::MIN, 5)));
        assert_eq!(range(&[end().gt_eq(lit(3i64))]), Some((3, i64::MAX)));
        let within = [start().gt_eq(lit(3i64)), end().lt(lit(9i64))];
        assert_eq!(range(&within), Some((3, 8)));
        let across = [start().lt_eq(lit(3i64)), end().gt_eq(lit(9i64))];
        assert_eq!(range(&across), Some((3, 9)));
        assert_eq!(range(&[start().is_null()]), None);
        assert_eq!(
            range(&[start().lt(lit(5i64)).or(end().gt(lit(5i64)))]),
            None
        );
    }
}
