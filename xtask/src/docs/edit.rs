//! What a page shows, and what was printed.

use std::ops::Range;

/// Fails with both texts from the first line on that differs.
pub(super) fn same(shown: &str, printed: &str) -> Result<(), String> {
    if shown == printed {
        return Ok(());
    }
    let alike = shown
        .lines()
        .zip(printed.lines())
        .take_while(|(shown, printed)| shown == printed)
        .count();
    let from = |text: &str| {
        let lines: Vec<&str> = text.lines().skip(alike).collect();
        lines.join("\n")
    };
    Err(format!(
        "what it prints is not what the page shows, from line {} of the output.\n\
         --- the page\n{}\n--- printed\n{}\n---\n`cargo xtask docs --update` writes what is printed",
        alike + 1,
        from(shown),
        from(printed)
    ))
}

/// The page with the text at each range, in their order, replaced.
pub(super) fn replace(page: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut text = page.to_owned();
    for (range, new) in edits.iter().rev() {
        text.replace_range(range.clone(), new);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{replace, same};

    #[test]
    fn only_the_same_text_is_the_same() {
        assert_eq!(same("a\nb\n", "a\nb\n"), Ok(()));
        for printed in ["a\nc\n", "a\n", "a\nb", "a\nb\n\n", ""] {
            assert!(same("a\nb\n", printed).is_err(), "{printed:?}");
        }
        let why = same("a\nb\n", "a\nc\n").expect_err("they differ");
        assert!(why.contains("line 2 "), "{why}");
        assert!(why.contains("--- the page\nb\n--- printed\nc\n"), "{why}");
    }

    #[test]
    fn texts_are_replaced_whatever_their_lengths() {
        let edits = [(1..2, "xyz".to_owned()), (3..5, String::new())];
        assert_eq!(replace("abcdef", &edits), "axyzcf");
        assert_eq!(replace("abc", &[]), "abc");
    }
}
