//! `cargo xtask codegen`: Rust code from the `.proto` files of `segue-proto`.
//!
//! The code is committed. `--check` generates it into a scratch folder and
//! fails where the committed files differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::process::{command, root, run as run_command};

/// Generates the code, or with `--check` compares it.
pub(crate) fn run(args: &[String]) -> Outcome {
    let check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(format!("codegen takes only --check, not {args:?}")),
    };
    let committed = root().join("crates/proto/src/generated");
    let scratch = root().join("target/xtask/codegen");
    generate(&root().join("crates/proto/proto"), &scratch)?;

    let fresh = contents(&scratch)?;
    let stale = differing(&contents(&committed).unwrap_or_default(), &fresh);
    if check {
        return match stale.as_slice() {
            [] => Ok(()),
            _ => Err(format!("stale, run `cargo xtask codegen`: {stale:?}")),
        };
    }
    replace(&committed, &fresh)?;
    println!("{} files, {} changed", fresh.len(), stale.len());
    Ok(())
}

/// Generates one file per protobuf package, and a `mod.rs` that nests them.
fn generate(protos: &Path, into: &Path) -> Outcome {
    replace(into, &BTreeMap::new())?;
    let mut sources = Vec::new();
    find_protos(protos, &mut sources)?;
    sources.sort();

    let described = protox::compile(&sources, [protos]).map_err(|error| format!("{error:?}"))?;
    let mut messages = prost_build::Config::new();
    messages.bytes(["."]);
    tonic_prost_build::configure()
        .client_mod_attribute(".", "#[cfg(feature = \"client\")]")
        .server_mod_attribute(".", "#[cfg(feature = \"server\")]")
        // Whoever embeds the client connects it himself.
        .build_transport(false)
        .out_dir(into)
        .include_file("mod.rs")
        .compile_fds_with_config(described, messages)
        .map_err(|error| format!("tonic-prost-build: {error}"))?;

    let mut format = command("rustfmt", &["--edition", "2024"]);
    for name in contents(into)?.keys() {
        format.arg(into.join(name));
    }
    run_command(&mut format)
}

fn find_protos(folder: &Path, found: &mut Vec<PathBuf>) -> Outcome {
    let entries = fs::read_dir(folder).map_err(|error| at(folder, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| at(folder, &error))?.path();
        if path.is_dir() {
            find_protos(&path, found)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "proto")
        {
            found.push(path);
        }
    }
    Ok(())
}

/// Text of each file directly in a folder, by name.
fn contents(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| at(folder, &error))?;
    let mut files = BTreeMap::new();
    for entry in entries {
        let entry = entry.map_err(|error| at(folder, &error))?;
        let path = entry.path();
        let text = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), text);
    }
    Ok(files)
}

/// Names that only one side has, or whose text differs.
fn differing(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<String> = old
        .keys()
        .chain(new.keys())
        .filter(|name| old.get(*name) != new.get(*name))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Makes a folder hold exactly these files.
fn replace(folder: &Path, files: &BTreeMap<String, String>) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| at(folder, &error))?;
    }
    fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| at(&path, &error))?;
    }
    Ok(())
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
