//! What is known of a source without asking it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use segue_chunk::{ChunkSource, DatasetSchema, suggestion};
use segue_error::{Error, ErrorCode, Result};
use tokio::time::timeout;

use super::PUBLIC_SCHEMA;

/// Datasets whose columns are asked for at the same time.
const CONCURRENT_SCHEMAS: usize = 32;

/// How long a listing waits for the columns of one dataset.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known of a dataset.
#[derive(Clone, Debug)]
enum Known {
    /// That it is there.
    Name,
    /// Its columns.
    Columns(Arc<DatasetSchema>),
    /// Why its columns are not known.
    Unreadable(Error),
}

type Datasets = BTreeMap<String, Known>;

/// A source and the last answers it gave about its datasets.
///
/// Read by the synchronous half of DataFusion's catalog traits, which must neither wait nor fail.
pub(crate) struct Listing {
    source: Arc<dyn ChunkSource>,
    patience: Duration,
    datasets: RwLock<Datasets>,
}

impl Listing {
    /// Asks for the names of the datasets, not for their columns: that may cost a read of every file.
    pub(crate) async fn connect(source: Arc<dyn ChunkSource>) -> Result<Self> {
        let names = source.datasets().await?;
        let listing = Self {
            source,
            patience: PATIENCE,
            datasets: RwLock::new(names.into_iter().map(|name| (name, Known::Name)).collect()),
        };
        // The one dataset that a schema of ours hides: its columns are needed to tell who looks for it.
        if listing.has_dataset(PUBLIC_SCHEMA) {
            let (name, known) = listing.ask(PUBLIC_SCHEMA.to_owned()).await;
            listing.write(|datasets| datasets.insert(name, known));
        }
        Ok(listing)
    }

    /// Waits no longer than this for the columns of one dataset.
    #[cfg(test)]
    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Asks for the names of the datasets. What is known of those that are still there stays.
    pub(crate) async fn refresh_names(&self) -> Result<()> {
        let names = self.source.datasets().await?;
        self.write(|datasets| {
            let mut known = std::mem::take(datasets);
            let names = names.into_iter().map(|name| {
                let known = known.remove(&name).unwrap_or(Known::Name);
                (name, known)
            });
            *datasets = names.collect();
        });
        Ok(())
    }

    /// Asks for the names of the datasets and the columns of each. One that cannot be read does not keep the others
    /// from being listed; nor does one that does not answer.
    pub(crate) async fn refresh(&self) -> Result<()> {
        let names = self.source.datasets().await?;
        let found = stream::iter(names).map(|name| self.ask(name));
        let found: Datasets = found.buffer_unordered(CONCURRENT_SCHEMAS).collect().await;
        // The map is replaced as a whole, so a panic elsewhere cannot leave half of one behind.
        self.write(|datasets| *datasets = found);
        Ok(())
    }

    /// Asks for the columns of the datasets `names`; the first error where one cannot be read.
    pub(crate) async fn load(&self, names: BTreeSet<String>) -> Result<()> {
        let found = stream::iter(names).map(|name| async move {
            let columns = self.source.schema(&name).await?;
            Ok::<_, Error>((name, Known::Columns(columns)))
        });
        let found: Datasets = found.buffered(CONCURRENT_SCHEMAS).try_collect().await?;
        self.write(|datasets| datasets.extend(found));
        Ok(())
    }

    async fn ask(&self, name: String) -> (String, Known) {
        let columns = timeout(self.patience, self.source.schema(&name)).await;
        let error = match columns {
            Ok(Ok(columns)) => return (name, Known::Columns(columns)),
            Ok(Err(error)) => error,
            Err(_) => {
                let message = format!("the columns of dataset '{name}' did not come in time");
                Error::new(ErrorCode::TransportUnavailable, "catalog.refresh", message)
                    .with_fact("dataset", name.as_str())
            }
        };
        tracing::warn!(dataset = name, error = %error.log_view(), "dataset cannot be read");
        (name, Known::Unreadable(error))
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

    /// Columns of a dataset, where they are known.
    pub(crate) fn schema(&self, dataset: &str) -> Option<Arc<DatasetSchema>> {
        self.known(dataset).ok()
    }

    /// Columns of a dataset. `unknown_dataset` where there is none of that name, `dataset_not_loaded` where its columns
    /// were not asked for yet, and why they could not be read where they were.
    pub(crate) fn known(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        let error = |code, message| {
            Err(Error::new(code, "catalog.dataset", message).with_fact("dataset", dataset))
        };
        self.read(|datasets| match datasets.get(dataset) {
            Some(Known::Columns(columns)) => Ok(Arc::clone(columns)),
            Some(Known::Unreadable(error)) => Err(error.clone()),
            Some(Known::Name) => error(
                ErrorCode::DatasetNotLoaded,
                format!(
                    "the columns of dataset '{dataset}' were not asked for yet; the catalog has to be refreshed \
                     before a function reads it"
                ),
            ),
            None => {
                let names: Vec<&str> = datasets.keys().map(String::as_str).collect();
                let hint = suggestion(dataset, &names);
                let message = format!("no dataset '{dataset}'{hint}");
                error(ErrorCode::UnknownDataset, message)
            }
        })
    }

    /// The datasets that the last answers say cannot be read, and why.
    pub(crate) fn unreadable(&self) -> Vec<(String, Error)> {
        self.read(|datasets| {
            let unreadable = datasets.iter().filter_map(|(name, known)| match known {
                Known::Unreadable(error) => Some((name.clone(), error.clone())),
                _ => None,
            });
            unreadable.collect()
        })
    }

    fn read<T>(&self, read: impl FnOnce(&Datasets) -> T) -> T {
        read(&self.datasets.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut Datasets) -> T) -> T {
        write(
            &mut self
                .datasets
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        )
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

#[cfg(test)]
mod tests {
    use arrow::array::RecordBatch;
    use async_trait::async_trait;
    use segue_chunk::testing::ScriptedSource;
    use segue_chunk::{ChunkInfo, ChunkStream, PlanRequest, TextSet};

    use super::*;

    /// Two datasets; one never answers.
    #[derive(Debug)]
    struct Silent(ScriptedSource);

    #[async_trait]
    impl ChunkSource for Silent {
        async fn datasets(&self) -> Result<Vec<String>> {
            Ok(vec!["good".to_owned(), "silent".to_owned()])
        }

        async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
            if dataset == "silent" {
                std::future::pending::<()>().await;
            }
            self.0.schema(dataset).await
        }

        async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
            self.0.plan(request).await
        }

        async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
            self.0.segment_table(dataset, segments).await
        }

        fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
            self.0.fetch(dataset, chunks)
        }
    }

    #[tokio::test]
    async fn a_dataset_that_does_not_answer_is_not_waited_for() {
        let source = Silent(ScriptedSource::new().dataset("good", []));
        let listing = Listing::connect(Arc::new(source)).await.unwrap();
        let not_loaded = listing.known("good").unwrap_err();
        assert_eq!(not_loaded.code(), ErrorCode::DatasetNotLoaded);
        // What has its answer at once needs no patience.
        let listing = listing.with_patience(Duration::ZERO);
        listing.refresh().await.unwrap();
        listing.known("good").unwrap();
        let error = listing.known("silent").unwrap_err();
        assert_eq!(error.code(), ErrorCode::TransportUnavailable);
        assert_eq!(listing.unreadable().len(), 1);
        let error = listing.known("goood").unwrap_err();
        assert!(error.message().contains("did you mean 'good'?"), "{error}");
    }
}
