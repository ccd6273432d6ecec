//! From an expression to the rows on which it may be true, and those on which it may be false.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Alias, Between, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use super::operand::{Column, Operand};
use super::{Bound, Filters, IntervalSet, Region, SegmentSet, literal};

/// How deep an expression is followed, chains of one operator counting once. What lies deeper is not
/// understood.
const MAX_DEPTH: usize = 64;

/// Where an expression is TRUE and where it is FALSE. On all other rows it is NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) yes: Bound,
    pub(super) no: Bound,
}

impl Truth {
    fn unknown() -> Self {
        Self {
            yes: Bound::unknown(),
            no: Bound::unknown(),
        }
    }

    fn always() -> Self {
        let (all, none) = (Region::all(), Region::empty());
        Self {
            yes: Bound::exactly(all),
            no: Bound::exactly(none),
        }
    }

    fn null() -> Self {
        let none = Bound::exactly(Region::empty());
        Self {
            yes: none.clone(),
            no: none,
        }
    }

    /// TRUE or FALSE, never NULL: TRUE where `yes` holds.
    fn two_valued(yes: Bound) -> Self {
        let no = yes.not();
        Self { yes, no }
    }

    fn of_segments(segments: SegmentSet) -> Self {
        Self::two_valued(Bound::exactly(Region::new(segments, IntervalSet::all())))
    }

    fn of_index(index: IntervalSet) -> Self {
        Self::two_valued(Bound::exactly(Region::new(SegmentSet::All, index)))
    }

    fn not(self) -> Self {
        Self {
            yes: self.no,
            no: self.yes,
        }
    }

    fn negated(self, negated: bool) -> Self {
        if negated { self.not() } else { self }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            yes: self.yes.and(&other.yes),
            no: self.no.or(&other.no),
        }
    }

    fn or(&self, other: &Self) -> Self {
        Self {
            yes: self.yes.or(&other.yes),
            no: self.no.and(&other.no),
        }
    }

    fn is_true(&self) -> Self {
        Self::two_valued(self.yes.clone())
    }

    fn is_null(&self) -> Self {
        Self::two_valued(self.yes.or(&self.no)).not()
    }
}

/// The operands of a chain of `op`, such as `a OR b OR c`, in order.
fn flatten(expr: &Expr, op: Operator) -> Vec<&Expr> {
    let (mut operands, mut open) = (Vec::new(), vec![expr]);
    while let Some(next) = open.pop() {
        match next {
            Expr::BinaryExpr(binary) if binary.op == op => {
                open.extend([binary.right.as_ref(), binary.left.as_ref()]);
            }
            _ => operands.push(next),
        }
    }
    operands
}

/// Combines neighbours until one is left, so that long lists cost `n log n`.
fn reduce(mut items: Vec<Truth>, combine: impl Fn(&Truth, &Truth) -> Truth) -> Option<Truth> {
    while items.len() > 1 {
        let mut halved = Vec::with_capacity(items.len().div_ceil(2));
        let mut rest = items.into_iter();
        while let Some(first) = rest.next() {
            halved.push(match rest.next() {
                Some(second) => combine(&first, &second),
                None => first,
            });
        }
        items = halved;
    }
    items.pop()
}

/// The truth of `column op literal`.
fn compare(column: Column<'_>, op: Operator, literal: &ScalarValue) -> Truth {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    if literal.is_null() {
        return match op {
            IsDistinctFrom => Truth::always(),
            IsNotDistinctFrom => Truth::always().not(),
            op if is_strict(op) => Truth::null(),
            _ => Truth::unknown(),
        };
    }
    match column {
        Column::Segment => match (literal.try_as_str().flatten(), op) {
            (Some(id), Eq | IsNotDistinctFrom) => Truth::of_segments(SegmentSet::one(id)),
            (Some(id), NotEq | IsDistinctFrom) => Truth::of_segments(SegmentSet::one(id)).not(),
            _ => Truth::unknown(),
        },
        Column::Index { kind, cast } => {
            let split = match cast {
                None => literal::split(kind, literal),
                Some(cast) => literal::split_cast(kind, cast, literal),
            };
            match (split, op) {
                (Some(split), Eq | IsNotDistinctFrom) => Truth::of_index(split.equal()),
                (Some(split), NotEq | IsDistinctFrom) => Truth::of_index(split.equal()).not(),
                (Some(split), Lt) => Truth::of_index(split.below()),
                (Some(split), GtEq) => Truth::of_index(split.below()).not(),
                (Some(split), Gt) => Truth::of_index(split.above()),
                (Some(split), LtEq) => Truth::of_index(split.above()).not(),
                _ => Truth::unknown(),
            }
        }
    }
}

