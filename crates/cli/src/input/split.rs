//! Several statements in one text.

use datafusion::config::Dialect;
use datafusion::sql::sqlparser::dialect::dialect_from_str;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

use crate::exit::Failure;

/// One statement, and where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    start: Location,
    sql: String,
}

impl Statement {
    /// Its SQL after as many lines and spaces as were before it, so that the parser counts as the user does.
    pub(crate) fn sql(&self) -> String {
        let repeat = |text: &str, times: u64| {
            let times = usize::try_from(times.saturating_sub(1)).unwrap_or(0);
            text.repeat(times)
        };
        repeat("\n", self.start.line) + &repeat(" ", self.start.column) + &self.sql
    }
}

/// The statements of `text`: what is between semicolons that are no part of a string, a quoted name or a
/// comment. Nothing but space and comments is no statement.
pub(super) fn split(text: &str, dialect: Dialect) -> Result<Vec<Statement>, Failure> {
    let Some(parser) = dialect_from_str(dialect) else {
        return Err(Failure::Message(format!("no SQL dialect '{dialect}'")));
    };
    let tokens = Tokenizer::new(parser.as_ref(), text).tokenize_with_location();
    let tokens = tokens.map_err(|error| Failure::Message(error.to_string()))?;
    let mut lines = Lines::of(text);
    let mut statements = Vec::new();
    for tokens in tokens.split(|token| token.token == Token::SemiColon) {
        let mut says = tokens.iter().filter(|token| says_something(token));
        let Some(first) = says.next() else { continue };
        let last = says.next_back().unwrap_or(first);
        let (start, end) = (first.span.start, last.span.end);
        let sql = text[lines.offset(start)..lines.offset(end)].to_owned();
        statements.push(Statement { start, sql });
    }
    Ok(statements)
}

fn says_something(token: &TokenWithSpan) -> bool {
    !matches!(token.token, Token::Whitespace(_) | Token::EOF)
}

/// Finds places of a text; those asked for must ascend.
struct Lines<'a> {
    text: &'a str,
    /// Line and column of `offset`, from 1.
    line: u64,
    column: u64,
    offset: usize,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let (line, column, offset) = (1, 1, 0);
        Self {
            text,
            line,
            column,
            offset,
        }
    }

    /// The byte at which `location` is, counted as the tokenizer counts: columns are characters.
    fn offset(&mut self, location: Location) -> usize {
        for c in self.text[self.offset..].chars() {
            if (self.line, self.column) >= (location.line, location.column) {
                break;
            }
            self.offset += c.len_utf8();
            match c {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(text: &str) -> Vec<String> {
        let statements = split(text, Dialect::Generic).unwrap();
        statements.into_iter().map(|s| s.sql).collect()
    }

    #[test]
    fn semicolons_outside_of_strings_names_and_comments_are_borders() {
        let text = "SELECT 'a;b' AS \"c;d\" -- one; two\n; /* ; */ SHOW TABLES;;\n ; -- end;\n";
        assert_eq!(sql(text), ["SELECT 'a;b' AS \"c;d\"", "SHOW TABLES"]);
        assert_eq!(
            sql("SELECT 'it''s;' ; SELECT 2"),
            ["SELECT 'it''s;'", "SELECT 2"]
        );
        assert_eq!(
            sql("SELECT 'ä;日' AS \"ü\";SELECT 'ö'"),
            ["SELECT 'ä;日' AS \"ü\"", "SELECT 'ö'"]
        );
        assert_eq!(sql("SELECT 1"), ["SELECT 1"]);
        assert_eq!(
            sql("SELECT\r\n 1;\r\nSELECT\t2"),
            ["SELECT\r\n 1", "SELECT\t2"]
        );
    }

    #[test]
    fn space_and_comments_are_no_statements() {
        for empty in ["", " \n", ";;", "-- only this", "/* a */ ; -- b"] {
            assert!(sql(empty).is_empty(), "{empty}");
        }
    }

    #[test]
    fn a_statement_stays_at_its_place() {
        let statements = split("SELECT 1;\n  SELECT 'ä'; SELECT 3", Dialect::Generic).unwrap();
        assert_eq!(statements[1].sql(), "\n  SELECT 'ä'");
        assert_eq!(statements[2].sql(), format!("\n{}SELECT 3", " ".repeat(14)));
    }

    #[test]
    fn a_string_that_does_not_end_is_an_error_with_its_place() {
        let Err(Failure::Message(message)) =
            split("SELECT 1;\nSELECT 'a; SELECT 2", Dialect::Generic)
        else {
            panic!("it ends");
        };
        assert_eq!(message, "Unterminated string literal at Line: 2, Column: 8");
    }
}
