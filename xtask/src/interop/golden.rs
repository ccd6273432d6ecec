//! The golden cases in SQL, over a real server.

use super::limits::{Limits, limited, shown};
use super::peer::Peer;
use super::server;
use crate::Outcome;
use crate::tools;

const LIMITS: Limits = Limits {
    seconds: 180,
    gibibytes: 64,
};

/// Names the server to the test.
const VARIABLE: &str = "SEGUE_GOLDEN_CATALOG";

/// Runs the test that reads from the catalog which the environment names, and makes sure that it
/// did.
pub(super) fn run(peer: &Peer) -> Outcome {
    let server = server::real(peer)?;
    let outcome = test(&server.url);
    server.end(outcome)
}

fn test(url: &str) -> Outcome {
    let nextest = tools::NEXTEST.command()?;
    let args = [
        "nextest",
        "run",
        "--locked",
        "--workspace",
        "--no-capture",
        "-E",
        "package(segue) & test(catalog_that_is_named)",
    ];
    let mut test = limited(LIMITS, nextest.get_program());
    let printed = shown(test.args(args).env(VARIABLE, url))?;
    // What the test prints only when it has run all cases.
    let ran = format!("44 cases from {url}");
    match printed.contains(&ran) {
        true => Ok(()),
        false => Err(format!("the test did not say '{ran}'")),
    }
}
