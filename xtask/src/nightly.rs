//! `cargo xtask nightly`: checks that take too long for every change.
//!
//! To add one, add a [`Step`] here. A test that is short by default and long at
//! night takes its size from an environment variable that the step sets.

use crate::Outcome;
use crate::process::run_on_stdout;
use crate::steps::{self, Step};
use crate::tools;

pub(crate) const STEPS: &[Step] = &[Step {
    name: "properties",
    about: "property tests with 20000 cases each",
    run: properties,
}];

/// Runs the named parts, or all of them.
pub(crate) fn run(named: &[String]) -> Outcome {
    steps::run(STEPS, named)
}

fn properties() -> Outcome {
    let packages = "package(segue-chunk) + package(segue-segment-stream) + package(segue-error)";
    // The whole workspace with a filter, not `-p`: the same features as in the
    // gate, so nothing is built again.
    let args = [
        "nextest",
        "run",
        "--locked",
        "--workspace",
        "--no-fail-fast",
        "-E",
        packages,
    ];
    let mut nextest = tools::NEXTEST.command()?;
    run_on_stdout(nextest.args(args).env("PROPTEST_CASES", "20000"))
}
