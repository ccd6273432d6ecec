//! What a newcomer reads.

use insta::assert_snapshot;

use crate::{command, printed};

const COMMANDS: [&str; 6] = [
    "query",
    "datasets",
    "schema",
    "segments",
    "serve",
    "completions",
];

#[test]
fn the_help_is_as_it_was() {
    assert_snapshot!("help", printed(&mut command("--help")));
    for name in COMMANDS {
        assert_snapshot!(format!("help_{name}"), printed(command(name).arg("--help")));
    }
}

#[test]
fn every_command_shows_how_it_is_used() {
    for name in COMMANDS {
        let help = printed(command(name).arg("--help"));
        let example = format!("  segue {name} ");
        assert!(help.contains(&example), "{help}");
    }
}

#[test]
fn a_script_completes_every_command_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(command("completions").arg(shell));
        for name in COMMANDS {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}
