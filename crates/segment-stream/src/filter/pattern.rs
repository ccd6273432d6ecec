//! Patterns of LIKE.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Like;
use segue_chunk::TextSet;

use super::analyse::Truth;
use super::operand::{Column, Operand};
use super::{Bound, Filters, IntervalSet, Region};

impl Filters<'_> {
    /// Where a comparison with a pattern is true.
    pub(super) fn like(&self, like: &Like) -> Truth {
        let Operand::Column(Column::Text) = self.operand(&like.expr) else {
            return Truth::unknown();
        };
        let Operand::Literal(pattern) = self.operand(&like.pattern) else {
            return Truth::unknown();
        };
        if pattern.is_null() {
            return Truth::null();
        }
        if like.case_insensitive || like.escape_char.is_some_and(|escape| escape != '\\') {
            return Truth::unknown();
        }
        matches(&pattern).negated(like.negated)
    }
}

/// Where texts match a pattern.
fn matches(pattern: &ScalarValue) -> Truth {
    let Some(pattern) = pattern.try_as_str().flatten() else {
        return Truth::unknown();
    };
    // What a backslash does depends on what follows it: it is left to whoever evaluates the pattern.
    let special = pattern.find(['%', '_', '\\']);
    match special.map(|at| pattern.split_at(at)) {
        None => Truth::of_texts(TextSet::one(pattern)),
        Some((prefix, "%")) => Truth::of_texts(TextSet::prefix(prefix)),
        Some((prefix, _)) => Truth {
            yes: Bound::within(Region::new(TextSet::prefix(prefix), IntervalSet::all())),
            no: Bound::unknown(),
        },
    }
}
