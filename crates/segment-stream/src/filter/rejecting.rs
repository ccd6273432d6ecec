//! Which columns must have a value where an expression is true.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;

use super::analyse::Truth;
use super::{Bound, Region};

/// Most columns of one expression that are looked at.
const MOST_COLUMNS: usize = 16;

/// The component columns that a scan can be told must have a value: a row without one is not made.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    columns: HashMap<String, Component>,
    schema: Arc<DFSchema>,
}

/// A component column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Component {
    /// What the scan calls it.
    pub(crate) position: usize,
    /// Whether the column has a value wherever the component has one: not so where a list may be empty, and the column
    /// is what the list holds.
    pub(crate) is_list: bool,
}

impl Components {
    /// The components in `columns`, by name, of a table with the columns `schema`.
    pub(crate) fn new(columns: HashMap<String, Component>, schema: DFSchema) -> Self {
        Self {
            columns,
            schema: Arc::new(schema),
        }
    }

    /// The component whose column is called `name`.
    pub(super) fn get(&self, name: &str) -> Option<Component> {
        self.columns.get(name).copied()
    }

    /// Where `expr` may be true and false, from what becomes of it where a column is null.
    pub(super) fn truth(&self, expr: &Expr) -> Truth {
        let (mut yes, mut no) = (BTreeSet::new(), BTreeSet::new());
        let columns: BTreeSet<&Column> = match expr.is_volatile() {
            true => BTreeSet::new(),
            false => expr.column_refs().into_iter().collect(),
        };
        let known = columns.into_iter().filter_map(|column| {
            let component = self.get(&column.name)?;
            Some((&column.name, component.position))
        });
        for (name, position) in known.take(MOST_COLUMNS) {
            match self.where_null(expr, name) {
                Some(None) => {
                    yes.insert(position);
                    no.insert(position);
                }
                Some(Some(true)) => drop(no.insert(position)),
                Some(Some(false)) => drop(yes.insert(position)),
                None => {}
            }
        }
        let within = |columns| Bound::within(Region::all().with_not_null(columns));
        Truth {
            yes: within(yes),
            no: within(no),
        }
    }

    /// What `expr` is where the column `name` is null: NULL (`Some(None)`), true or false; `None` if that depends.
    fn where_null(&self, expr: &Expr, name: &str) -> Option<Option<bool>> {
        let field = self.schema.field_with_unqualified_name(name).ok()?;
        let null = ScalarValue::try_from(field.data_type()).ok()?;
        let replaced = expr.clone().transform(|part| {
            Ok(match part {
                Expr::Column(column) if column.name == name => {
                    Transformed::yes(Expr::Literal(null.clone(), None))
                }
                Expr::Column(column) => {
                    let own = Column::new_unqualified(column.name);
                    Transformed::yes(Expr::Column(own))
                }
                other => Transformed::no(other),
            })
        });
        let context = SimplifyContext::builder().with_schema(Arc::clone(&self.schema));
        let simplifier = ExprSimplifier::new(context.build());
        match simplifier.simplify(replaced.ok()?.data).ok()? {
            Expr::Literal(value, _) if value.is_null() => Some(None),
            Expr::Literal(ScalarValue::Boolean(Some(value)), _) => Some(Some(value)),
            _ => None,
        }
    }
}
