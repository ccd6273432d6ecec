//! Text on its way to a terminal.
//!
//! Names, values and messages have parts that come out of recordings, and a terminal obeys what it is sent.

use console::Term;
use unicode_width::UnicodeWidthChar;

/// The character as it is shown: a line break or an escape sequence would break the layout, or do things to
/// the terminal.
pub(crate) fn printable(c: char) -> char {
    if c.is_control() { '\u{fffd}' } else { c }
}

/// One line that shows `text`.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(printable).collect()
}

/// Cells of a terminal that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Cells of a terminal that `c` takes.
pub(crate) fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Columns of the terminal that standard output is; `None` where it is something else, or does not say.
pub(crate) fn columns() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    Some(columns.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_and_gives_no_orders() {
        assert_eq!(line("/a:ü\t\u{1b}[2J\r\n\u{9b}"), "/a:ü��[2J���");
    }

    #[test]
    fn a_wide_character_takes_two_cells() {
        assert_eq!(width("aü"), 2);
        assert_eq!(width("日本"), 4);
    }
}
