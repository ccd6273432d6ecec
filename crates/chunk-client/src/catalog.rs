//! Names, ids and revisions of datasets.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use segue_chunk::suggestion;
use segue_error::{Error, ErrorCode, Result};
use segue_proto::cloud::{
    DatasetResponseMeta, EntryDetails, EntryFilter, EntryKind, FindEntriesRequest,
    FindEntriesResponse,
};
use segue_proto::common::EntryId;
use tonic::Code;
use tonic::metadata::AsciiMetadataValue;

use crate::connection::{Call, Client, Connection};
use crate::error::Failure;

/// Request header that names a dataset.
const ENTRY_ID: &str = "x-rerun-entry-id";
/// Request header with the revision that an answer must not be older than.
const REVISION: &str = "x-rerun-dataset-revision";

/// How long a server may be behind the revision that it has told us.
const MOST_BEHIND: Duration = Duration::from_secs(10);

/// The datasets of a server, as far as they were asked for.
#[derive(Debug)]
pub(crate) struct Catalog {
    connection: Connection,
    entries: Mutex<BTreeMap<String, Arc<Entry>>>,
}

/// A dataset.
#[derive(Debug)]
pub(crate) struct Entry {
    id: AsciiMetadataValue,
    /// The latest that an answer was about; 0 where the server counts none.
    revision: AtomicU64,
}

impl Entry {
    /// Makes `call` be about the dataset.
    pub(crate) fn scope<'a>(&self, call: Call<'a>) -> Call<'a> {
        let call = call.header(ENTRY_ID, self.id.clone());
        match self.revision.load(Ordering::Relaxed) {
            0 => call,
            revision => call.header(REVISION, revision.into()),
        }
    }

    /// Takes note of the revision of an answer.
    pub(crate) fn saw(&self, meta: Option<DatasetResponseMeta>) {
        let revision = meta.map_or(0, |meta| meta.dataset_revision);
        self.revision.fetch_max(revision, Ordering::Relaxed);
    }
}

impl Catalog {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            entries: Mutex::default(),
        }
    }

    /// Names of all datasets, ascending, asked for now.
    pub(crate) async fn datasets(&self) -> Result<Vec<String>> {
        let request = FindEntriesRequest {
            filter: Some(EntryFilter {
                entry_kinds: vec![EntryKind::Dataset.into()],
                ..EntryFilter::default()
            }),
        };
        let call = self.connection.call("list the datasets");
        let ask = async |mut client: Client, request| client.find_entries(request).await;
        let read = |answer: FindEntriesResponse| {
            let found = answer.entries.into_iter().filter_map(named);
            found.collect::<Result<BTreeMap<String, AsciiMetadataValue>>>()
        };
        let found = call.unary(request, ask, read).await?;
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        // An entry that is still the same keeps its revision.
        entries.retain(|name, entry| found.get(name) == Some(&entry.id));
        let names: Vec<String> = found.keys().cloned().collect();
        for (name, id) in found {
            entries.entry(name).or_insert_with(|| {
                let revision = AtomicU64::new(0);
                Arc::new(Entry { id, revision })
            });
        }
        Ok(names)
    }

    /// Does `read` with the dataset called `name`.
    ///
    /// Asks for the datasets when the name is not known, or the server no longer knows its id;
    /// `unknown_dataset` when there is none. Waits for a server that is behind what it has told us.
    pub(crate) async fn read<T, F>(
        &self,
        name: &str,
        read: impl Fn(Arc<Entry>) -> F + Send + Sync,
    ) -> Result<T>
    where
        F: Future<Output = Result<T, Failure>> + Send,
        T: Send,
    {
        let known = self.known(name);
        let was_known = known.is_some();
        let entry = match known {
            Some(entry) => entry,
            None => self.find(name).await?,
        };
        match patiently(&read, entry).await {
            Err(failure) if failure.is(Code::NotFound) && was_known => {
                let entry = self.find(name).await?;
                let outcome = patiently(&read, entry).await;
                outcome.map_err(|failure| gone(failure, name))
            }
            outcome => outcome.map_err(|failure| gone(failure, name)),
        }
    }

    /// `unknown_dataset` unless there is a dataset called `name`, as far as is known.
    pub(crate) async fn check(&self, name: &str) -> Result<()> {
        match self.known(name) {
            Some(_) => Ok(()),
            None => self.find(name).await.map(|_| ()),
        }
    }

    fn known(&self, name: &str) -> Option<Arc<Entry>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(name).cloned()
    }

    async fn find(&self, name: &str) -> Result<Arc<Entry>> {
        let names = self.datasets().await?;
        self.known(name).ok_or_else(|| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint = suggestion(name, &names);
            let address = self.connection.address();
            let message = format!("no dataset '{name}' at {address}{hint}");
            Error::new(ErrorCode::UnknownDataset, "client.dataset", message)
                .with_fact("dataset", name)
                .with_fact("server", address.to_string())
        })
    }
}

