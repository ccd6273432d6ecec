//! Errors as a person reads them.

use std::collections::BTreeSet;

use datafusion::common::SchemaError;
use datafusion::common::utils::quote_identifier;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use segue_chunk::suggestion;
use segue_error::{Error, ErrorCode, find_segue_error};

/// One line that says what went wrong with a query.
///
/// Segue's own message where the error holds one; otherwise DataFusion's, without the prefixes, backtraces
/// and further lines that are meant for its developers.
pub fn error_message(error: &DataFusionError) -> String {
    if let Some(error) = find_segue_error(error) {
        return one_line(error.message());
    }
    if let Some(error) = unknown_column(error) {
        return one_line(error.message());
    }
    match error.find_root() {
        DataFusionError::SQL(parser, _) => match parser.as_ref() {
            ParserError::TokenizerError(text) | ParserError::ParserError(text) => one_line(text),
            ParserError::RecursionLimitExceeded => "the SQL is nested too deeply".to_owned(),
        },
        root => one_line(&root.message()),
    }
}

/// Gives an unknown column Segue's code and the names that may have been meant.
pub(crate) fn name_unknown_column(error: DataFusionError) -> DataFusionError {
    match unknown_column(&error) {
        Some(unknown) => unknown.with_source(error).into(),
        None => error,
    }
}

fn unknown_column(error: &DataFusionError) -> Option<Error> {
    if find_segue_error(error).is_some() {
        return None;
    }
    let DataFusionError::SchemaError(schema_error, _) = error.find_root() else {
        return None;
    };
    let SchemaError::FieldNotFound {
        field,
        valid_fields,
    } = schema_error.as_ref()
    else {
        return None;
    };
    // As SQL wants them, with double quotes where they need them.
    let names: BTreeSet<String> = valid_fields
        .iter()
        .map(|column| quote_identifier(column.name()).into_owned())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hint = suggestion(field.name(), &names);
    let message = format!("no column {}{hint}", field.quoted_flat_name());
    let error = Error::new(ErrorCode::UnknownColumn, "session.plan", message);
    Some(error.with_fact("column", field.name()))
}

/// The first line that says something.
fn one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| !line.is_empty())
        .unwrap_or("unknown error")
        .to_owned()
}
