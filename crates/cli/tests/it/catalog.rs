//! Serving, and reading what is served.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use segue_chunk::Compression;
use segue_chunk::testing::{ChunkBuilder, RecordingWriter};
use tempfile::TempDir;

use crate::{query, repository};

/// A running `segue serve`, killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start<S: AsRef<OsStr>>(args: &[S]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_segue"))
            .arg("serve")
            .args(["--listen", "127.0.0.1:0"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut url).unwrap();
        let url = url.trim_end().to_owned();
        Self { child, url }
    }

    fn address(&self) -> &str {
        self.url.rsplit('/').next().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A query of a catalog.
pub(crate) fn catalog(url: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command
        .args(["query", "--catalog", url])
        .args(more)
        .env_remove("SEGUE_TOKEN")
        .stdin(Stdio::null());
    command
}

/// Checks that the query failed with one line that has all of `words` in it, and gives the line.
fn fails(output: &Output, words: &[&str]) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("error: "), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word} is not in: {stderr}");
    }
    stderr
}

const COUNT: &str = "SELECT count(*) AS n FROM robots.frame_nr";

#[test]
fn a_catalog_gives_the_bytes_that_a_folder_gives() {
    let examples = repository("examples/recordings");
    let server = Server::start(&[&examples]);
    for sql in [
        COUNT,
        "SHOW TABLES",
        "SELECT * FROM robots.frame_nr ORDER BY rerun_segment_id, frame_nr",
        "SELECT * FROM robots.log_time ORDER BY rerun_segment_id, log_time",
        "SELECT * FROM robots._static ORDER BY rerun_segment_id",
        "SELECT * FROM drive.message_log_time ORDER BY rerun_segment_id, message_log_time",
        "SELECT * FROM robots.time WHERE rerun_segment_id = 'ooo_0' AND time > '2025-01-01T00:00:01'",
    ] {
        for format in ["csv", "table"] {
            let more = ["--format", format, sql];
            let folder = query(&[&examples], &more);
            let served = catalog(&server.url, &more).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&served.stderr), "", "{sql}");
            assert_eq!(folder.status.code(), Some(0), "{sql}");
            assert!(folder.stdout.len() > 5, "{sql}");
            assert!(folder.stdout == served.stdout, "{sql} as {format}");
        }
    }
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let server = Server::start(&[repository("examples/recordings")]);
    for (sql, words) in [
        ("SELECT * FROM robot.frame_nr", ["'robot'", "'robots'"]),
        ("SELECT * FROM robots.frame", ["'frame'", "'frame_nr'"]),
    ] {
        fails(&catalog(&server.url, &[sql]).output().unwrap(), &words);
    }
}

#[test]
fn nobody_answers_at_the_address() {
    // A port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let url = format!("rerun+http://{address}");
    let output = catalog(&url, &[COUNT]).output().unwrap();
    fails(&output, &[&address, "refused"]);
}

/// A server that answers every connection with `answer`, and then with the end of it.
fn answering(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Ends with the process of the test.
    thread::spawn(move || {
        for stream in listener.incoming().take(100) {
            let mut stream = stream.unwrap();
            let mut request = [0; 16];
            // Who goes away early gets no answer.
            let _ = stream.read_exact(&mut request);
            let _ = stream.write_all(answer);
        }
    });
    address.to_string()
}

#[test]
fn somebody_else_answers_at_the_address() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"[..],
        b"220 mail.example.com ESMTP\r\n",
        &[0xa5; 4096],
        b"",
    ] {
        let address = answering(answer);
        let output = catalog(&format!("rerun+http://{address}"), &[COUNT]);
        fails(&{ output }.output().unwrap(), &[&address]);
    }
}

#[test]
fn tls_is_not_spoken_where_it_is_expected() {
    let server = Server::start(&[repository("examples/recordings")]);
    let address = server.address();
    let output = catalog(&format!("rerun://{address}"), &[COUNT]);
    fails(&{ output }.output().unwrap(), &[address, "TLS"]);
}

#[test]
fn a_certificate_that_is_trusted_opens_an_encrypted_catalog() {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: String| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let certificate = file("certificate", made.cert.pem());
    let key = file("key", made.signing_key.serialize_pem());
    let examples = repository("examples/recordings");
    let args: [&OsStr; 5] = [
        "--tls-certificate".as_ref(),
        certificate.as_ref(),
        "--tls-key".as_ref(),
        key.as_ref(),
        examples.as_ref(),
    ];
    let server = Server::start(&args);
    assert!(server.url.starts_with("rerun+https://"), "{}", server.url);

    let trusting = ["--ca-certificate", &certificate, COUNT];
    let opened = catalog(&server.url, &trusting).output().unwrap();
    let stderr = String::from_utf8_lossy(&opened.stderr);
    assert_eq!(opened.status.code(), Some(0), "{stderr}");
    let refused = catalog(&server.url, &[COUNT]).output().unwrap();
    fails(&refused, &[server.address(), "certificate is not trusted"]);

    let plain = format!("rerun+http://{}", server.address());
    let useless = catalog(&plain, &trusting).output().unwrap();
    fails(&useless, &[&plain, "without TLS"]);
    let wrong = catalog(&server.url, &["--ca-certificate", &key, COUNT]).output();
    fails(&wrong.unwrap(), &["certificate"]);
}

