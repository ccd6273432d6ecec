//! Text on its way to a terminal.
//!
//! Names, values and messages have parts that come out of recordings, and a terminal obeys what it is sent.

/// The character as it is shown: a line break or an escape sequence would break the layout, or do things to
/// the terminal.
pub(crate) fn printable(c: char) -> char {
    if c.is_control() { '\u{fffd}' } else { c }
}

/// One line that shows `text`.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_and_gives_no_orders() {
        assert_eq!(line("/a:ü\t\u{1b}[2J\r\n\u{9b}"), "/a:ü��[2J���");
    }
}
