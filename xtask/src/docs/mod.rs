//! `cargo xtask docs`: what the documentation says is done, and what it shows comes out.
//!
//! Every fenced block of the readme and of the book is one of these:
//!
//! | block | what is done with it |
//! |---|---|
//! | `sh` | run by `sh -e` in a scratch folder that has `examples/recordings`, with `segue` on the path |
//! | `sh server` | `segue serve …`, run on a free port until the page ends; blocks that name port 51234 ask it |
//! | `sql` | run by `segue query` over `examples/recordings` |
//! | `rust` | compiled and run as rustdoc does it, in the same folder |
//! | `python` | run where `cargo xtask interop` has put Rerun's client, else only parsed |
//! | `text` | what the block before it prints |
//!
//! `fails` after the language says that a command ends with an error, `not-run: REASON` that nothing is
//! done. Blocks of one page share a folder and run in their order; `rust` ones come last. With `--update`,
//! what blocks print is written into the pages.

mod built;
mod edit;
mod page;
mod rust;
mod scratch;
mod session;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use self::built::Built;
use self::page::{Block, Way};
use self::session::Session;
use crate::Outcome;
use crate::process::root;

/// How long all blocks may take together, without building what they run.
const ALL: Duration = Duration::from_secs(120);

/// What became of the blocks of one page.
#[derive(Debug, Default)]
struct Tally {
    ran: usize,
    /// Why the others did not.
    not_run: Vec<String>,
}

/// Runs the blocks of the named pages, or of all.
pub(crate) fn run(args: &[String]) -> Outcome {
    let update = args.iter().any(|arg| arg == "--update");
    let mut pages = pages()?;
    let named: Vec<&String> = args.iter().filter(|arg| *arg != "--update").collect();
    if let Some(unknown) = named.iter().find(|name| !pages.contains(name)) {
        return Err(format!("no page '{unknown}', there is {pages:?}"));
    }
    if !named.is_empty() {
        pages.retain(|page| named.contains(&page));
    }

    let built = Built::build()?;
    let end = Instant::now() + ALL;
    let (mut ran, mut not_run) = (0, 0);
    let mut failed = Vec::new();
    for page in &pages {
        match run_page(page, &built, end, update) {
            Ok(tally) => {
                if tally.ran + tally.not_run.len() > 0 {
                    println!("{page}: {} ran", tally.ran);
                }
                tally.not_run.iter().for_each(|why| println!("  {why}"));
                ran += tally.ran;
                not_run += tally.not_run.len();
            }
            Err(why) => {
                println!("{why}");
                failed.push(page.as_str());
            }
        }
    }
    println!(
        "{ran} blocks of {} pages ran, {not_run} did not",
        pages.len()
    );
    match failed.as_slice() {
        [] => Ok(()),
        _ => Err(format!("pages with errors: {}", failed.join(", "))),
    }
}

fn run_page(name: &str, built: &Built, end: Instant, update: bool) -> Result<Tally, String> {
    let path = root().join(name);
    let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
    let at = |block: &Block, why: String| format!("{name}:{}: {why}", block.line);
    let blocks = page::blocks(&text).map_err(|errors| {
        let errors: Vec<String> = errors
            .iter()
            .map(|(line, why)| format!("{name}:{line}: {why}"))
            .collect();
        errors.join("\n")
    })?;

    let mut tally = Tally::default();
    let mut edits = Vec::new();
    if blocks.iter().any(|block| !block.is_not_run()) {
        let mut session = Session::start(name, built, end)?;
        let outcome = blocks.iter().try_for_each(|block| {
            let done = session.run(block).map_err(|why| at(block, why))?;
            tally.count(block, done.as_ref().err());
            let Some((shown, printed)) = block.shows.as_ref().zip(done.ok()) else {
                return Ok(());
            };
            if update {
                edits.push((shown.range.clone(), printed));
                return Ok(());
            }
            edit::same(&shown.text, &printed).map_err(|why| at(block, why))
        });
        session.end(outcome, &blocks)?;
    } else {
        blocks.iter().for_each(|block| tally.count(block, None));
    }
    if update {
        let text = edit::replace(&text, &edits);
        fs::write(&path, text).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(tally)
}

impl Tally {
    fn count(&mut self, block: &Block, skipped: Option<&String>) {
        match (&block.way, skipped) {
            (Way::NotRun(why), _) | (_, Some(why)) => {
                self.not_run
                    .push(format!("line {} did not: {why}", block.line));
            }
            _ => self.ran += 1,
        }
    }
}

/// The readme and the pages of the book, relative to the root.
fn pages() -> Result<Vec<String>, String> {
    let mut pages = vec!["README.md".to_owned()];
    find_pages("docs/src", &mut pages)?;
    pages.sort();
    Ok(pages)
}

fn find_pages(folder: &str, pages: &mut Vec<String>) -> Outcome {
    let wrong = |error: std::io::Error| format!("{folder}: {error}");
    for entry in fs::read_dir(root().join(folder)).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(wrong)?.is_dir() {
            find_pages(&path, pages)?;
        } else if Path::new(&path)
            .extension()
            .is_some_and(|ending| ending == "md")
        {
            pages.push(path);
        }
    }
    Ok(())
}
