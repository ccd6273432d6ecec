//! What a statement has to know before it can be planned.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::catalog::information_schema::INFORMATION_SCHEMA;
use datafusion::common::TableReference;
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, ObjectName, Statement as SqlStatement, TableFactor,
    TableObject, Value, Visit, Visitor,
};

use crate::function::call_of;

/// Tables of `information_schema` that open or list what is in datasets.
const LISTINGS: [&str; 3] = ["tables", "columns", "views"];

/// What planning cannot ask for, because it does not wait.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Datasets whose columns are needed.
    pub(crate) datasets: BTreeSet<String>,
    /// Whether those of all datasets are needed.
    pub(crate) all: bool,
    /// Whether the names of all datasets are needed.
    pub(crate) names: bool,
    /// Whether the statement lists what there is.
    pub(crate) listing: bool,
}

impl Needs {
    /// The needs of `statement`, which refers to the tables `references`.
    pub(crate) fn of(statement: &Statement, references: &[TableReference]) -> Self {
        let mut needs = Self::default();
        needs.visit(statement);
        let shows = matches!(statement, Statement::Statement(inner) if is_show(inner));
        for reference in references {
            // What SHOW refers to is all of it, whatever it shows.
            if reference.schema() == Some(INFORMATION_SCHEMA) && !shows {
                needs.listing |= LISTINGS.contains(&reference.table());
                needs.names |= reference.table() == "schemata";
            }
        }
        needs.all |= needs.listing;
        needs
    }

    fn visit(&mut self, statement: &Statement) {
        // The visitor never breaks off.
        let _: ControlFlow<()> = match statement {
            Statement::Statement(inner) => {
                self.listing |= matches!(
                    **inner,
                    SqlStatement::ShowTables { .. }
                        | SqlStatement::ShowColumns { .. }
                        | SqlStatement::ShowCreate { .. }
                );
                inner.visit(self)
            }
            Statement::Explain(explain) => {
                self.visit(&explain.statement);
                ControlFlow::Continue(())
            }
            Statement::CopyTo(copy) => match &copy.source {
                CopyToSource::Query(query) => query.visit(self),
                CopyToSource::Relation(_) => ControlFlow::Continue(()),
            },
            Statement::CreateExternalTable(_) | Statement::Reset(_) => ControlFlow::Continue(()),
        };
    }
}

/// The table or view that `statement` makes or writes to, where it is one of those that look it up before they are
/// known for what they are.
pub(crate) fn written(statement: &Statement) -> Option<&ObjectName> {
    match statement {
        Statement::CreateExternalTable(create) => Some(&create.name),
        Statement::Explain(explain) => written(&explain.statement),
        Statement::Statement(inner) => match &**inner {
            SqlStatement::CreateTable(create) => Some(&create.name),
            SqlStatement::CreateView(create) => Some(&create.name),
            SqlStatement::Insert(insert) => match &insert.table {
                TableObject::TableName(name) => Some(name),
                _ => None,
            },
            SqlStatement::Update(update) => match &update.table.relation {
                TableFactor::Table { name, .. } => Some(name),
                _ => None,
            },
            _ => None,
        },
        Statement::CopyTo(_) | Statement::Reset(_) => None,
    }
}

fn is_show(statement: &SqlStatement) -> bool {
    matches!(
        statement,
        SqlStatement::ShowTables { .. }
            | SqlStatement::ShowColumns { .. }
            | SqlStatement::ShowCreate { .. }
            | SqlStatement::ShowFunctions { .. }
            | SqlStatement::ShowVariable { .. }
            | SqlStatement::ShowVariables { .. }
            | SqlStatement::ShowStatus { .. }
            | SqlStatement::ShowCollation { .. }
    )
}

impl Visitor for Needs {
    type Break = ();

    fn pre_visit_table_factor(&mut self, relation: &TableFactor) -> ControlFlow<()> {
        match call_of(relation) {
            None => {}
            Some([FunctionArg::Unnamed(FunctionArgExpr::Expr(first)), ..]) => match text(first) {
                Some(dataset) => {
                    self.datasets.insert(dataset.to_owned());
                }
                // Which dataset it is comes out when it is planned.
                None => self.all = true,
            },
            // An error when it is planned.
            Some(_) => {}
        }
        ControlFlow::Continue(())
    }
}

/// A text as it is written.
fn text(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::execution::SessionStateBuilder;

    use super::*;

    fn needs(sql: &str) -> Needs {
        let state = SessionStateBuilder::new().with_default_features().build();
        let dialect = state.config().options().sql_parser.dialect;
        let statement = state.sql_to_statement(sql, &dialect).unwrap();
        let references = state.resolve_table_references(&statement).unwrap();
        Needs::of(&statement, &references)
    }

    fn datasets(sql: &str) -> Vec<String> {
        let needs = needs(sql);
        assert!(!needs.all && !needs.listing && !needs.names, "{sql}");
        needs.datasets.into_iter().collect()
    }

    #[test]
    fn the_datasets_of_calls_are_found_wherever_they_are() {
        assert_eq!(datasets("SELECT * FROM robots.log_time"), [""; 0]);
        assert_eq!(datasets("SELECT * FROM other('a', 'i')"), [""; 0]);
        let call = "segment_stream('a', 'i', contents => '/x')";
        for sql in [
            format!("SELECT * FROM {call}"),
            format!("SELECT * FROM LATERAL {call}"),
            format!("EXPLAIN ANALYZE SELECT * FROM (SELECT * FROM {call}) AS t"),
            format!("WITH t AS (SELECT * FROM {call}) SELECT * FROM t"),
            format!("SELECT (SELECT count(*) FROM {call})"),
            format!("CREATE VIEW v AS SELECT * FROM {call}"),
            format!("COPY (SELECT * FROM {call}) TO 'x.parquet'"),
            "SELECT * FROM SEGMENT_STREAM('a', NULL)".to_owned(),
        ] {
            assert_eq!(datasets(&sql), ["a"], "{sql}");
        }
        let both = "SELECT * FROM segment_stream('b', 'i') JOIN segment_stream('a', 'j') ON true";
        assert_eq!(datasets(both), ["a", "b"]);
        let all = needs("SELECT * FROM segment_stream('a' || 'b', 'i')");
        assert!(all.all && !all.listing && all.datasets.is_empty());
    }

    #[test]
    fn only_what_lists_datasets_asks_for_all_of_them() {
        for sql in [
            "SHOW TABLES",
            "SHOW COLUMNS FROM a.b",
            "SELECT * FROM information_schema.tables",
            "EXPLAIN SELECT * FROM information_schema.columns",
        ] {
            let needs = needs(sql);
            assert!(needs.all && needs.listing, "{sql}");
        }
        for sql in [
            "SHOW datafusion.execution.batch_size",
            "SHOW ALL",
            "SHOW FUNCTIONS",
            "SELECT * FROM information_schema.df_settings",
            "SET datafusion.execution.batch_size = 3",
        ] {
            assert_eq!(needs(sql), Needs::default(), "{sql}");
        }
        let schemata = needs("SELECT * FROM information_schema.schemata");
        assert!(schemata.names && !schemata.all);
    }
}
