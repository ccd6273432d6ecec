//! From the syntax of a call to the values of its arguments.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::planner::RelationPlannerContext;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, FunctionArg, FunctionArgExpr};
use segue_error::{Error, ErrorCode};

use super::NAME;
use super::options::{self, invalid};
use super::value::{Value, text_of};

/// What the arguments of a call say.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) dataset: String,
    /// `None` for NULL: the static values.
    pub(super) index: Option<String>,
    /// In the order of the call, each name once.
    pub(super) options: Vec<Value>,
}

impl Call {
    /// Reads the arguments: positional ones first, then options by name.
    pub(super) fn read(
        arguments: Vec<FunctionArg>,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<Self> {
        let mut positions: Vec<ScalarValue> = Vec::new();
        let mut options: Vec<Value> = Vec::new();
        for argument in arguments {
            let (name, value) = match argument {
                FunctionArg::Unnamed(value) => (None, value),
                FunctionArg::Named { name, arg, .. } => (Some(context.normalize_ident(name)), arg),
                FunctionArg::ExprNamed {
                    name: SqlExpr::Identifier(name),
                    arg,
                    ..
                } => (Some(context.normalize_ident(name)), arg),
                other @ FunctionArg::ExprNamed { .. } => {
                    return Err(wrong(format!("{NAME} cannot have the argument {other}")).into());
                }
            };
            let FunctionArgExpr::Expr(expression) = value else {
                return Err(wrong(format!("{NAME} cannot have the argument {value}")).into());
            };
            match name {
                None if !options.is_empty() => {
                    let message = format!(
                        "in {NAME}, {expression} follows an option, but has no name; dataset and index come first"
                    );
                    return Err(wrong(message).into());
                }
                None => {
                    let what = ["the dataset", "the index"];
                    let what = what.get(positions.len()).copied().unwrap_or("an argument");
                    positions.push(fold(expression, what, context)?);
                }
                Some(name) => {
                    options::check(&name)?;
                    if options.iter().any(|known| known.name() == name) {
                        let message = format!("option '{name}' of {NAME} is given twice");
                        return Err(invalid(&name, message).into());
                    }
                    let what = format!("option '{name}'");
                    let value = fold(expression, &what, context)?;
                    options.push(Value::new(name, value));
                }
            }
        }
        let [dataset, index] = positions.as_slice() else {
            let message = format!(
                "{NAME} takes a dataset and an index (or NULL), and then options by name, such as \
                 {NAME}('robots', 'log_time', contents => '/camera/**')"
            );
            return Err(wrong(message).into());
        };
        Ok(Self {
            dataset: text("the dataset", dataset)?.to_owned(),
            index: match index.is_null() {
                true => None,
                false => Some(text("the index", index)?.to_owned()),
            },
            options,
        })
    }
}

fn text<'a>(what: &str, value: &'a ScalarValue) -> segue_error::Result<&'a str> {
    text_of(value).ok_or_else(|| wrong(format!("{what} of {NAME} is a text, not {value}")))
}

/// The value of an expression that depends on nothing but itself.
fn fold(
    expression: SqlExpr,
    what: &str,
    context: &mut dyn RelationPlannerContext,
) -> Result<ScalarValue> {
    let shown = expression.to_string();
    if let SqlExpr::Subquery(_) = expression {
        return Err(unknown(what, &format!("{shown} is a query")).into());
    }
    let nothing = DFSchema::empty();
    let planned = context.sql_to_expr(expression, &nothing);
    let planned = planned.map_err(|error| match error.find_root() {
        DataFusionError::SchemaError(..) => unknown(what, &format!("{shown} has a column")).into(),
        _ => error,
    })?;
    if let Some(why) = dependence(&planned)? {
        return Err(unknown(what, &format!("{shown} has {why}")).into());
    }
    let simplifier = ExprSimplifier::new(SimplifyContext::default());
    let coerced = simplifier.coerce(planned, &nothing)?;
    match simplifier.simplify(coerced)? {
        Expr::Literal(value, _) => Ok(value),
        _ => Err(unknown(
            what,
            &format!("{shown} has no value of its own, or computing it fails"),
        )
        .into()),
    }
}

/// What an expression depends on beside itself.
fn dependence(expression: &Expr) -> Result<Option<&'static str>> {
    let mut found = None;
    expression.apply(|part| {
        found = match part {
            Expr::Placeholder(_) => Some("a parameter"),
            Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) => Some("a query"),
            Expr::Column(_) | Expr::OuterReferenceColumn(..) => Some("a column"),
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        Ok(TreeNodeRecursion::Stop)
    })?;
    Ok(found)
}

fn unknown(what: &str, why: &str) -> Error {
    wrong(format!(
        "{what} of {NAME} has to be known before the query runs, but {why}"
    ))
}

fn wrong(message: String) -> Error {
    Error::new(ErrorCode::InvalidArgument, "segment_stream.call", message)
}
