//! Where a query reads.

use std::sync::Arc;

use segue::chunk::ChunkSource;
use segue::client::RemoteSource;
use tokio::task::block_in_place;

use crate::args::{QueryArgs, Recordings};
use crate::exit::Failure;
use crate::secret;

/// Opens the folders, or connects to the catalog.
pub(crate) async fn open(args: &QueryArgs) -> Result<Arc<dyn ChunkSource>, Failure> {
    let Some(url) = &args.origin.catalog else {
        // Lists the files of the folders.
        let source = block_in_place(|| Recordings::open(&args.origin.recordings))?;
        return Ok(Arc::new(source));
    };
    let mut builder = RemoteSource::builder(url);
    if let Some(token) = secret::token(args.connection.token_file.as_deref())? {
        builder = builder.token(token);
    }
    if let Some(file) = &args.connection.ca_certificate {
        builder = builder.ca_certificate(secret::read(file)?);
    }
    Ok(Arc::new(builder.connect().await?))
}
