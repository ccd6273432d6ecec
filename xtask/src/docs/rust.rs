//! Blocks of Rust, which rustdoc compiles and runs.

use std::fs;

use super::built::Built;
use super::page::Block;
use super::scratch::{self, Scratch};
use crate::Outcome;
use crate::interop::limits::limited;

/// The page without all that is none of these blocks, every line where it was.
pub(super) fn page(blocks: &[&Block]) -> String {
    let mut page = String::new();
    let mut lines = 1;
    for block in blocks {
        let gap = "\n".repeat(block.line.saturating_sub(lines));
        let text = format!("{gap}```rust\n{}```\n", block.code);
        lines += text.matches('\n').count();
        page.push_str(&text);
    }
    page
}

/// Runs the blocks of a page, and makes sure that as many as there are were run.
pub(super) fn run(
    name: &str,
    page: &str,
    count: usize,
    built: &Built,
    scratch: &Scratch,
    seconds: u32,
) -> Outcome {
    // Its name is what the compiler shows.
    let path = scratch.rust.join(name);
    let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(wrong)?;
    fs::write(&path, page).map_err(wrong)?;

    let mut rustdoc = limited(scratch::limits(seconds), "rustdoc");
    rustdoc
        .args(["--test", "--edition", "2024"])
        .args(built.flags())
        .arg("--test-run-directory")
        .arg(scratch.folder())
        .arg(&path);
    let (printed, status) = scratch::run(&mut rustdoc)?;
    let ran = printed
        .lines()
        .filter(|line| line.starts_with("test ") && line.ends_with(" ... ok"))
        .count();
    if status.success() && ran == count {
        return Ok(());
    }
    Err(format!(
        "{name}: {ran} of {count} blocks of Rust ran well\n{printed}"
    ))
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::docs::page::blocks;

    #[test]
    fn blocks_stay_on_their_lines_and_everything_else_goes() {
        let text = "words\n\n```sh\na\n```\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\nwords\n```rust\nlet c = 3;\n```\nend\n";
        let blocks = blocks(text).expect("the page is right");
        let rust: Vec<_> = blocks.iter().skip(1).collect();
        let expected =
            "\n\n\n\n\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\n```rust\nlet c = 3;\n```\n";
        assert_eq!(page(&rust), expected);
    }
}
