//! `cargo xtask ci`: what every change has to pass.

use crate::Outcome;
use crate::process::{command, run as run_command, run_on_stdout};
use crate::steps::{self, Step};
use crate::{codegen, docs, interop, layers, tools};

/// Quick ones first, and last what needs the programs that the tests build.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "lock",
        about: "Cargo.lock fits the manifests; fetches what it names",
        run: || cargo(&["fetch", "--locked"]),
    },
    Step {
        name: "fmt",
        about: "the code is formatted",
        run: || cargo(&["fmt", "--all", "--check"]),
    },
    Step {
        name: "layers",
        about: "crates depend downwards only; one version of each shared library",
        run: || layers::run(&[]),
    },
    Step {
        name: "codegen",
        about: "generated files are current",
        run: || codegen::run(&["--check".to_owned()]),
    },
    Step {
        name: "deny",
        about: "licences, bans and sources of the dependencies",
        run: deny,
    },
    Step {
        name: "book",
        about: "the book in docs/ builds",
        run: book,
    },
    Step {
        name: "clippy",
        about: "no warning, in tests and benches either",
        run: clippy,
    },
    Step {
        name: "test",
        about: "unit and integration tests",
        run: test,
    },
    Step {
        name: "doctest",
        about: "the examples in the documentation",
        run: || cargo(&["test", "--locked", "--doc", "--workspace"]),
    },
    Step {
        name: "doc",
        about: "the documentation builds and its links resolve",
        run: doc,
    },
    Step {
        name: "interop",
        about: "Rerun's own server and client, and Segue's, on either side",
        run: || interop::run(&[]),
    },
    Step {
        name: "docs",
        about: "what the readme and the book show is what comes out",
        run: || docs::run(&[]),
    },
];

/// Runs the named parts, or all of them.
pub(crate) fn run(named: &[String]) -> Outcome {
    steps::run(STEPS, named)
}

fn cargo(args: &[&str]) -> Outcome {
    run_command(&mut command("cargo", args))
}

fn deny() -> Outcome {
    // Advisories are left out: they need a database from the network.
    let args = ["--offline", "check", "bans", "licenses", "sources"];
    run_command(tools::CARGO_DENY.command()?.args(args))
}

fn book() -> Outcome {
    run_command(tools::MDBOOK.command()?.args(["build", "docs"]))
}

fn clippy() -> Outcome {
    let args = [
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    cargo(&args)
}

fn test() -> Outcome {
    let args = [
        "nextest",
        "run",
        "--locked",
        "--workspace",
        "--no-fail-fast",
    ];
    let mut nextest = tools::NEXTEST.command()?;
    run_on_stdout(nextest.args(args))
}

fn doc() -> Outcome {
    let args = ["doc", "--locked", "--no-deps", "--workspace"];
    run_command(command("cargo", &args).env("RUSTDOCFLAGS", "-D warnings"))
}
