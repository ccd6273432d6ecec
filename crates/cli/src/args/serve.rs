//! `segue serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::Recordings;
use super::recordings::recordings_parser;

const SERVE_HELP: &str = r#"Prints the address for clients on standard output once it can be used, and serves until Ctrl-C or
SIGTERM: answers that have begun are finished first, for as long as clients take them; a second
Ctrl-C ends at once.

  segue serve examples/recordings
  segue query --catalog rerun+http://127.0.0.1:51234 'SHOW TABLES'

Recordings are read when they are asked for, and never written. The list of files is made at the
start.

Exit status: 0 after Ctrl-C or SIGTERM; 1 after an error; 2 if the command line is wrong; 130 after a
second Ctrl-C."#;

#[derive(Args, Debug)]
#[command(after_help = SERVE_HELP)]
pub(crate) struct ServeArgs {
    /// Folder of recordings: each sub-folder with recordings is a dataset named after it, recordings in
    /// the folder itself are one named after the folder. NAME=DIR takes all below DIR as one dataset.
    #[arg(required = true, value_name = "DIR|NAME=DIR", value_parser = recordings_parser())]
    pub(crate) recordings: Vec<Recordings>,

    /// Address and port; port 0 takes a free one. Others than this machine can connect only to an address
    /// that is not a loopback one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:51234")]
    pub(crate) listen: SocketAddr,

    /// File with a token that clients must send. Without it, the environment variable SEGUE_TOKEN is used,
    /// if it is set; else everybody who can connect can read.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// File with the certificate chain (PEM) of the server, for TLS.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,

    /// File with the private key (PEM) of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
}
