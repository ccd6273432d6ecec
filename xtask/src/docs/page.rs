//! The blocks of a page, and what is to be done with each.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// Blocks that a page may have.
const MOST: usize = 100;

/// What is written in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Sh,
    Sql,
    Rust,
    Python,
}

/// What is done with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It runs, and ends well.
    Runs,
    /// It runs, and ends with an error.
    Fails,
    /// It serves until the page ends.
    Serves,
    /// Nothing, for this reason.
    NotRun(String),
}

/// A block that can run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Of the fence, from 1.
    pub(super) line: usize,
    pub(super) language: Language,
    pub(super) way: Way,
    pub(super) code: String,
    /// What it prints, if the page shows it.
    pub(super) shows: Option<Shown>,
}

/// What a page shows as printed, and where it does.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) text: String,
    /// In bytes of the page.
    pub(super) range: Range<usize>,
}

/// Lines, and what is wrong there.
pub(super) type Errors = Vec<(usize, String)>;

impl Block {
    pub(super) fn is_not_run(&self) -> bool {
        matches!(self.way, Way::NotRun(_))
    }

    /// Whether a block of what is printed may follow it.
    fn prints(&self) -> bool {
        matches!(self.way, Way::Runs | Way::Fails) && self.language != Language::Rust
    }
}

/// The blocks of a page in their order, or all that is wrong with it.
pub(super) fn blocks(page: &str) -> Result<Vec<Block>, Errors> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut errors = Errors::new();
    // Whether the last block can still be followed by what it prints.
    let mut open = false;
    let mut events = Parser::new(page).into_offset_iter();
    while let Some((event, range)) = events.next() {
        let kind = match event {
            Event::Start(Tag::CodeBlock(kind)) => kind,
            Event::Start(Tag::Heading { .. }) => {
                open = false;
                continue;
            }
            _ => continue,
        };
        let line = page[..range.start].matches('\n').count() + 1;
        let mut code = String::new();
        let mut within = range.end..range.start;
        for (event, range) in events.by_ref() {
            match event {
                Event::End(TagEnd::CodeBlock) => break,
                Event::Text(text) => {
                    code.push_str(&text);
                    within = within.start.min(range.start)..within.end.max(range.end);
                }
                _ => {}
            }
        }
        let info = match &kind {
            CodeBlockKind::Fenced(info) => info.as_ref(),
            CodeBlockKind::Indented => {
                errors.push((line, "a block without a fence".to_owned()));
                continue;
            }
        };
        if code.is_empty() {
            errors.push((line, "an empty block".to_owned()));
        } else if info == "text" {
            let whole = page.get(within.clone()) == Some(code.as_str());
            match blocks.last_mut().filter(|last| open && last.prints()) {
                Some(last) if whole => {
                    last.shows = Some(Shown {
                        text: code,
                        range: within,
                    });
                }
                Some(_) => errors.push((line, "an indented block of output".to_owned())),
                None => errors.push((line, "nothing before it prints this".to_owned())),
            }
            open = false;
        } else {
            match parse_info(info) {
                Ok(Some((language, way))) => {
                    blocks.push(Block {
                        line,
                        language,
                        way,
                        code,
                        shows: None,
                    });
                    open = true;
                }
                Ok(None) => open = false,
                Err(why) => errors.push((line, why)),
            }
        }
    }
    if blocks.len() > MOST {
        errors.push((1, format!("{} blocks, more than {MOST}", blocks.len())));
    }
    match errors.is_empty() {
        true => Ok(blocks),
        false => Err(errors),
    }
}

