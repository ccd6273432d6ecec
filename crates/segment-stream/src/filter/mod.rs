//! From SQL filters to what a scan must read.
//!
//! A filter is an expression that is TRUE, FALSE or NULL on a row, and a row is asked for if it is TRUE.
//! Analysis follows the expression from the leaves and says of each part where it may be TRUE and where
//! it may be FALSE, each as a [`Bound`]: a [`Region`] (a set of segments times a set of index values, and
//! the columns that must have values) that holds every such row, and whether it holds no other. `NOT` swaps the two; NULL is where neither
//! is. What is not understood may be anything anywhere, so that no row is ever lost.
//!
//! * [`IntervalSet`], [`TextSet`](segue_chunk::TextSet): the axes of a region;
//! * `literal`: where index values stand relative to a literal, across types and units;
//! * `operand`: what stands on a side of a comparison;
//! * `pattern`: what LIKE says;
//! * `rejecting`: which columns must have values, whatever else an expression says of them;
//! * `analyse`: the walk over the expression.

mod analyse;
mod interval;
mod literal;
mod operand;
mod pattern;
mod region;
mod rejecting;
#[cfg(test)]
mod tests;

use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use segue_chunk::TimeKind;

pub(crate) use interval::IntervalSet;
pub(crate) use literal::index_value;
pub(crate) use region::{Bound, Region};
pub(crate) use rejecting::{Component, Components};

/// The columns that filters are read for; what is said of others is not understood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filters<'a> {
    /// Name of a column of texts that is never null: the segments of a region.
    pub(crate) text: &'a str,
    /// Name and kind of a column of index values: those of a region.
    pub(crate) index: Option<(&'a str, TimeKind)>,
    /// Whether that column may be null.
    pub(crate) is_nullable: bool,
    /// Columns that may be null, and of which a scan can be told that they must not be.
    pub(crate) components: Option<&'a Components>,
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

impl Filters<'_> {
    /// What `exprs`, all of which must be TRUE, ask of a scan.
    pub(crate) fn analyse(&self, exprs: &[&Expr]) -> Analysis {
        let bounds: Vec<_> = exprs.iter().map(|expr| self.truth(expr).yes).collect();
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
