//! Recordings in a session that an engine has already.

use std::sync::Arc;

use datafusion::prelude::{SessionConfig, SessionContext};
use segue_chunk::ChunkSource;
use segue_error::{Error, ErrorCode, Result};
use segue_segment_stream::SegmentStreamOptions;

use crate::catalog::SegueCatalog;
use crate::function;

/// Name of the catalog of recordings where none is chosen.
pub const DEFAULT_CATALOG: &str = "segue";

/// Adds the recordings of `source` to an engine's own session as the catalog `catalog_name`, and Segue's
/// settings (`SET segue_stream.…`) to its configuration.
///
/// The session's default catalog stays what it is, so a table needs its full name there:
/// `segue.robots.log_time`. The function `segment_stream('robots', 'log_time', …)` reads this catalog, too. Returns the
/// catalog, to [refresh](SegueCatalog::refresh) before listings, and before the function is planned.
///
/// `name_clash` when the session has a catalog of that name that is not Segue's; one of Segue's own is
/// replaced.
pub async fn install(
    context: &SessionContext,
    source: Arc<dyn ChunkSource>,
    catalog_name: &str,
) -> Result<Arc<SegueCatalog>> {
    let present = context.catalog(catalog_name);
    if present.is_some_and(|present| !present.is::<SegueCatalog>()) {
        return Err(Error::new(
            ErrorCode::NameClash,
            "session.install",
            format!("the session already has another catalog '{catalog_name}'"),
        )
        .with_fact("catalog", catalog_name));
    }
    let catalog = Arc::new(SegueCatalog::connect(source).await?);
    {
        let state = context.state_ref();
        let mut state = state.write();
        configure(state.config_mut());
        function::register(&mut state, Arc::clone(catalog.listing()))?;
    }
    context.register_catalog(catalog_name, Arc::clone(&catalog) as _);
    Ok(catalog)
}

/// Makes Segue's settings known to `config`, keeping those that are there.
pub(crate) fn configure(config: &mut SessionConfig) {
    let extensions = &mut config.options_mut().extensions;
    if extensions.get::<SegmentStreamOptions>().is_none() {
        extensions.insert(SegmentStreamOptions::default());
    }
}
