//! The official client and server of one version, in a virtual environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use super::limits::{Limits, limited, quiet, shown};
use crate::Outcome;
use crate::process::{command, output, root};

/// A version of the peer.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(super) version: &'static str,
    /// Hash-pinned requirements, relative to the root.
    requirements: &'static str,
    /// Where in the wheel the program is that serves.
    program: &'static str,
}

/// Plans with `QueryDataset`.
pub(super) const OLD: Peer = Peer {
    version: "0.36.3",
    requirements: "xtask/wheels/rerun-0.36.3.txt",
    program: "rerun_sdk/rerun_cli/rerun",
};

/// Plans with `FindChunks`.
pub(crate) const NEW: Peer = Peer {
    version: "0.41.0",
    requirements: "xtask/wheels/rerun-0.41.0.txt",
    program: "rerun_cli/rerun",
};

/// Names of a Python; the first that is new enough is used.
const PYTHONS: [&str; 4] = ["python3", "python3.13", "python3.12", "python3.11"];

const DOWNLOAD: Limits = Limits {
    seconds: 600,
    gibibytes: 8,
};
const INSTALL: Limits = Limits {
    seconds: 180,
    gibibytes: 8,
};

/// What the programs leave behind, and what they need.
pub(super) fn folder() -> PathBuf {
    root().join("target/interop")
}

/// Makes sure that both versions are there.
pub(super) fn set_up() -> Outcome {
    let stale: Vec<&Peer> = [&OLD, &NEW]
        .into_iter()
        .filter(|peer| !peer.is_current())
        .collect();
    if stale.is_empty() {
        return Ok(());
    }
    let python = python()?;
    // Wheels of an earlier run do, without the network.
    let lacking = install_all(&python, &stale);
    for (peer, why) in &lacking {
        println!("{}: {why}", peer.version);
        // One after the other: they share wheels.
        peer.download(&python)?;
    }
    let lacking: Vec<&Peer> = lacking.into_iter().map(|(peer, _)| peer).collect();
    let failed = install_all(&python, &lacking);
    match failed.into_iter().next() {
        None => Ok(()),
        Some((_, why)) => Err(why),
    }
}

/// Installs from the wheels that are there, at the same time; gives those that failed, and why.
fn install_all<'a>(python: &str, peers: &[&'a Peer]) -> Vec<(&'a Peer, String)> {
    thread::scope(|scope| {
        let installing: Vec<_> = peers
            .iter()
            .map(|&peer| (peer, scope.spawn(move || peer.install(python))))
            .collect();
        installing
            .into_iter()
            .filter_map(|(peer, installing)| match installing.join() {
                Ok(Ok(())) => None,
                Ok(Err(why)) => Some((peer, why)),
                Err(_) => Some((peer, "the installation panicked".to_owned())),
            })
            .collect()
    })
}

/// A Python that the wheels support.
fn python() -> Result<String, String> {
    let test = "import sys; sys.exit(sys.version_info < (3, 11))";
    PYTHONS
        .iter()
        .find(|name| output(&mut command(name, &["-c", test])).is_ok())
        .map(|&name| name.to_owned())
        .ok_or_else(|| "no Python of 3.11 or later".to_owned())
}

impl Peer {
    /// A command that runs a Python that has the client, within limits.
    pub(crate) fn python(&self, limits: Limits) -> Result<Command, String> {
        self.ensure()?;
        Ok(self.at_home(limited(limits, self.interpreter())))
    }

    /// A command that runs the program that serves, within limits.
    pub(super) fn rerun(&self, limits: Limits) -> Result<Command, String> {
        self.ensure()?;
        let packages = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let interpreter = self.interpreter();
        let packages = output(Command::new(&interpreter).args(["-c", packages]))?;
        let program = Path::new(packages.trim()).join(self.program);
        Ok(self.at_home(limited(limits, program)))
    }

    /// Its settings are ours: with none, its first run asks the network about analytics.
    fn at_home(&self, mut command: Command) -> Command {
        let home = self.home();
        command
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("NO_COLOR", "1");
        command
    }

    fn ensure(&self) -> Outcome {
        if self.is_current() {
            return Ok(());
        }
        set_up()
    }

    fn environment(&self) -> PathBuf {
        folder().join(self.version)
    }

    fn home(&self) -> PathBuf {
        folder().join(format!("home-{}", self.version))
    }

    fn interpreter(&self) -> PathBuf {
        self.environment().join("bin/python")
    }

    /// Written when all is installed: the requirements that are.
    fn stamp(&self) -> PathBuf {
        self.environment().join("installed.txt")
    }

    /// Whether it is installed, as it is required.
    pub(crate) fn is_current(&self) -> bool {
        let installed = fs::read(self.stamp());
        let required = fs::read(root().join(self.requirements));
        // An interpreter that is gone has left a link to nowhere.
        self.interpreter().exists()
            && matches!((installed, required), (Ok(installed), Ok(required)) if installed == required)
    }

    fn download(&self, python: &str) -> Outcome {
        let mut download = pip(DOWNLOAD, python, &["download", "--only-binary", ":all:"]);
        download.args(["--retries", "2", "--timeout", "30"]);
        shown(self.required(&mut download).arg("--dest").arg(wheels())).map(drop)
    }

    fn install(&self, python: &str) -> Outcome {
        let environment = self.environment();
        if environment.exists() {
            fs::remove_dir_all(&environment).map_err(|error| at(&environment, &error))?;
        }
        let mut create = command(python, &["-m", "venv", "--without-pip"]);
        output(create.arg(&environment))?;
        let mut install = pip(INSTALL, python, &["--python"]);
        install.arg(self.interpreter());
        install.args(["install", "--no-index", "--no-compile", "--find-links"]);
        quiet(self.required(install.arg(wheels())))?;
        self.settle()?;
        let required = root().join(self.requirements);
        fs::copy(required, self.stamp()).map_err(|error| at(&self.stamp(), &error))?;
        Ok(())
    }

    /// What must be installed or downloaded, and nothing else.
    fn required<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let exactly = ["--quiet", "--no-deps", "--require-hashes"];
        command.args(exactly).args(["-r", self.requirements])
    }

    /// Writes the settings that keep it from asking.
    fn settle(&self) -> Outcome {
        let (config, data) = (self.home().join("config/rerun"), self.home().join("data"));
        for folder in [&config, &data] {
            fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        }
        let file = config.join("analytics.json");
        let text = format!(
            r#"{{"analytics_enabled":false,"analytics_id":"{:032}","metadata":{{}},"config_file_path":{:?},"data_dir_path":{data:?}}}"#,
            0, file
        );
        fs::write(&file, text).map_err(|error| at(&file, &error))
    }
}

fn wheels() -> PathBuf {
    folder().join("wheels")
}

fn pip(limits: Limits, python: &str, args: &[&str]) -> Command {
    let mut pip = limited(limits, python);
    pip.args(["-m", "pip"])
        .args(args)
        .env("PIP_ROOT_USER_ACTION", "ignore")
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    pip
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
