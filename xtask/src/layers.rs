//! `cargo xtask layers`: which crate may depend on which.
//!
//! The architecture chapter of the book draws these arrows; this holds them.

mod lock;

use crate::Outcome;
use crate::process::{command, output, root};

/// A crate of the workspace and the arrows that leave it.
struct Layer {
    name: &'static str,
    /// Crates of the workspace that it may depend on, in tests too.
    on: &'static [&'static str],
    /// Beginnings of names that must not occur anywhere below it.
    never: &'static [&'static str],
}

const NETWORK: &[&str] = &["tonic", "hyper", "h2", "reqwest"];
const NETWORK_AND_ENGINE: &[&str] = &["tonic", "hyper", "h2", "reqwest", "datafusion"];

const LAYERS: &[Layer] = &[
    Layer {
        // Its optional conversion knows DataFusion.
        name: "segue-error",
        on: &[],
        never: NETWORK,
    },
    Layer {
        name: "segue-proto",
        on: &[],
        never: NETWORK_AND_ENGINE,
    },
    Layer {
        name: "segue-chunk",
        on: &["segue-error", "segue-proto"],
        never: NETWORK_AND_ENGINE,
    },
    Layer {
        name: "segue-chunk-client",
        on: &[
            "segue-error",
            "segue-proto",
            "segue-chunk",
            // In tests: what is asked has to be answered by somebody.
            "segue-chunk-server",
        ],
        never: &["datafusion"],
    },
    Layer {
        name: "segue-chunk-server",
        on: &["segue-error", "segue-proto", "segue-chunk"],
        never: &["datafusion"],
    },
    Layer {
        name: "segue-segment-stream",
        on: &["segue-error", "segue-chunk"],
        never: NETWORK,
    },
    Layer {
        name: "segue",
        on: &[
            "segue-error",
            "segue-proto",
            "segue-chunk",
            "segue-chunk-client",
            "segue-chunk-server",
            "segue-segment-stream",
        ],
        never: &[],
    },
    Layer {
        name: "segue-cli",
        // The recordings that its tests write are made by the doubles of `segue-chunk`.
        on: &["segue", "segue-chunk", "segue-error"],
        never: &[],
    },
    Layer {
        name: "xtask",
        on: &[],
        // It generates code with `tonic-prost-build`; with tonic itself, hyper and h2 would come.
        never: &["hyper", "h2", "reqwest", "datafusion"],
    },
];

/// Depends on whatever it measures, and nothing depends on it.
const BENCHES: &str = "segue-benches";

/// Fails with every arrow that is not allowed, and with every library that is
/// banned or locked in two versions.
pub(crate) fn run(_: &[String]) -> Outcome {
    let members = names(&tree(&["--workspace", "--depth", "0"])?);
    let mut wrong = Vec::new();
    for member in &members {
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == member) else {
            if member != BENCHES {
                wrong.push(format!("{member} has no place in xtask/src/layers.rs"));
            }
            continue;
        };
        let package = ["--package", layer.name];
        let direct = tree(&[&package[..], &["--all-features", "--depth", "1"]].concat())?;
        wrong.extend(upward(layer, &names(&direct), &members));
        let below = tree(&[&package[..], &["--edges", "normal,build"]].concat())?;
        wrong.extend(forbidden(layer, &names(&below)));
    }

    let lock = root().join("Cargo.lock");
    let lock = std::fs::read_to_string(&lock).map_err(|error| format!("Cargo.lock: {error}"))?;
    wrong.extend(lock::doubled(&lock));
    wrong.extend(lock::banned(&lock));
    match wrong.as_slice() {
        [] => Ok(()),
        _ => Err(wrong.join("\n")),
    }
}

fn tree(args: &[&str]) -> Result<String, String> {
    let fixed = ["tree", "--locked", "--prefix", "none", "--format", "{p}"];
    output(command("cargo", &fixed).args(args))
}

/// First word of each line, once.
fn names(tree: &str) -> Vec<String> {
    let mut names: Vec<String> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| !word.starts_with('['))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

fn upward(layer: &Layer, direct: &[String], members: &[String]) -> Vec<String> {
    direct
        .iter()
        .filter(|name| members.contains(name))
        // A crate names itself to switch its test doubles on.
        .filter(|name| *name != layer.name && !layer.on.contains(&name.as_str()))
        .map(|name| format!("{} must not depend on {name}", layer.name))
        .collect()
}

fn forbidden(layer: &Layer, below: &[String]) -> Vec<String> {
    below
        .iter()
        .filter(|name| is_one_of(layer.never, name))
        .map(|name| format!("{} must not know {name}", layer.name))
        .collect()
}

/// Whether a crate is one of these, or part of their family.
fn is_one_of(families: &[&str], name: &str) -> bool {
    families.iter().any(|family| {
        let rest = name.strip_prefix(family);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })
}

#[cfg(test)]
mod tests {
    use super::{Layer, forbidden, names, upward};

    const LAYER: Layer = Layer {
        name: "middle",
        on: &["low"],
        never: &["engine"],
    };

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_are_the_first_words_of_a_tree_once_each() {
        let tree = "middle v0.1.0 (/somewhere)\nlow v0.1.0\n\n[dev-dependencies]\nlow v0.1.0 (*)\n";
        assert_eq!(names(tree), owned(&["low", "middle"]));
    }

    #[test]
    fn an_arrow_upwards_is_named() {
        let members = owned(&["low", "middle", "high"]);
        let wrong = upward(
            &LAYER,
            &owned(&["high", "low", "middle", "bytes"]),
            &members,
        );
        assert_eq!(wrong, ["middle must not depend on high"]);
    }

    #[test]
    fn a_forbidden_family_is_found_by_its_name_and_by_its_parts() {
        let below = owned(&["engine", "engine-core", "engineer", "low"]);
        assert_eq!(
            forbidden(&LAYER, &below),
            [
                "middle must not know engine",
                "middle must not know engine-core"
            ]
        );
    }
}
