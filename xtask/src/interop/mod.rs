//! `cargo xtask interop`: Segue against Rerun's own server and client, in two versions.
//!
//! Both come in one Python wheel, from PyPI, pinned by hash; `target/interop` keeps them, so that
//! only the first run needs the network. Servers listen on the loopback address only.

mod golden;
pub(crate) mod limits;
pub(crate) mod peer;
mod readers;
pub(crate) mod server;

use self::peer::{NEW, OLD};
use crate::Outcome;
use crate::process::run_on_stdout;
use crate::steps::{self, Step};
use crate::tools;

pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "setup",
        about: "the official client and server are there, and Segue is built",
        run: || built(peer::set_up),
    },
    Step {
        name: "real-0.36",
        about: "the golden cases in SQL over a real server of 0.36",
        run: || built(|| golden::run(&OLD)),
    },
    Step {
        name: "real-0.41",
        about: "the golden cases in SQL over a real server of 0.41",
        run: || built(|| golden::run(&NEW)),
    },
    Step {
        name: "python-0.36",
        about: "the golden cases by the official client of 0.36 over `segue serve`",
        run: || built(|| readers::run(&OLD)),
    },
    Step {
        name: "python-0.41",
        about: "the golden cases by the official client of 0.41 over `segue serve`",
        run: || built(|| readers::run(&NEW)),
    },
];

/// Folders of recordings, as servers of both kinds take them.
const DATASETS: [&str; 2] = [
    "rrd=examples/recordings/robots",
    "real=examples/recordings/drive",
];

/// Runs the named parts, or all of them.
pub(crate) fn run(named: &[String]) -> Outcome {
    steps::run(STEPS, named)
}

/// Builds the tests and with them the program `segue`, with the features of the gate, so that
/// nothing is built twice; then goes on.
fn built(then: impl FnOnce() -> Outcome) -> Outcome {
    let args = ["nextest", "run", "--locked", "--workspace", "--no-run"];
    run_on_stdout(tools::NEXTEST.command()?.args(args))?;
    then()
}
