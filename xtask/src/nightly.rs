//! `cargo xtask nightly`: checks that take too long for every change.
//!
//! To add one, add a [`Step`] here. A test that is short by default and long at
//! night takes its size from an environment variable that the step sets.

use crate::Outcome;
use crate::process::run_on_stdout;
use crate::steps::{self, Step};
use crate::tools;

pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "properties",
        about: "property tests with 4000 cases each",
        run: || {
            let packages =
                "package(segue-chunk) + package(segue-segment-stream) + package(segue-error)";
            let quick = format!("({packages}) - test(equivalence) - test(window)");
            tests(&quick, "PROPTEST_CASES", "4000")
        },
    },
    Step {
        name: "equivalence",
        about: "600 random datasets with random options, dozens of queries over each",
        run: || tests("test(equivalence)", "PROPTEST_CASES", "600"),
    },
    Step {
        name: "assembly",
        about: "25600 random datasets assembled, compared with the reference and the rules",
        run: || {
            tests(
                "package(segue-chunk) & test(assemble::tests)",
                "PROPTEST_CASES",
                "25600",
            )
        },
    },
    Step {
        name: "window",
        about: "every state of 1000 random small worlds of the memory window",
        run: || tests("test(policy::tests::worlds)", "SEGUE_WINDOW_WORLDS", "1000"),
    },
    Step {
        name: "interleavings",
        about: "20000 schedules of the memory window's locks and futures",
        run: || {
            tests(
                "test(window::interleavings)",
                "SEGUE_WINDOW_SCHEDULES",
                "20000",
            )
        },
    },
    Step {
        name: "streams",
        about: "10000 streams of any sizes, delays, limits and faults",
        run: || tests("test(window::property)", "SEGUE_STREAM_CASES", "10000"),
    },
    Step {
        name: "fuzz",
        about: "300000 mutated chunks through the decoder",
        run: || {
            tests(
                "package(segue-chunk) & test(fuzz)",
                "SEGUE_FUZZ_CASES",
                "300000",
            )
        },
    },
    Step {
        name: "damage",
        about: "every bit of two recordings flipped",
        run: || {
            tests(
                "package(segue-chunk) & test(damage)",
                "SEGUE_DAMAGE_ALL_BITS",
                "1",
            )
        },
    },
    Step {
        name: "memory",
        about: "a gigabyte of recordings counted in bounded memory",
        run: || {
            tests(
                "package(segue) & test(memory)",
                "SEGUE_COUNT_MEGABYTES",
                "1024",
            )
        },
    },
    Step {
        name: "serving",
        about: "a gigabyte of recordings served in bounded memory, with and without footers",
        run: || {
            tests(
                "package(segue-cli) & test(memory)",
                "SEGUE_SERVE_MEGABYTES",
                "1024",
            )
        },
    },
];

/// Runs the named parts, or all of them.
pub(crate) fn run(named: &[String]) -> Outcome {
    steps::run(STEPS, named)
}

/// Runs the tests that `filter` selects, made longer by an environment variable.
fn tests(filter: &str, variable: &str, value: &str) -> Outcome {
    // The whole workspace with a filter, not `-p`: the same features as in the
    // gate, so nothing is built again.
    let args = [
        "nextest",
        "run",
        "--locked",
        "--workspace",
        "--no-fail-fast",
        "-E",
        filter,
    ];
    let mut nextest = tools::NEXTEST.command()?;
    run_on_stdout(nextest.args(args).env(variable, value))
}