/// Whether `op` compares, and gives NULL if an operand is NULL.
fn is_strict(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

impl Filters<'_> {
    /// Where `expr` is true and where it is false.
    pub(super) fn truth(&self, expr: &Expr) -> Truth {
        self.follow(expr, MAX_DEPTH)
    }

    fn follow(&self, expr: &Expr, depth: usize) -> Truth {
        let Some(depth) = depth.checked_sub(1) else {
            return Truth::unknown();
        };
        let inner = |expr: &Expr| self.follow(expr, depth);
        match expr {
            Expr::Alias(Alias { expr, .. }) => inner(expr),
            Expr::Literal(ScalarValue::Boolean(Some(value)), _) => Truth::always().negated(!value),
            Expr::Literal(value, _) if value.is_null() => Truth::null(),
            Expr::Not(expr) => inner(expr).not(),
            Expr::IsTrue(expr) => inner(expr).is_true(),
            Expr::IsNotTrue(expr) => inner(expr).is_true().not(),
            Expr::IsFalse(expr) => inner(expr).not().is_true(),
            Expr::IsNotFalse(expr) => inner(expr).not().is_true().not(),
            Expr::IsUnknown(expr) => inner(expr).is_null(),
            Expr::IsNotUnknown(expr) => inner(expr).is_null().not(),
            Expr::IsNull(expr) => self.is_null(expr, depth),
            Expr::IsNotNull(expr) => self.is_null(expr, depth).not(),
            Expr::BinaryExpr(binary) => self.binary(binary, expr, depth),
            Expr::Between(between) => self.between(between),
            Expr::InList(list) => self.in_list(list),
            _ => Truth::unknown(),
        }
    }

    fn is_null(&self, expr: &Expr, depth: usize) -> Truth {
        match self.operand(expr) {
            // No row lacks a segment or a value of the chosen index.
            Operand::Column(_) => Truth::always().not(),
            Operand::Literal(value) => Truth::always().negated(!value.is_null()),
            Operand::Other => self.follow(expr, depth).is_null(),
        }
    }

    fn binary(&self, binary: &BinaryExpr, expr: &Expr, depth: usize) -> Truth {
        match binary.op {
            Operator::And | Operator::Or => {
                let parts = flatten(expr, binary.op);
                let parts = parts
                    .into_iter()
                    .map(|part| self.follow(part, depth))
                    .collect();
                let combine = if binary.op == Operator::And {
                    Truth::and
                } else {
                    Truth::or
                };
                reduce(parts, combine).unwrap_or_else(Truth::unknown)
            }
            op => match (self.operand(&binary.left), self.operand(&binary.right)) {
                (Operand::Column(column), Operand::Literal(literal)) => {
                    compare(column, op, &literal)
                }
                (Operand::Literal(literal), Operand::Column(column)) => op
                    .swap()
                    .map_or_else(Truth::unknown, |op| compare(column, op, &literal)),
                (Operand::Literal(literal), _) | (_, Operand::Literal(literal))
                    if literal.is_null() && is_strict(op) =>
                {
                    Truth::null()
                }
                _ => Truth::unknown(),
            },
        }
    }

    fn between(&self, between: &Between) -> Truth {
        let Operand::Column(column) = self.operand(&between.expr) else {
            return Truth::unknown();
        };
        let bounds = [between.low.as_ref(), between.high.as_ref()];
        let Some(bounds) = self.literals(bounds) else {
            return Truth::unknown();
        };
        let parts = bounds.iter().zip([Operator::GtEq, Operator::LtEq]);
        let parts = parts
            .map(|(bound, op)| compare(column, op, bound))
            .collect();
        let within = reduce(parts, Truth::and).unwrap_or_else(Truth::unknown);
        within.negated(between.negated)
    }

    fn in_list(&self, list: &InList) -> Truth {
        let Operand::Column(column) = self.operand(&list.expr) else {
            return Truth::unknown();
        };
        let Some(values) = self.literals(&list.list) else {
            return Truth::unknown();
        };
        let parts = values
            .iter()
            .map(|value| compare(column, Operator::Eq, value))
            .collect();
        // An empty list holds nothing.
        let listed = reduce(parts, Truth::or).unwrap_or_else(|| Truth::always().not());
        listed.negated(list.negated)
    }

    /// The values of `exprs`, if all are literals, and of types that can be compared one by one.
    ///
    /// DataFusion brings a whole list to one type, in which values may be equal that differ in their own.
    fn literals<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Option<Vec<ScalarValue>> {
        let values = exprs.into_iter().map(|expr| match self.operand(expr) {
            Operand::Literal(value) => Some(value),
            Operand::Column(_) | Operand::Other => None,
        });
        let values = values.collect::<Option<Vec<_>>>()?;
        // A NULL has a say in that type, unless it has no type itself.
        let types = values.iter().map(ScalarValue::data_type);
        let mut types = types.filter(|next| *next != DataType::Null);
        let Some(first) = types.next() else {
            return Some(values);
        };
        let is_alike = types.all(|next| next == first || (next.is_integer() && first.is_integer()));
        is_alike.then_some(values)
    }
}
