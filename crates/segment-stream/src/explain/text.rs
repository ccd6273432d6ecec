//! Texts that stay readable however long what they show is.

use std::fmt::{self, Display, Write};

/// Most characters of an expression that are printed.
const CHARS: usize = 120;

/// Most entries of a list that are printed.
const ENTRIES: usize = 8;

/// What `shown` prints, cut with `…` where it is long.
pub(crate) fn short(shown: impl Display) -> String {
    let mut cut = Cut {
        text: String::new(),
        left: CHARS,
    };
    // The only error is the one of the cut itself.
    if write!(cut, "{shown}").is_err() {
        cut.text.push('…');
    }
    cut.text
}

/// Fails once there is no room left, so that no more is printed.
struct Cut {
    text: String,
    left: usize,
}

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}

/// `start`, the first of `items`, how many more there are, and a closing bracket.
pub(super) fn list(f: &mut fmt::Formatter<'_>, start: &str, items: &[impl Display]) -> fmt::Result {
    f.write_str(start)?;
    for (i, item) in items.iter().take(ENTRIES).enumerate() {
        let separator = if i > 0 { ", " } else { "" };
        write!(f, "{separator}{item}")?;
    }
    if items.len() > ENTRIES {
        write!(f, ", {} more", items.len() - ENTRIES)?;
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_are_cut_and_between_characters() {
        let fits = "ü".repeat(CHARS);
        assert_eq!(short(&fits), fits);
        assert_eq!(short(format!("{fits}x")), format!("{fits}…"));
    }

    #[test]
    fn long_lists_say_how_many_more_there_are() {
        struct Shown(usize);
        impl Display for Shown {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                list(f, "[", &vec![1; self.0])
            }
        }
        assert_eq!(Shown(0).to_string(), "[]");
        assert_eq!(Shown(2).to_string(), "[1, 1]");
        assert_eq!(Shown(8).to_string(), "[1, 1, 1, 1, 1, 1, 1, 1]");
        assert_eq!(Shown(10).to_string(), "[1, 1, 1, 1, 1, 1, 1, 1, 2 more]");
    }
}
