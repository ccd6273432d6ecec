//! Checks and chores of the workspace: `cargo xtask help`.

mod ci;
mod codegen;
mod docs;
mod interop;
mod layers;
mod nightly;
mod process;
mod steps;
mod tools;

use std::process::ExitCode;

/// What a task returns: nothing, or why it failed.
type Outcome = Result<(), String>;

struct Task {
    name: &'static str,
    usage: &'static str,
    run: fn(&[String]) -> Outcome,
}

const TASKS: &[Task] = &[
    Task {
        name: "ci",
        usage: "[PART..]  every check of a change, or only the named ones",
        run: ci::run,
    },
    Task {
        name: "nightly",
        usage: "[PART..]  the checks that take too long for every change",
        run: nightly::run,
    },
    Task {
        name: "interop",
        usage: "[PART..]  Segue against Rerun's own server and client, in two versions",
        run: interop::run,
    },
    Task {
        name: "docs",
        usage: "[PAGE..] [--update]  run what the documentation says, or write down what it prints",
        run: docs::run,
    },
    Task {
        name: "codegen",
        usage: "[--check]  generate the code of segue-proto, or fail if it is stale",
        run: codegen::run,
    },
    Task {
        name: "layers",
        usage: "  which crate may depend on which, and one version of each shared library",
        run: layers::run,
    },
    Task {
        name: "tools",
        usage: "  fetch the programs the checks need into target/tools, where missing",
        run: tools::run,
    },
    Task {
        name: "help",
        usage: "  this list",
        run: help,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.split_first() {
        None => help(&[]),
        Some((name, rest)) => match TASKS.iter().find(|task| task.name == name) {
            Some(task) => (task.run)(rest),
            None => Err(format!("no task '{name}', see `cargo xtask help`")),
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

fn help(_: &[String]) -> Outcome {
    for task in TASKS {
        println!("cargo xtask {} {}", task.name, task.usage);
    }
    println!("\nparts of ci:");
    steps::list(ci::STEPS);
    println!("\nparts of nightly:");
    steps::list(nightly::STEPS);
    println!("\nparts of interop:");
    steps::list(interop::STEPS);
    Ok(())
}
