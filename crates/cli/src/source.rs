//! Where a command reads.

use std::sync::Arc;

use segue::chunk::ChunkSource;
use segue::client::RemoteSource;
use tokio::task::spawn_blocking;

use crate::args::{Recordings, SourceArgs};
use crate::exit::Failure;
use crate::secret;

/// Opens the folders, or connects to the catalog.
pub(crate) async fn open(args: &SourceArgs) -> Result<Arc<dyn ChunkSource>, Failure> {
    let Some(url) = &args.origin.catalog else {
        let recordings = args.origin.recordings.clone();
        // Lists the files of the folders.
        let source = blocking(move || Ok(Recordings::open(&recordings)?)).await?;
        return Ok(Arc::new(source));
    };
    let mut builder = RemoteSource::builder(url);
    let file = args.connection.token_file.clone();
    if let Some(token) = blocking(move || secret::token(file.as_deref())).await? {
        builder = builder.token(token);
    }
    if let Some(file) = args.connection.ca_certificate.clone() {
        builder = builder.ca_certificate(blocking(move || secret::read(&file)).await?);
    }
    Ok(Arc::new(builder.connect().await?))
}

/// Does `work` where a file system that does not answer keeps nobody from being interrupted.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let outcome = spawn_blocking(work).await;
    outcome.unwrap_or_else(|error| Err(Failure::Message(format!("the work broke off: {error}"))))
}
