//! From an expression to the rows on which it may be true, and those on which it may be false.

use std::collections::BTreeSet;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Alias, Between, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use segue_chunk::TextSet;

use super::operand::{Column, Operand};
use super::{Bound, Filters, IntervalSet, Region, literal};

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
    pub(super) fn unknown() -> Self {
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

    pub(super) fn null() -> Self {
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

    pub(super) fn of_texts(texts: TextSet) -> Self {
        Self::two_valued(Bound::exactly(Region::new(texts, IntervalSet::all())))
    }

    fn of_index(index: IntervalSet) -> Self {
        Self::two_valued(Bound::exactly(Region::new(TextSet::all(), index)))
    }

    fn not(self) -> Self {
        Self {
            yes: self.no,
            no: self.yes,
        }
    }

    pub(super) fn negated(self, negated: bool) -> Self {
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

    /// The same, of a column that may be NULL on any row.
    fn or_null(&self) -> Self {
        Self {
            yes: Bound::within(self.yes.region.clone()),
            no: Bound::within(self.no.region.clone()),
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
        Column::Text => match (literal.try_as_str().flatten(), op) {
            (Some(text), Eq | IsNotDistinctFrom) => Truth::of_texts(TextSet::one(text)),
            (Some(text), NotEq | IsDistinctFrom) => Truth::of_texts(TextSet::one(text)).not(),
            (Some(text), GtEq) => Truth::of_texts(TextSet::from_text(text)),
            (Some(text), Lt) => Truth::of_texts(TextSet::from_text(text)).not(),
            (Some(text), Gt) => Truth::of_texts(TextSet::after(text)),
            (Some(text), LtEq) => Truth::of_texts(TextSet::after(text)).not(),
            _ => Truth::unknown(),
        },
        Column::Index {
            is_nullable: true, ..
        } if !is_strict(op) => Truth::unknown(),
        Column::Index {
            kind,
            cast,
            is_nullable,
        } => {
            let split = match cast {
                None => literal::split(kind, literal),
                Some(cast) => literal::split_cast(kind, cast, literal),
            };
            let truth = match (split, op) {
                (Some(split), Eq | IsNotDistinctFrom) => Truth::of_index(split.equal()),
                (Some(split), NotEq | IsDistinctFrom) => Truth::of_index(split.equal()).not(),
                (Some(split), Lt) => Truth::of_index(split.below()),
                (Some(split), GtEq) => Truth::of_index(split.below()).not(),
                (Some(split), Gt) => Truth::of_index(split.above()),
                (Some(split), LtEq) => Truth::of_index(split.above()).not(),
                _ => Truth::unknown(),
            };
            match is_nullable {
                true => truth.or_null(),
                false => truth,
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
            Expr::Between(between) => self.or_rejecting(self.between(between), expr),
            Expr::InList(list) => self.or_rejecting(self.in_list(list), expr),
            Expr::Like(like) => self.or_rejecting(self.like(like), expr),
            _ => self.or_rejecting(Truth::unknown(), expr),
        }
    }

    /// `truth`, unless nothing is known of `expr` by it: then what follows from the columns that must have values.
    fn or_rejecting(&self, truth: Truth, expr: &Expr) -> Truth {
        match self.components {
            Some(components) if truth == Truth::unknown() => components.truth(expr),
            _ => truth,
        }
    }

    fn is_null(&self, expr: &Expr, depth: usize) -> Truth {
        match self.operand(expr) {
            // Of others nothing is known but where they have values.
            Operand::Column(Column::Index {
                is_nullable: true, ..
            }) => Truth::unknown(),
            // No row lacks a segment or a value of the chosen index.
            Operand::Column(_) => Truth::always().not(),
            Operand::Literal(value) => Truth::always().negated(!value.is_null()),
            Operand::Other => match self.component(expr) {
                Some(component) => {
                    let columns = BTreeSet::from([component.position]);
                    let rows = Region::all().with_not_null(columns);
                    let has_value = match component.is_list {
                        true => Bound::exactly(rows),
                        false => Bound::within(rows),
                    };
                    Truth::two_valued(has_value).not()
                }
                None => self.follow(expr, depth).is_null(),
            },
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
                _ => self.or_rejecting(Truth::unknown(), expr),
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
