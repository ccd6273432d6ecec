//! The command on a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::{Command, open};
use tempfile::TempDir;

use crate::catalog::Server;
use crate::files::names;
use crate::{EXAMPLES, repository};

/// How long a command may show nothing until the test is given up.
const LIMIT: Duration = Duration::from_secs(100);

/// How many parts may be shown until the test is given up: progress that never ends goes on showing.
const PARTS: usize = 1000;

const CTRL_C: &[u8] = b"\x03";

/// A command that runs on a terminal of 80 columns, killed when dropped.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    /// Parts of what is shown that are still looked at.
    left: usize,
    /// Whether it was given up.
    is_late: bool,
}

impl Terminal {
    fn start(args: &[&str]) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(24, 80)).unwrap();
        let command = Command::new(env!("CARGO_BIN_EXE_segue"))
            .args(args)
            .current_dir(repository(""))
            .env("TERM", "xterm");
        let child = command.spawn(pts).unwrap();
        let keyboard = File::from(OwnedFd::from(pty));
        let mut screen = keyboard.try_clone().unwrap();
        let (sender, receiver) = mpsc::channel();
        // Ends with the last process that has the terminal.
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length) = screen.read(&mut buffer) {
                if length == 0 || sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            keyboard,
            screen: receiver,
            seen: String::new(),
            left: PARTS,
            is_late: false,
        }
    }

    /// Waits until `text` was on the screen.
    fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let is_there = self.look();
            assert!(is_there, "'{text}' did not come: {:?}", self.seen);
        }
    }

    /// Waits for more to come. Whether it did: nothing comes from a command that has ended, nor in time from one that
    /// does not end.
    fn look(&mut self) -> bool {
        if self.left == 0 {
            self.is_late = true;
            return false;
        }
        self.left -= 1;
        let part = self.screen.recv_timeout(LIMIT);
        self.is_late = part == Err(RecvTimeoutError::Timeout);
        let text = part.as_deref().map(String::from_utf8_lossy);
        self.seen.push_str(&text.unwrap_or_default());
        part.is_ok()
    }

    fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
    }

    /// Waits until the command ends. Gives its status and all that was on the screen.
    fn end(mut self) -> (ExitStatus, String) {
        while self.look() {}
        assert!(!self.is_late, "it did not end: {:?}", self.seen);
        // It has closed the terminal, which is what it does last.
        let status = self.child.wait().unwrap();
        (status, std::mem::take(&mut self.seen))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn query(more: &[&str]) -> Terminal {
    Terminal::start(&[&["query"], &EXAMPLES[..], more].concat())
}

/// More rows than can be counted.
const LONG: &str = "SELECT sum(a.frame_nr) FROM robots.frame_nr a, robots.frame_nr b, robots.frame_nr c, robots.frame_nr d";

#[test]
fn a_long_query_shows_how_far_it_is_until_ctrl_c_ends_it() {
    let mut terminal = query(&[LONG]);
    terminal.wait_for(" rows, ");
    terminal.wait_for(" chunks");
    terminal.press(CTRL_C);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(130), "{seen:?}");
    // The line is gone, and nothing came after it but the echo of the key.
    let rest = seen.rsplit("\u{1b}[2K").next().unwrap();
    assert!(!rest.contains("rows"), "{seen:?}");
    assert!(!seen.contains("error"), "{seen:?}");
}

#[test]
fn ctrl_c_leaves_no_file_behind() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("x.csv");
    let sql = "SELECT value FROM generate_series(1, 1000000000000)";
    let mut terminal = query(&["-o", file.to_str().unwrap(), sql]);
    terminal.wait_for("running");
    assert_eq!(names(dir.path()).len(), 1);
    assert!(!file.exists());
    terminal.press(CTRL_C);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(130), "{seen:?}");
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_second_ctrl_c_ends_what_the_first_could_not_and_leaves_no_file_either() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("x.csv");
    // Planning computes the constant at once, which nothing can interrupt.
    let sql = "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))";
    let mut terminal = query(&["-o", file.to_str().unwrap(), sql]);
    terminal.wait_for("planning");
    terminal.press(CTRL_C);
    terminal.wait_for("Ctrl-C again ends at once");
    terminal.press(CTRL_C);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(130), "{seen:?}");
    assert!(names(dir.path()).is_empty());
}

