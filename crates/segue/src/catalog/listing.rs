//! What is known of a source without asking it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use futures::{StreamExt, stream};
use segue_chunk::{ChunkSource, DatasetSchema};
use segue_error::Result;

use super::PUBLIC_SCHEMA;

/// Datasets whose columns are asked for at the same time.
const CONCURRENT_SCHEMAS: usize = 8;

type Datasets = BTreeMap<String, Option<Arc<DatasetSchema>>>;

/// A source and the last answer it gave about its datasets.
///
/// Read by the synchronous half of DataFusion's catalog traits, which must neither wait nor fail.
pub(crate) struct Listing {
    source: Arc<dyn ChunkSource>,
    /// `None` for a dataset whose columns were not asked for yet, or could not be read.
    datasets: RwLock<Datasets>,
}

impl Listing {
    /// Asks for the names of the datasets, not for their columns: that may cost a read of every file.
    pub(crate) async fn connect(source: Arc<dyn ChunkSource>) -> Result<Self> {
        let names = source.datasets().await?;
        let mut datasets: Datasets = names.into_iter().map(|name| (name, None)).collect();
        // The one dataset that a schema of ours hides: its columns are needed to tell who looks for it.
        if let Some(hidden) = datasets.get_mut(PUBLIC_SCHEMA) {
            *hidden = source.schema(PUBLIC_SCHEMA).await.ok();
        }
        Ok(Self {
            source,
            datasets: RwLock::new(datasets),
        })
    }

    pub(crate) async fn refresh(&self) -> Result<()> {
        let names = self.source.datasets().await?;
        let datasets = stream::iter(names)
            .map(|name| async move {
                let schema = self.source.schema(&name).await;
                if let Err(error) = &schema {
                    tracing::warn!(dataset = name, error = %error.log_view(), "dataset is not listed");
                }
                (name, schema.ok())
            })
            .buffer_unordered(CONCURRENT_SCHEMAS)
            .collect()
            .await;
        // The map is replaced as a whole, so a panic elsewhere cannot leave half of one behind.
        *self
            .datasets
            .write()
            .unwrap_or_else(PoisonError::into_inner) = datasets;
        Ok(())
    }

    pub(crate) fn source(&self) -> &Arc<dyn ChunkSource> {
        &self.source
    }

    /// Names of the datasets, ascending.
    pub(crate) fn datasets(&self) -> Vec<String> {
        self.read(|datasets| datasets.keys().cloned().collect())
    }

    pub(crate) fn has_dataset(&self, name: &str) -> bool {
        self.read(|datasets| datasets.contains_key(name))
    }

    /// Columns of a dataset, where the last refresh could read them.
    pub(crate) fn schema(&self, dataset: &str) -> Option<Arc<DatasetSchema>> {
        self.read(|datasets| datasets.get(dataset).cloned().flatten())
    }

    fn read<T>(&self, read: impl FnOnce(&Datasets) -> T) -> T {
        read(&self.datasets.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("source", &self.source)
            .field("datasets", &self.datasets())
            .finish()
    }
}
