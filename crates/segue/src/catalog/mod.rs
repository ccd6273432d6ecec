//! Recordings as a DataFusion catalog: schemas are datasets, tables are indexes.

mod dataset;
mod listing;
mod public;

use std::sync::Arc;

use datafusion::catalog::{CatalogProvider, SchemaProvider};
use segue_chunk::ChunkSource;
use segue_error::Result;

use dataset::DatasetTables;
pub(crate) use dataset::read_only;
use listing::Listing;
use public::PublicTables;

/// Name of the writable schema for the views and tables of the user.
pub const PUBLIC_SCHEMA: &str = "public";

/// Name of the table, one in every dataset, that has no index: one row of static values per segment.
pub const STATIC_TABLE: &str = "_static";

/// A catalog over a [`ChunkSource`].
///
/// Each dataset is a schema, each of its indexes a table: `robots.log_time`. The table `_static` of a
/// dataset has no index. The schema `public` is writable and belongs to the user; a dataset of that name
/// cannot be read by name, and says so when somebody tries.
///
/// Planning a query over a table asks the source for that dataset's columns and nothing else. Listings
/// (`SHOW TABLES`, `information_schema`) cannot wait for a source, so they show what the last
/// [`refresh`](Self::refresh) saw. [`SegueSession::sql`](crate::SegueSession::sql) refreshes before a
/// listing by itself; in an engine's own session the engine decides when.
#[derive(Debug)]
pub struct SegueCatalog {
    listing: Arc<Listing>,
    public: Arc<PublicTables>,
}

impl SegueCatalog {
    /// A catalog over `source`; asks it for the names of its datasets.
    pub async fn connect(source: Arc<dyn ChunkSource>) -> Result<Self> {
        let listing = Arc::new(Listing::connect(source).await?);
        let public = Arc::new(PublicTables::new(Arc::clone(&listing)));
        Ok(Self { listing, public })
    }

    /// Asks the source again for its datasets, and for the columns of each, so that listings are current.
    ///
    /// A dataset that cannot be read stays in the list and has no tables there; the reason comes when it
    /// is queried. Fails only when the datasets themselves cannot be listed.
    pub async fn refresh(&self) -> Result<()> {
        self.listing.refresh().await
    }
}

impl CatalogProvider for SegueCatalog {
    fn schema_names(&self) -> Vec<String> {
        let mut names = self.listing.datasets();
        names.retain(|name| name != PUBLIC_SCHEMA);
        names.push(PUBLIC_SCHEMA.to_owned());
        names.sort_unstable();
        names
    }

    /// A schema for every name, also an unknown one: only its tables can answer with an error that says
    /// what exists, and a dataset may have appeared since the names were listed.
    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        if name == PUBLIC_SCHEMA {
            return Some(Arc::clone(&self.public) as _);
        }
        Some(Arc::new(DatasetTables::new(
            name,
            Arc::clone(&self.listing),
        )))
    }
}