/// Does `read`, and again while the server is behind the revision that it is asked for.
async fn patiently<T, F>(
    read: &(impl Fn(Arc<Entry>) -> F + Send + Sync),
    entry: Arc<Entry>,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let asks_for_one = entry.revision.load(Ordering::Relaxed) > 0;
    let again = |failure: &Failure| asks_for_one && failure.is(Code::FailedPrecondition);
    (|| read(Arc::clone(&entry)))
        .retry(pauses().with_jitter())
        .when(again)
        .await
}

/// Between questions to a server that is behind.
fn pauses() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(1))
        .without_max_times()
        .with_total_delay(Some(MOST_BEHIND))
}

/// The error of a read of the dataset `name`.
fn gone(failure: Failure, name: &str) -> Error {
    if failure.is(Code::NotFound) {
        return failure
            .into_code(ErrorCode::UnknownDataset)
            .with_fact("dataset", name);
    }
    failure.into()
}

/// Name and id of a dataset; `None` for what is something else.
fn named(entry: EntryDetails) -> Option<Result<(String, AsciiMetadataValue)>> {
    if entry.entry_kind() != EntryKind::Dataset {
        return None;
    }
    let name = entry.name?;
    let id = entry.id.as_ref().and_then(header);
    Some(id.map(|id| (name.clone(), id)).ok_or_else(|| {
        let message = format!("the server lists the dataset '{name}' without an id");
        Error::new(ErrorCode::InvalidResponse, "client.list", message)
    }))
}

/// An id as a header.
fn header(id: &EntryId) -> Option<AsciiMetadataValue> {
    let id = id.id.as_ref()?;
    format!("{:016X}{:016x}", id.time_ns?, id.inc?).parse().ok()
}

#[cfg(test)]
mod tests {
    use backon::BackoffBuilder as _;
    use segue_proto::common::Tuid;

    use super::*;

    fn details(kind: EntryKind, name: Option<&str>, id: Option<Tuid>) -> EntryDetails {
        EntryDetails {
            id: id.map(|id| EntryId { id: Some(id) }),
            name: name.map(str::to_owned),
            entry_kind: kind.into(),
            created_at: None,
            updated_at: None,
        }
    }

    const ID: Tuid = Tuid {
        time_ns: Some(0x18EC_EAFD_EDE3_FF73),
        inc: Some(0x5bb8_7030_d7ef_2e45),
    };

    #[test]
    fn a_server_that_is_behind_is_asked_again_for_ten_seconds() {
        let pauses: Vec<Duration> = pauses().build().collect();
        let millis = pauses.iter().map(Duration::as_millis).take(5);
        assert_eq!(millis.collect::<Vec<_>>(), [100, 200, 400, 800, 1000]);
        let all: Duration = pauses.iter().sum();
        assert!(all <= MOST_BEHIND && all + Duration::from_secs(1) > MOST_BEHIND);
    }

    #[test]
    fn an_id_is_written_as_hexadecimal_digits() {
        let (name, id) = named(details(EntryKind::Dataset, Some("d"), Some(ID)))
            .unwrap()
            .unwrap();
        assert_eq!(
            (name.as_str(), id.to_str().unwrap()),
            ("d", "18ECEAFDEDE3FF735bb87030d7ef2e45")
        );
    }

    #[test]
    fn only_datasets_with_a_name_are_listed_and_they_need_an_id() {
        assert!(named(details(EntryKind::Table, Some("t"), Some(ID))).is_none());
        assert!(named(details(EntryKind::Dataset, None, Some(ID))).is_none());
        let half = Tuid { inc: None, ..ID };
        for id in [None, Some(half)] {
            let error = named(details(EntryKind::Dataset, Some("d"), id))
                .unwrap()
                .unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidResponse);
            assert!(error.message().contains("'d'"), "{error}");
        }
    }
}
