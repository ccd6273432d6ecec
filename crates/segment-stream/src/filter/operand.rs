//! What stands on one side of a comparison.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::{Alias, Cast, TryCast};
use segue_chunk::TimeKind;

use super::{Component, Filters, literal};

/// A side of a comparison.
pub(super) enum Operand<'e> {
    Column(Column<'e>),
    Literal(ScalarValue),
    Other,
}

/// A column whose comparisons are understood. It is never NULL unless it says so.
#[derive(Clone, Copy)]
pub(super) enum Column<'e> {
    Text,
    Index {
        kind: TimeKind,
        /// The type it is cast to before it is compared.
        cast: Option<&'e DataType>,
        is_nullable: bool,
    },
}

impl Filters<'_> {
    /// What `expr` is.
    pub(super) fn operand<'e>(&self, expr: &'e Expr) -> Operand<'e> {
        match without_aliases(expr) {
            Expr::Literal(value, _) => Operand::Literal(plain(value).clone()),
            Expr::Column(column) => match self.column(&column.name) {
                Some(column) => Operand::Column(column),
                None => Operand::Other,
            },
            Expr::Cast(Cast { expr, field }) => {
                let to = field.data_type();
                match self.operand_below_cast(expr) {
                    Operand::Column(column) => {
                        column.cast(to).map_or(Operand::Other, Operand::Column)
                    }
                    other => cast_literal(other, to),
                }
            }
            Expr::TryCast(TryCast { expr, field }) => {
                cast_literal(self.operand_below_cast(expr), field.data_type())
            }
            _ => Operand::Other,
        }
    }

    /// Like [`Self::operand`], but no deeper: a cast of a cast is not understood.
    fn operand_below_cast<'e>(&self, expr: &'e Expr) -> Operand<'e> {
        match without_aliases(expr) {
            Expr::Cast(_) | Expr::TryCast(_) => Operand::Other,
            expr => self.operand(expr),
        }
    }

    fn column<'e>(&self, name: &str) -> Option<Column<'e>> {
        match self.index {
            Some((index, kind)) if index == name => Some(Column::Index {
                kind,
                cast: None,
                is_nullable: self.is_nullable,
            }),
            _ => (name == self.text).then_some(Column::Text),
        }
    }

    /// The component whose column `expr` is.
    pub(super) fn component(&self, expr: &Expr) -> Option<Component> {
        match without_aliases(expr) {
            Expr::Column(column) => self.components?.get(&column.name),
            _ => None,
        }
    }
}

impl<'e> Column<'e> {
    /// The column after a cast to `to`, if comparisons are still understood.
    fn cast(self, to: &'e DataType) -> Option<Self> {
        match self {
            Self::Text => {
                use DataType::{LargeUtf8, Utf8, Utf8View};
                matches!(to, Utf8 | LargeUtf8 | Utf8View).then_some(Self::Text)
            }
            Self::Index {
                kind, is_nullable, ..
            } => literal::is_understood_cast(kind, to).then_some(Self::Index {
                kind,
                cast: Some(to),
                is_nullable,
            }),
        }
    }
}

/// A literal after a cast to `to`, unless the cast fails.
fn cast_literal<'e>(operand: Operand<'e>, to: &DataType) -> Operand<'e> {
    match operand {
        Operand::Literal(value) => value.cast_to(to).map_or(Operand::Other, |value| {
            Operand::Literal(plain(&value).clone())
        }),
        Operand::Column(_) | Operand::Other => Operand::Other,
    }
}

fn without_aliases(mut expr: &Expr) -> &Expr {
    while let Expr::Alias(Alias { expr: inner, .. }) = expr {
        expr = inner;
    }
    expr
}

/// The value that a dictionary or run wraps.
fn plain(mut value: &ScalarValue) -> &ScalarValue {
    while let ScalarValue::Dictionary(_, inner) | ScalarValue::RunEndEncoded(_, _, inner) = value {
        value = inner;
    }
    value
}
