//! The blocks of a page, one after the other.

use std::time::Instant;

use super::built::Built;
use super::page::{Block, Language, Way};
use super::rust;
use super::scratch::{self, Scratch, run};
use crate::Outcome;
use crate::interop::peer::NEW;
use crate::interop::server::{Server, start};

/// Where pages say that a server is.
const ADDRESS: &str = "rerun+http://127.0.0.1:51234";

/// Seconds that a block may take.
const BLOCK: u32 = 60;

/// Parses a program, and does no more.
const PARSE: &str = "import ast, sys; ast.parse(sys.argv[1])";

/// What the blocks of a page share.
pub(super) struct Session<'a> {
    page: &'a str,
    built: &'a Built,
    scratch: Scratch,
    server: Option<Server>,
    end: Instant,
}

impl<'a> Session<'a> {
    /// Of the page so called, until `end` at the latest.
    pub(super) fn start(page: &'a str, built: &'a Built, end: Instant) -> Result<Self, String> {
        Ok(Self {
            page,
            built,
            scratch: Scratch::new(page)?,
            server: None,
            end,
        })
    }

    /// Runs a block, unless it is one of Rust. What it printed, with the address of the page; or the
    /// reason for which it was not run.
    pub(super) fn run(&mut self, block: &Block) -> Result<Result<String, String>, String> {
        if let Way::NotRun(why) = &block.way {
            return Ok(Err(why.clone()));
        }
        let code = self.addressed(&block.code)?;
        let seconds = self.seconds()?;
        let mut command = match (block.language, &block.way) {
            // All of a page are compiled at once, at its end.
            (Language::Rust, _) => return Ok(Ok(String::new())),
            (Language::Sh, Way::Serves) => return self.serve(&code).map(Ok),
            (Language::Sh, _) => self.scratch.script(seconds, &code)?,
            (Language::Sql, _) => {
                let mut query = self.scratch.command(seconds, "segue")?;
                query.args(["query", "--recordings", "examples/recordings", &code]);
                query
            }
            (Language::Python, _) if NEW.is_current() => {
                let mut python = NEW.python(scratch::limits(seconds))?;
                self.scratch.place(&mut python)?;
                python.args(["-c", &code]);
                python
            }
            (Language::Python, _) => {
                let mut python = self.scratch.command(seconds, "python3")?;
                python.args(["-c", PARSE, &code]);
                let (printed, status) = run(&mut python)?;
                return match status.success() {
                    true => Ok(Err(
                        "only parsed, for want of `cargo xtask interop`".to_owned()
                    )),
                    false => Err(format!("{status}\n{printed}")),
                };
            }
        };
        let (printed, status) = run(&mut command)?;
        let printed = match &self.server {
            Some(server) => printed.replace(&server.url, ADDRESS),
            None => printed,
        };
        match (status.success(), block.way == Way::Fails) {
            (true, true) => Err(format!("does not fail\n{printed}")),
            (false, false) => Err(format!("{status}\n{printed}")),
            _ => Ok(Ok(printed)),
        }
    }

    /// Runs the blocks of Rust, and ends the server; passes an outcome on.
    pub(super) fn end(mut self, outcome: Outcome, blocks: &[Block]) -> Outcome {
        let outcome = outcome.and_then(|()| self.run_rust(blocks));
        match self.server.take() {
            Some(server) => server.end(outcome),
            None => outcome,
        }
    }

    fn run_rust(&self, blocks: &[Block]) -> Outcome {
        let blocks = blocks.iter().filter(|block| !block.is_not_run());
        let blocks: Vec<&Block> = blocks
            .filter(|block| block.language == Language::Rust)
            .collect();
        if blocks.is_empty() {
            return Ok(());
        }
        let page = self.addressed(&rust::page(&blocks))?;
        rust::run(
            self.page,
            &page,
            blocks.len(),
            self.built,
            &self.scratch,
            self.seconds()?,
        )
    }

    /// The code with the server's address in the place of the page's.
    fn addressed(&self, code: &str) -> Result<String, String> {
        match &self.server {
            Some(server) => Ok(code.replace(ADDRESS, &server.url)),
            None if code.contains(ADDRESS) => {
                Err("no `sh server` block before it serves there".to_owned())
            }
            None => Ok(code.to_owned()),
        }
    }

    /// Starts `segue serve` on a free port.
    fn serve(&mut self, code: &str) -> Result<String, String> {
        let code = code.trim();
        let Some(what) = code.strip_prefix("segue serve ") else {
            return Err("a server is one command `segue serve …`".to_owned());
        };
        if self.server.is_some() {
            return Err("the page has a second server".to_owned());
        }
        let script = format!("exec segue serve --listen 127.0.0.1:0 {what}");
        let mut serve = self.scratch.command(self.remaining()?, "sh")?;
        serve.args(["-c", &script]);
        self.server = Some(start("docs", serve)?);
        Ok(String::new())
    }

    /// Seconds that the next block may take.
    fn seconds(&self) -> Result<u32, String> {
        self.remaining().map(|seconds| seconds.min(BLOCK))
    }

    fn remaining(&self) -> Result<u32, String> {
        let left = self.end.saturating_duration_since(Instant::now()).as_secs();
        match u32::try_from(left) {
            Ok(0) => Err("no time is left for it".to_owned()),
            Ok(left) => Ok(left),
            Err(_) => Ok(u32::MAX),
        }
    }
}

// Where `ulimit` and `timeout` are what is expected of them.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{Duration, Instant};

    use super::Session;
    use crate::docs::built::Built;
    use crate::docs::page::blocks;

    /// What the first block of a page gives.
    fn first(test: &str, page: &str, seconds: u64) -> Result<Result<String, String>, String> {
        let built = Built::default();
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut session = Session::start(test, &built, end)?;
        let blocks = blocks(page).map_err(|errors| format!("{errors:?}"))?;
        session.run(&blocks[0])
    }

    #[test]
    fn a_block_has_to_end_as_the_page_says() {
        let run = |page| first("test-ends", page, 60);
        assert_eq!(run("```sh\necho a\n```\n"), Ok(Ok("a\n".to_owned())));
        let fails = run("```sh fails\necho a; exit 3\n```\n");
        assert_eq!(fails, Ok(Ok("a\n".to_owned())));
        let why = run("```sh\necho a; exit 3\n```\n");
        assert_eq!(why, Err("exit status: 3\na\n".to_owned()));
        let why = run("```sh fails\necho a\n```\n");
        assert_eq!(why, Err("does not fail\na\n".to_owned()));
    }

    #[test]
    fn a_block_that_is_not_run_gives_the_reason() {
        let skipped = first("test-skips", "```sh not-run: why\nexit 3\n```\n", 60);
        assert_eq!(skipped, Ok(Err("why".to_owned())));
    }

    #[test]
    fn nothing_runs_without_time_or_without_the_server_it_asks() {
        let late = first("test-late", "```sh\necho a\n```\n", 0);
        assert_eq!(late, Err("no time is left for it".to_owned()));
        let page = "```sh\necho rerun+http://127.0.0.1:51234\n```\n";
        let alone = first("test-alone", page, 60);
        assert!(
            alone.is_err_and(|why| why.contains("no `sh server` block")),
            "it has none"
        );
    }
}
