//! How to get at a catalog server.

use std::path::PathBuf;

use clap::Args;

/// What a catalog server may want beside its address.
#[derive(Args, Debug)]
pub(crate) struct Connection {
    /// File with the token that the catalog server wants. Without it, the environment variable SEGUE_TOKEN
    /// is used, if it is set.
    #[arg(
        long,
        value_name = "FILE",
        requires = "catalog",
        help_heading = "Source"
    )]
    pub(crate) token_file: Option<PathBuf>,

    /// File with certificates (PEM) to trust beside those of the system.
    #[arg(
        long,
        value_name = "FILE",
        requires = "catalog",
        help_heading = "Source"
    )]
    pub(crate) ca_certificate: Option<PathBuf>,
}