/// What the words after a fence ask for; none if it is text that nobody prints.
fn parse_info(info: &str) -> Result<Option<(Language, Way)>, String> {
    let (language, words) = info.split_once(' ').unwrap_or((info, ""));
    let language = match language {
        "sh" => Some(Language::Sh),
        "sql" => Some(Language::Sql),
        "rust" => Some(Language::Rust),
        "python" => Some(Language::Python),
        "text" => None,
        "" => return Err("a block that does not name its language".to_owned()),
        _ => return Err(format!("a block of the unknown language '{language}'")),
    };
    let reason = words.strip_prefix("not-run:").map(str::trim);
    let way = match (words, reason, language) {
        (_, Some(""), _) => return Err("not-run without a reason".to_owned()),
        (_, Some(reason), _) => Way::NotRun(reason.to_owned()),
        ("", None, _) => Way::Runs,
        ("fails", None, Some(Language::Sh | Language::Sql)) => Way::Fails,
        ("server", None, Some(Language::Sh)) => Way::Serves,
        _ => return Err(format!("'{words}' says nothing about a block of '{info}'")),
    };
    Ok(language.map(|language| (language, way)))
}

#[cfg(test)]
mod tests {
    use super::{Block, Errors, Language, Way, blocks};

    fn block(line: usize, language: Language, way: Way, code: &str) -> Block {
        Block {
            line,
            language,
            way,
            code: code.to_owned(),
            shows: None,
        }
    }

    fn errors(page: &str) -> Errors {
        blocks(page).expect_err("the page is wrong")
    }

    #[test]
    fn blocks_are_found_with_their_lines_languages_and_ways() {
        let page = "# Page\n\n```sh\necho a\necho b\n```\n\ntext `code`\n\n```sh server\nserve\n```\n\
                    ~~~sql fails\nSELECT\n~~~\n\n> ```python\n> a = 1\n> ```\n\n\
                    ````rust not-run: no reader does\n```\n````\n\n```text not-run: a drawing\n─\n```\n";
        let not_run = Way::NotRun("no reader does".to_owned());
        assert_eq!(
            blocks(page),
            Ok(vec![
                block(3, Language::Sh, Way::Runs, "echo a\necho b\n"),
                block(10, Language::Sh, Way::Serves, "serve\n"),
                block(13, Language::Sql, Way::Fails, "SELECT\n"),
                block(17, Language::Python, Way::Runs, "a = 1\n"),
                block(21, Language::Rust, not_run, "```\n"),
            ])
        );
    }

    #[test]
    fn text_after_a_block_is_what_it_prints_and_where_that_stands_is_known() {
        let page = "```sh\necho é; echo b\n```\n\nprints\n\n```text\né\nb\n```\n";
        let blocks = blocks(page).expect("the page is right");
        let shown = blocks[0].shows.as_ref().expect("it shows something");
        assert_eq!(shown.text, "é\nb\n");
        assert_eq!(&page[shown.range.clone()], shown.text);
    }

    #[test]
    fn text_that_nothing_prints_is_an_error() {
        let why = "nothing before it prints this";
        for before in [
            "",
            "```rust\nfn main() {}\n```\n",
            "```sh server\nsegue serve\n```\n",
            "```sh not-run: why\na\n```\n",
            "```sh\na\n```\n# Another matter\n",
            "```sh\na\n```\n```text\na\n```\n",
        ] {
            let page = format!("{before}```text\na\n```\n");
            let line = before.matches('\n').count() + 1;
            assert_eq!(errors(&page), [(line, why.to_owned())], "{page}");
        }
    }

    #[test]
    fn what_nobody_knows_how_to_run_is_an_error_and_all_errors_are_told() {
        let page = "```toml\na = 1\n```\n\n```\na\n```\n\nWords\n\n    a\n\nWords\n\n```sh not-run:\na\n```\n\
                    ```sh twice\na\n```\n```rust server\na\n```\n```sh\n```\n";
        let told = errors(page);
        let lines: Vec<usize> = told.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 5, 11, 15, 18, 21, 24], "{told:?}");
        assert_eq!(told[0].1, "a block of the unknown language 'toml'");
        assert_eq!(told[3].1, "not-run without a reason");
    }
}
