//! Where recordings come from.

use clap::Args;

use super::recordings::recordings_parser;
use super::{Connection, Recordings};

/// Where recordings come from, and what is needed to get there.
#[derive(Args, Debug)]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    pub(crate) origin: Origin,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Folders or a catalog server.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct Origin {
    /// Folder of recordings: each sub-folder with recordings is a dataset named after it, recordings in
    /// the folder itself are one named after the folder. NAME=DIR takes all below DIR as one dataset.
    /// May be given several times. Write ./A=B for a folder that is called A=B.
    #[arg(
        long,
        value_name = "DIR|NAME=DIR",
        value_parser = recordings_parser(),
        help_heading = "Source"
    )]
    pub(crate) recordings: Vec<Recordings>,

    /// Catalog server: rerun+http://HOST:PORT (plain), rerun+https://HOST:PORT or rerun://HOST:PORT (TLS).
    #[arg(long, value_name = "URL", help_heading = "Source")]
    pub(crate) catalog: Option<String>,
}