#[test]
fn ctrl_c_ends_the_wait_for_sql_that_nobody_types() {
    let mut terminal = query(&[]);
    terminal.wait_for("end it with Ctrl-D");
    terminal.press(CTRL_C);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(130), "{seen:?}");
}

#[test]
fn sql_that_is_typed_is_carried_out() {
    let mut terminal = query(&[]);
    terminal.wait_for("end it with Ctrl-D");
    terminal.press(b"SELECT 6 * 7 AS answer;\n\x04");
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(0), "{seen:?}");
    assert!(
        seen.contains("answer\r\n------\r\n42\r\n(1 row)\r\n"),
        "{seen:?}"
    );
}

#[test]
fn a_table_fits_the_terminal_and_says_what_does_not() {
    let sql = "SELECT * FROM robots.frame_nr ORDER BY 1, frame_nr LIMIT 3";
    let (status, seen) = query(&[sql]).end();
    assert_eq!(status.code(), Some(0), "{seen:?}");
    let table = &seen[seen.find("rerun_segment").unwrap()..];
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 6, "{table}");
    for line in &lines[..5] {
        assert!(line.chars().count() <= 80, "{table}");
    }
    assert!(lines[5].starts_with("(3 rows; "), "{table}");
    assert!(
        lines[5].contains("more columns do not fit the terminal"),
        "{table}"
    );
}

#[test]
fn bytes_are_not_for_a_terminal() {
    for format in ["parquet", "arrow"] {
        let (status, seen) = query(&["--format", format, "SELECT 1"]).end();
        assert_eq!(status.code(), Some(2), "{seen:?}");
        assert!(
            seen.starts_with(&format!("error: {format} is not for a terminal")),
            "{seen:?}"
        );
    }
}

/// Lets nothing through from a server until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn pass(&self) {
        let is_open = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(is_open, |is_open| !*is_open).unwrap());
    }

    /// The address of a proxy for `server`. Its threads end with their connections, or with the test.
    fn before(&self, server: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (gate, server) = (self.clone(), server.to_owned());
        thread::spawn(move || {
            for client in listener.incoming() {
                let (mut client, mut upstream) =
                    (client.unwrap(), TcpStream::connect(&server).unwrap());
                let (mut from, mut to) =
                    (upstream.try_clone().unwrap(), client.try_clone().unwrap());
                let gate = gate.clone();
                thread::spawn(move || {
                    gate.pass();
                    std::io::copy(&mut from, &mut to)
                });
                thread::spawn(move || std::io::copy(&mut client, &mut upstream));
            }
        });
        address
    }
}

#[test]
fn rows_on_a_terminal_are_not_torn_by_progress() {
    let server = Server::start(&[repository("examples/recordings")]);
    let gate = Gate::default();
    let address = gate.before(server.url.rsplit('/').next().unwrap());
    let url = format!("rerun+http://{address}");
    let sql = "SELECT count(*) AS frames FROM robots.frame_nr; SELECT 2 AS two";
    let mut terminal = Terminal::start(&["query", "--catalog", &url, "--timing", sql]);
    terminal.wait_for("connecting");
    gate.open();
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(0), "{seen:?}");
    let (before, rows) = seen.split_once("frames\r\n").unwrap();
    // The line of progress is cleared before the first row, and never comes back.
    assert!(before.ends_with("\u{1b}[2K"), "{seen:?}");
    let lines: Vec<&str> = rows.lines().collect();
    let is_timing =
        |line: &str, number: u8| line.starts_with(&format!("statement {number}: planned in "));
    assert_eq!(lines[..3], ["------", "752", "(1 row)"], "{seen:?}");
    assert!(is_timing(lines[3], 1), "{seen:?}");
    assert_eq!(lines[4..8], ["", "two", "---", "2"], "{seen:?}");
    assert_eq!(lines[8], "(1 row)", "{seen:?}");
    assert!(is_timing(lines[9], 2), "{seen:?}");
    assert_eq!(lines.len(), 10, "{seen:?}");
}
