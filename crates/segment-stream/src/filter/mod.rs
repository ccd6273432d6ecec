//! From SQL filters to what a scan must read.
//!
//! A filter is an expression that is TRUE, FALSE or NULL on a row, and a row is asked for if it is TRUE.
//! Analysis follows the expression from the leaves and says of each part where it may be TRUE and where
//! it may be FALSE, each as a [`Bound`]: a [`Region`] (a set of segments times a set of index values)
//! that holds every such row, and whether it holds no other. `NOT` swaps the two; NULL is where neither
//! is. What is not understood may be anything anywhere, so that no row is ever lost.
//!
//! * [`IntervalSet`], [`SegmentSet`]: the axes of a region;
//! * `literal`: where index values stand relative to a literal, across types and units;
//! * `operand`: what stands on a side of a comparison;
//! * `analyse`: the walk over the expression.

mod analyse;
mod interval;
mod literal;
mod operand;
mod region;
mod segments;
#[cfg(test)]
mod tests;

use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use segue_chunk::TimeKind;

pub(crate) use interval::IntervalSet;
pub(crate) use region::{Bound, Region};
pub(crate) use segments::SegmentSet;

/// Reads filters over the rows of a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filters<'a> {
    /// Name and kind of the column that rows are ordered by; `None` if they have no index.
    index: Option<(&'a str, TimeKind)>,
}

/// What filters ask of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Analysis {
    /// Holds every row on which all filters are TRUE.
    pub(crate) region: Region,
    /// For each filter, whether reading the region alone makes it superfluous (`Exact`), it must still
    /// be evaluated (`Inexact`), or it does not narrow the region at all (`Unsupported`).
    pub(crate) pushdown: Vec<TableProviderFilterPushDown>,
}

impl<'a> Filters<'a> {
    /// What `exprs`, all of which must be TRUE, ask of a scan of rows ordered by the column `index`.
    pub(crate) fn analyse(index: Option<(&'a str, TimeKind)>, exprs: &[&Expr]) -> Analysis {
        let filters = Self { index };
        let bounds: Vec<_> = exprs.iter().map(|expr| filters.truth(expr).yes).collect();
        let region = bounds.iter().fold(Region::all(), |region, bound| {
            region.intersect(&bound.region)
        });
        let pushdown = bounds.iter().map(support).collect();
        Analysis { region, pushdown }
    }
}

fn support(bound: &Bound) -> TableProviderFilterPushDown {
    if bound.exact {
        TableProviderFilterPushDown::Exact
    } else if bound.region.is_all() {
        TableProviderFilterPushDown::Unsupported
    } else {
        TableProviderFilterPushDown::Inexact
    }
}
