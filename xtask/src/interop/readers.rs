//! The golden cases by the official client.

use super::limits::{Limits, shown};
use super::peer::Peer;
use super::server;
use crate::Outcome;

const LIMITS: Limits = Limits {
    seconds: 120,
    gibibytes: 16,
};

/// Reads from the real server of the client's version, which shows that the script is right, and
/// from Segue's.
pub(super) fn run(peer: &Peer) -> Outcome {
    let real = server::real(peer)?;
    let segue = server::segue()?;
    let outcome = read(peer, [&real.url, &segue.url]);
    segue.end(outcome)?;
    real.end(Ok(()))
}

fn read(peer: &Peer, urls: [&str; 2]) -> Outcome {
    let mut python = peer.python(LIMITS)?;
    python.args(["xtask/interop/readers.py", "crates/segue/tests/golden"]);
    let printed = shown(python.args(urls))?;
    // Ending well is not enough: all have to be read.
    let all = |url: &str| printed.contains(&format!("{url}: 44 cases, 9 tables, 0 differences"));
    match urls.into_iter().find(|url| !all(url)) {
        None => Ok(()),
        Some(url) => Err(format!("not all cases were read from {url}")),
    }
}
