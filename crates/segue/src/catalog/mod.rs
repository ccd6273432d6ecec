//! Recordings as a DataFusion catalog: schemas are datasets, tables are indexes.

mod dataset;
mod listing;
mod public;

use std::sync::Arc;

use datafusion::catalog::{CatalogProvider, SchemaProvider};
use segue_chunk::ChunkSource;
use segue_error::{Error, Result};

pub(crate) use dataset::read_only;
use dataset::{Columns, DatasetTables};
pub(crate) use listing::Listing;
use public::PublicTables;

/// Name of the writable schema for the views and tables of the user.
pub const PUBLIC_SCHEMA: &str = "public";

/// Name of the table, one in every dataset, that has no index: one row of static values per segment.
pub const STATIC_TABLE: &str = "_static";

/// Name of the table, one in every dataset, that has a row per segment.
pub const SEGMENTS_TABLE: &str = "_segments";

/// Name of the table, one in every dataset, that has a row per chunk.
pub const CHUNKS_TABLE: &str = "_chunks";

/// A catalog over a [`ChunkSource`].
///
/// Each dataset is a schema, each of its indexes a table: `robots.log_time`. Every dataset has the tables `_static`
/// (the values without an index), `_segments` and `_chunks` as well. The schema `public` is writable and belongs to
/// the user; a dataset of that name cannot be read by name, and says so when somebody tries.
///
/// Planning a query over a table asks the source for that dataset's columns and nothing else. Listings
/// (`SHOW TABLES`, `information_schema`) and the function `segment_stream` cannot wait for a source, so they show what
/// the last [`refresh`](Self::refresh) saw. [`SegueSession::sql`](crate::SegueSession::sql) asks before it
/// plans, by itself; in an engine's own session the engine decides when.
#[derive(Debug)]
pub struct SegueCatalog {
    listing: Arc<Listing>,
    public: Arc<PublicTables>,
    columns: Columns,
}

impl SegueCatalog {
    /// A catalog over `source`; asks it for the names of its datasets.
    pub async fn connect(source: Arc<dyn ChunkSource>) -> Result<Self> {
        let listing = Arc::new(Listing::connect(source).await?);
        let public = Arc::new(PublicTables::new(Arc::clone(&listing)));
        Ok(Self {
            listing,
            public,
            columns: Columns::Current,
        })
    }

    /// Asks the source for the names of its datasets, ascending.
    pub async fn datasets(&self) -> Result<Vec<String>> {
        self.listing.refresh_names().await?;
        Ok(self.listing.datasets())
    }

    /// The datasets that could not be read when the source was last asked for their columns, and why.
    pub fn unreadable(&self) -> Vec<(String, Error)> {
        self.listing.unreadable()
    }

    /// The same catalog, whose tables have the columns that the last refresh saw: opening them asks nobody, and none that
    /// cannot be read fails a listing.
    pub(crate) fn listed(&self) -> Self {
        Self {
            listing: Arc::clone(&self.listing),
            public: Arc::clone(&self.public),
            columns: Columns::Listed,
        }
    }

    /// What is known of the source.
    pub(crate) fn listing(&self) -> &Arc<Listing> {
        &self.listing
    }

    /// Asks the source again for its datasets, and for the columns of each, so that listings are current.
    ///
    /// A dataset that cannot be read, or whose columns do not come within ten seconds, stays in the list; the reason comes
    /// when it is queried, and from [`unreadable`](Self::unreadable). Fails only when the datasets themselves cannot be
    /// listed.
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
        let listing = Arc::clone(&self.listing);
        Some(Arc::new(DatasetTables::new(name, listing, self.columns)))
    }
}