#[test]
fn an_address_must_be_one() {
    for url in [
        "localhost:51234",
        "http://localhost",
        "rerun+http://",
        "ftp://x",
    ] {
        let output = catalog(url, &[COUNT]).output().unwrap();
        fails(&output, &[url, "rerun+http://"]);
    }
}

#[test]
fn the_token_opens_the_catalog_and_no_other_does() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let right = file("right", "open-sesame\n");
    let wrong = file("wrong", "open-barley");
    let empty = file("empty", "\n");
    let examples = repository("examples/recordings");
    let args: [&OsStr; 3] = ["--token-file".as_ref(), right.as_ref(), examples.as_ref()];
    let server = Server::start(&args);

    let opened = catalog(&server.url, &["--token-file", &right, COUNT])
        .output()
        .unwrap();
    assert_eq!(opened.status.code(), Some(0));
    let opened = catalog(&server.url, &[COUNT])
        .env("SEGUE_TOKEN", "open-sesame")
        .output()
        .unwrap();
    assert_eq!(opened.status.code(), Some(0));

    let refused = catalog(&server.url, &["--token-file", &wrong, COUNT])
        .output()
        .unwrap();
    let line = fails(&refused, &["token", server.address()]);
    assert!(!line.contains("barley"), "{line}");
    fails(
        &catalog(&server.url, &[COUNT]).output().unwrap(),
        &["token"],
    );
    fails(
        &catalog(&server.url, &["--token-file", &empty, COUNT])
            .output()
            .unwrap(),
        &[&empty],
    );
}

/// Writes a recording whose chunks are more than what a query reads ahead.
fn write_large(folder: &Path) {
    const ROWS: i64 = 32;
    let writer = RecordingWriter::new().compression(Compression::None);
    (0..24)
        .fold(writer, |writer, at| {
            let list = || Some(vec![at as f64; 8192]);
            let chunk = ChunkBuilder::new("large", "/lidar")
                .id(at as u64 + 1)
                .sequence("frame", at * ROWS..(at + 1) * ROWS)
                .lists("Scan:ranges", (0..ROWS).map(|_| list()))
                .build();
            writer.chunk(&chunk)
        })
        .write(folder.join("large.rrd"));
}

#[test]
fn a_server_that_dies_during_a_query_is_one_line() {
    let dir = TempDir::new().unwrap();
    write_large(dir.path());
    let mut server = Server::start(&[format!("big={}", dir.path().display())]);
    let sql = "SELECT * FROM big.frame";
    let mut child = catalog(&server.url, &["--format", "csv", sql])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Rows have come; the pipe is full soon, and the query waits with most of the recording unread.
    let mut start = [0; 16];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut start)
        .unwrap();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let output = child.wait_with_output().unwrap();
    fails(&output, &[server.address()]);
}

#[cfg(unix)]
#[test]
fn a_server_ends_when_it_is_told_to() {
    for signal in ["-INT", "-TERM"] {
        let mut server = Server::start(&[repository("examples/recordings")]);
        let kill = Command::new("kill")
            .args([signal, &server.child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
        let output = catalog(&server.url, &[COUNT]).output().unwrap();
        fails(&output, &[server.address()]);
    }
}

#[test]
fn a_dataset_whose_name_clients_refuse_is_left_out_with_a_warning() {
    let dir = TempDir::new().unwrap();
    for name in ["fine", "na\u{ef}ve"] {
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        write_large(&folder);
    }
    let mut server = Server::start(&[dir.path()]);
    let tables = catalog(&server.url, &["--format", "csv", "SHOW TABLES"]);
    let tables = String::from_utf8({ tables }.output().unwrap().stdout).unwrap();
    assert!(
        tables.contains(",fine,") && !tables.contains("ve,"),
        "{tables}"
    );
    server.child.kill().unwrap();
    let mut stderr = String::new();
    let pipe = server.child.stderr.as_mut().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    assert!(
        stderr.starts_with("warning: dataset 'na\u{ef}ve' is left out"),
        "{stderr}"
    );
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let examples = repository("examples/recordings");
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    let output = command
        .arg("serve")
        .arg(&examples)
        .args(["--listen", &address])
        .output();
    fails(&output.unwrap(), &[&address]);

    let dir = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    let output = command.arg("serve").arg(dir.path()).output().unwrap();
    fails(&output, &["no recordings"]);
}
