//! What the blocks of pages run and are linked with.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process::output;
use crate::tools;

/// Crates that a block of Rust may name.
const CRATES: [&str; 3] = ["datafusion", "segue", "tokio"];

/// Libraries, built for the tests of the gate.
#[derive(Debug, Default)]
pub(super) struct Built {
    /// Crates and their files.
    libraries: Vec<(&'static str, PathBuf)>,
}

impl Built {
    /// Builds the programs, the examples and the libraries as the tests have built them, so that after
    /// these nothing is left to do.
    pub(super) fn build() -> Result<Self, String> {
        let args = [
            "nextest",
            "run",
            "--locked",
            "--workspace",
            "--no-run",
            "--cargo-message-format=json-render-diagnostics",
        ];
        let messages = output(tools::NEXTEST.command()?.args(args))?;
        let find = |name: &'static str| match libraries(name, &messages).as_slice() {
            [one] => Ok((name, one.clone())),
            found => Err(format!("one library '{name}' was expected, not {found:?}")),
        };
        let libraries = CRATES.into_iter().map(find).collect::<Result<_, _>>()?;
        Ok(Self { libraries })
    }

    /// What makes the compiler find them.
    pub(super) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        for (name, path) in &self.libraries {
            flags.extend(["--extern".to_owned(), format!("{name}={}", path.display())]);
            // All that is below them lies beside them.
            let folder = path.parent().unwrap_or(Path::new(""));
            flags.extend(["-L".to_owned(), format!("dependency={}", folder.display())]);
        }
        flags
    }
}

/// The files of the library `name` among what Cargo says to have built.
fn libraries(name: &str, messages: &str) -> Vec<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact"
                && message["target"]["name"] == name
                && message["profile"]["test"] == false
        })
        .flat_map(|message| match &message["filenames"] {
            Value::Array(files) => files.clone(),
            _ => Vec::new(),
        })
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .filter(|file| file.extension().is_some_and(|ending| ending == "rlib"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::libraries;

    #[test]
    fn a_library_is_found_and_no_test_nor_program_of_its_name() {
        let message = |name: &str, test: bool, file: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"name":"{name}"}},"profile":{{"test":{test}}},"filenames":["{file}","x.rmeta"]}}"#
            )
        };
        let messages = [
            message("segue", false, "a/libsegue-1.rlib"),
            message("segue", true, "a/segue-2"),
            message("segue", false, "a/segue"),
            message("tokio", false, "a/libtokio-1.rlib"),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
            "no message".to_owned(),
        ];
        let found = libraries("segue", &messages.join("\n"));
        assert_eq!(found, [PathBuf::from("a/libsegue-1.rlib")]);
    }
}
