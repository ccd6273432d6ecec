//! A server that runs while it is needed.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::DATASETS;
use super::limits::{Limits, limited};
use super::peer::{self, Peer};
use crate::Outcome;
use crate::process::{command, output, root};

const LIMITS: Limits = Limits {
    seconds: 240,
    gibibytes: 8,
};

/// How long a server may take until it tells its address, or answers.
const READY: Duration = Duration::from_secs(30);

/// Lines of its output that are shown when something failed.
const SHOWN: usize = 40;

/// A running server; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Reads what it prints, to the end; gives the last lines.
    reading: Option<JoinHandle<VecDeque<String>>>,
    /// Where it listens, for clients.
    pub(crate) url: String,
}

/// Starts a real server.
pub(super) fn real(peer: &Peer) -> Result<Server, String> {
    let mut serve = peer.rerun(LIMITS)?;
    serve.args(["server", "--host", "127.0.0.1", "--port", "0"]);
    for dataset in DATASETS {
        serve.args(["--dataset", dataset]);
    }
    start(&format!("rerun-{}", peer.version), serve)
}

/// Starts `segue serve`.
pub(super) fn segue() -> Result<Server, String> {
    let mut serve = limited(LIMITS, root().join("target/debug/segue"));
    serve
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(DATASETS);
    start("segue", serve)
}

/// Starts a server that tells its address, and waits until it answers.
pub(crate) fn start(name: &str, mut serve: Command) -> Result<Server, String> {
    let logs = peer::folder().join("logs");
    fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    let log = logs.join(format!("{name}.log"));
    let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut child = serve
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let (told, tells) = channel();
    let reading = child
        .stdout
        .take()
        .map(|printed| thread::spawn(move || read(printed, file, &told)));
    let mut server = Server {
        child,
        reading,
        url: String::new(),
    };
    // It also fails when the server ends without having told.
    let address = tells.recv_timeout(READY);
    let ready = address
        .map_err(|_| "tells no address".to_owned())
        .and_then(|address| Ok((address, version(address)?)));
    match ready {
        Ok((address, version)) => {
            println!("{name} at {address}: {version}");
            server.url = format!("rerun+http://{address}");
            Ok(server)
        }
        Err(why) => {
            let (_, words) = server.stop();
            Err(last_words(&format!("{name} {why}"), words))
        }
    }
}

/// Copies what a server prints into its log, and tells the first address in it.
fn read(printed: ChildStdout, mut log: File, told: &Sender<SocketAddr>) -> VecDeque<String> {
    let mut last = VecDeque::new();
    for line in BufReader::new(printed).split(b'\n') {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line).into_owned();
        // A log that cannot be written must not stop the reading: the server would wait for us.
        let _ = writeln!(log, "{line}");
        if let Some(address) = address(&line) {
            let _ = told.send(address);
        }
        if last.len() == SHOWN {
            last.pop_front();
        }
        last.push_back(line);
    }
    last
}

/// The address in a line that tells one.
fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("rerun+http://")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// What the server says it is.
fn version(address: SocketAddr) -> Result<String, String> {
    let wrong = |error: std::io::Error| format!("does not tell its version: {error}");
    let mut stream = TcpStream::connect_timeout(&address, READY).map_err(wrong)?;
    stream.set_read_timeout(Some(READY)).map_err(wrong)?;
    let request = format!("GET /version HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(wrong)?;
    let mut answer = String::new();
    let mut stream = stream.take(64 * 1024);
    stream.read_to_string(&mut answer).map_err(wrong)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200") => {
            // What follows says how it was built.
            Ok(body.split(" (").next().unwrap_or(body).trim().to_owned())
        }
        _ => Err(format!("does not tell its version: {answer}")),
    }
}

impl Server {
    /// Ends the server, and passes an outcome on; as a failure with the server's last words. Not to
    /// end well when asked is a failure, too.
    pub(crate) fn end(mut self, outcome: Outcome) -> Outcome {
        let (status, words) = self.stop();
        outcome
            .and_then(|()| match status {
                Some(status) if status.success() => Ok(()),
                status => Err(format!("{} ended with {status:?}", self.url)),
            })
            .map_err(|why| last_words(&why, words))
    }

    /// Asks it to end, and waits until it has; gives how it ended, and its last lines.
    fn stop(&mut self) -> (Option<ExitStatus>, VecDeque<String>) {
        let Some(reading) = self.reading.take() else {
            return (None, VecDeque::new());
        };
        let id = self.child.id().to_string();
        if output(&mut command("kill", &["-TERM", &id])).is_err() {
            // Nobody to ask: it has ended, or will not be asked.
            let _ = self.child.kill();
        }
        // Bounded: see `limited`.
        let status = self.child.wait().ok();
        (status, reading.join().unwrap_or_default())
    }
}

fn last_words(why: &str, words: VecDeque<String>) -> String {
    let words = Vec::from(words).join("\n");
    format!("{why}\nthe server's last words, all are in target/interop/logs:\n{words}")
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_is_found_in_a_line_that_tells_one() {
        let told = Some(([127, 0, 0, 1], 4711).into());
        assert_eq!(
            address("use this address: rerun+http://127.0.0.1:4711"),
            told
        );
        assert_eq!(address("rerun+http://127.0.0.1:4711"), told);
    }

    #[test]
    fn other_lines_have_no_address() {
        assert_eq!(address("Listening"), None);
        assert_eq!(address("rerun+http://localhost:port"), None);
    }
}
