//! Plans calls of the function.

use std::sync::Arc;

use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::sql::sqlparser::ast::{FunctionArg, ObjectName, TableAlias, TableFactor};
use segue_error::{Error, ErrorCode};
use segue_segment_stream::SegmentStreamTable;

use super::call::Call;
use super::{NAME, options};
use crate::catalog::Listing;

/// Plans `segment_stream(…)`, and leaves all other relations to others.
#[derive(Debug)]
pub(super) struct Planner {
    listing: Arc<Listing>,
}

impl Planner {
    pub(super) fn new(listing: Arc<Listing>) -> Self {
        Self { listing }
    }

    fn table(&self, call: &Call) -> segue_error::Result<SegmentStreamTable> {
        let schema = self.listing.known(&call.dataset)?;
        let source = Arc::clone(self.listing.source());
        let mut builder = SegmentStreamTable::builder(source, call.dataset.as_str());
        if let Some(index) = &call.index {
            builder = builder.index(index);
        }
        for option in &call.options {
            builder = options::apply(builder, option)?;
        }
        builder.build_from(&schema)
    }
}

impl RelationPlanner for Planner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        if call_of(&relation).is_none() {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        let (arguments, alias) = parts(relation)?;
        let call = Call::read(arguments, context)?;
        let table = provider_as_source(Arc::new(self.table(&call)?));
        let plan = LogicalPlanBuilder::scan(NAME, table, None)?.build()?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(
            plan, alias,
        ))))
    }
}

/// The arguments, if `relation` is a call of the function.
pub(crate) fn call_of(relation: &TableFactor) -> Option<&[FunctionArg]> {
    let (name, arguments) = match relation {
        TableFactor::Table {
            name,
            args: Some(arguments),
            ..
        } => (name, &arguments.args),
        TableFactor::Function { name, args, .. } => (name, args),
        _ => return None,
    };
    is_ours(name).then_some(arguments)
}

fn is_ours(name: &ObjectName) -> bool {
    let [part] = name.0.as_slice() else {
        return false;
    };
    part.as_ident().is_some_and(|name| match name.quote_style {
        Some(_) => name.value == NAME,
        None => name.value.eq_ignore_ascii_case(NAME),
    })
}

/// Arguments and alias of a call. An error if something follows it that the table does not do.
fn parts(relation: TableFactor) -> segue_error::Result<(Vec<FunctionArg>, Option<TableAlias>)> {
    let refused = |what: &str| {
        let message = format!("{NAME} cannot be read {what}");
        Err(Error::new(
            ErrorCode::Unsupported,
            "segment_stream.call",
            message,
        ))
    };
    match relation {
        TableFactor::Table {
            with_ordinality: true,
            ..
        }
        | TableFactor::Function {
            with_ordinality: true,
            ..
        } => refused("WITH ORDINALITY"),
        TableFactor::Table {
            sample: Some(_), ..
        } => refused("as a sample"),
        TableFactor::Table {
            version: Some(_), ..
        } => refused("as of a version"),
        TableFactor::Table { args, alias, .. } => {
            Ok((args.map_or_else(Vec::new, |args| args.args), alias))
        }
        TableFactor::Function { args, alias, .. } => Ok((args, alias)),
        _ => refused("like this"),
    }
}
