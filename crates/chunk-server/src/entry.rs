//! Datasets as entries of a catalog.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use segue_proto::cloud::{DatasetDetails, DatasetEntry, EntryDetails, EntryFilter, EntryKind};
use segue_proto::common::{self, DatasetHandle, DatasetKind, StoreKind, Tuid};
use tonic::Status;
use tonic::metadata::MetadataMap;
use xxhash_rust::xxh3::xxh3_128;

/// Header with the id of an entry: 32 hexadecimal digits.
const ID_HEADER: &str = "x-rerun-entry-id";
/// Header with the name of an entry.
const NAME_HEADER: &str = "x-rerun-entry-name-bin";

/// Id of a dataset. Follows from its name alone, so that it outlives the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryId(u128);

impl EntryId {
    /// The id of the dataset `name`.
    pub(crate) fn of(name: &str) -> Self {
        Self(xxh3_128(name.as_bytes()))
    }

    pub(crate) fn from_be_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    pub(crate) fn to_be_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Reads 32 hexadecimal digits of any case.
    fn from_hex(digits: &str) -> Option<Self> {
        let plain = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        plain
            .then(|| u128::from_str_radix(digits, 16).ok().map(Self))
            .flatten()
    }

    /// The id that a message holds; `None` when it lacks a half.
    fn from_wire(id: &common::EntryId) -> Option<Self> {
        let Tuid { time_ns, inc } = id.id?;
        Some(Self((u128::from(time_ns?) << 64) | u128::from(inc?)))
    }

    fn to_wire(self) -> common::EntryId {
        common::EntryId {
            id: Some(Tuid {
                time_ns: Some((self.0 >> 64) as u64),
                inc: Some(self.0 as u64),
            }),
        }
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Most bytes of a name.
const MAX_NAME: usize = 180;

/// Whether Rerun's clients take `name` for the name of an entry: of one that they do not, they refuse the
/// whole listing that it is in.
pub(crate) fn is_name(name: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || " -.:[]_".contains(c);
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_fine)
}

/// A dataset that is served.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: EntryId,
    pub(crate) name: Arc<str>,
}

/// The datasets that are served.
#[derive(Debug)]
pub(crate) struct Entries {
    by_id: BTreeMap<EntryId, Entry>,
    since: prost_types::Timestamp,
}

impl Entries {
    /// Entries for the datasets called `names`, which exist `since` that time.
    pub(crate) fn new(names: impl IntoIterator<Item = String>, since: SystemTime) -> Self {
        let entries = names.into_iter().map(|name| {
            let id = EntryId::of(&name);
            let name = name.into();
            (id, Entry { id, name })
        });
        Self {
            by_id: entries.collect(),
            since: since.into(),
        }
    }

    /// The entry with the id `id`.
    pub(crate) fn get(&self, id: EntryId) -> Option<&Entry> {
        self.by_id.get(&id)
    }

    /// The entry that a request names by its headers; the id counts where there are both.
    ///
    /// `InvalidArgument` when there is none or it cannot be read, `NotFound` when it is unknown.
    pub(crate) fn of_request(&self, headers: &MetadataMap) -> Result<&Entry, Status> {
        if let Some(value) = headers.get(ID_HEADER) {
            let id = value.to_str().ok().and_then(EntryId::from_hex);
            let id = id.ok_or_else(|| {
                let reason = format!("header '{ID_HEADER}' is not 32 hexadecimal digits");
                Status::invalid_argument(reason)
            })?;
            return self
                .get(id)
                .ok_or_else(|| Status::not_found(format!("no dataset with the id {id}")));
        }
        let Some(value) = headers.get_bin(NAME_HEADER) else {
            return Err(Status::invalid_argument(format!(
                "one of the headers '{ID_HEADER}' and '{NAME_HEADER}' has to name a dataset"
            )));
        };
        let bytes = value.to_bytes().ok();
        let name = bytes
            .as_deref()
            .and_then(|bytes| std::str::from_utf8(bytes).ok());
        let name = name.ok_or_else(|| {
            Status::invalid_argument(format!("header '{NAME_HEADER}' is not text"))
        })?;
        // A name that is not there may have the id of one that is.
        self.get(EntryId::of(name))
            .filter(|entry| *entry.name == *name)
            .ok_or_else(|| Status::not_found(format!("no dataset '{name}'")))
    }

    /// The entries that `filter` lets through, by name.
    pub(crate) fn find(&self, filter: &EntryFilter) -> Result<Vec<EntryDetails>, Status> {
        let id = match &filter.id {
            None => None,
            Some(id) => Some(EntryId::from_wire(id).ok_or_else(|| {
                Status::invalid_argument("the id to find is not a whole entry id")
            })?),
        };
        let kinds = filter.entry_kinds.iter().chain(&filter.entry_kind);
        let kinds: Vec<i32> = kinds.copied().collect();
        let is_wanted = |kind: EntryKind| kinds.is_empty() || kinds.contains(&kind.into());
        let mut found: Vec<&Entry> = self
            .by_id
            .values()
            .filter(|entry| id.is_none_or(|id| entry.id == id))
            .filter(|entry| {
                filter
                    .name
                    .as_ref()
                    .is_none_or(|name| **name == *entry.name)
            })
            .filter(|_| is_wanted(EntryKind::Dataset))
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found.into_iter().map(|e| self.details(e)).collect())
    }

    /// The message that describes `entry`.
    pub(crate) fn dataset(&self, entry: &Entry) -> DatasetEntry {
        DatasetEntry {
            details: Some(self.details(entry)),
            dataset_handle: Some(DatasetHandle {
                entry_id: Some(entry.id.to_wire()),
                dataset_url: Some(format!("segue:///{}", entry.id)),
                store_kind: StoreKind::Recording.into(),
                dataset_kind: DatasetKind::Recording.into(),
            }),
            dataset_details: Some(DatasetDetails {}),
        }
    }

    fn details(&self, entry: &Entry) -> EntryDetails {
        EntryDetails {
            id: Some(entry.id.to_wire()),
            name: Some(entry.name.to_string()),
            entry_kind: EntryKind::Dataset.into(),
            created_at: Some(self.since),
            updated_at: Some(self.since),
        }
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;
    use tonic::metadata::MetadataValue;

    use super::*;

    fn entries() -> Entries {
        let names = ["b", "größe", "a"].map(str::to_owned);
        Entries::new(names, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn names_are_those_that_clients_take() {
        for name in ["a", "A-b.c_d", "run 7: [left]", &"x".repeat(180)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "é", "a/b", "it's", "50%", "(x)", &"x".repeat(181)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn an_id_follows_from_the_name_and_is_the_same_in_every_version() {
        assert_eq!(
            EntryId::of("robots").to_string(),
            "4f458990c7013ac1c09600fa45fad979"
        );
        let digits = EntryId::of("robots").to_string().to_uppercase();
        assert_eq!(EntryId::from_hex(&digits), Some(EntryId::of("robots")));
        let wire = EntryId::of("robots").to_wire();
        assert_eq!(EntryId::from_wire(&wire), Some(EntryId::of("robots")));
    }

    #[test]
    fn a_request_names_a_dataset_by_id_or_name() {
        let entries = entries();
        let mut headers = MetadataMap::new();
        assert_eq!(
            entries.of_request(&headers).unwrap_err().code(),
            Code::InvalidArgument
        );
        headers.insert_bin(NAME_HEADER, MetadataValue::from_bytes("größe".as_bytes()));
        assert_eq!(&*entries.of_request(&headers).unwrap().name, "größe");
        for digits in [
            EntryId::of("a").to_string(),
            EntryId::of("a").to_string().to_uppercase(),
        ] {
            headers.insert(ID_HEADER, digits.parse().unwrap());
            assert_eq!(&*entries.of_request(&headers).unwrap().name, "a");
        }
    }

    #[test]
    fn what_names_nothing_is_told_from_what_is_no_name() {
        let entries = entries();
        for (digits, code) in [
            ("00000000000000000000000000000000", Code::NotFound),
            ("", Code::InvalidArgument),
            ("12", Code::InvalidArgument),
            ("+0000000000000000000000000000000", Code::InvalidArgument),
        ] {
            let mut headers = MetadataMap::new();
            headers.insert(ID_HEADER, digits.parse().unwrap());
            let status = entries.of_request(&headers).unwrap_err();
            assert_eq!(status.code(), code, "{digits}");
        }
        for (name, code) in [
            (&b"c"[..], Code::NotFound),
            (b"", Code::NotFound),
            (b"\xff", Code::InvalidArgument),
        ] {
            let mut headers = MetadataMap::new();
            headers.insert_bin(NAME_HEADER, MetadataValue::from_bytes(name));
            let status = entries.of_request(&headers).unwrap_err();
            assert_eq!(status.code(), code, "{name:?}");
        }
    }

    #[test]
    fn every_part_of_a_filter_narrows() {
        let names = |filter: EntryFilter| -> Vec<String> {
            let found = entries().find(&filter).unwrap();
            found.into_iter().flat_map(|details| details.name).collect()
        };
        let all = EntryFilter::default;
        assert_eq!(names(all()), ["a", "b", "größe"]);
        let name = Some("b".to_owned());
        assert_eq!(names(EntryFilter { name, ..all() }), ["b"]);
        let id = Some(EntryId::of("a").to_wire());
        assert_eq!(names(EntryFilter { id, ..all() }), ["a"]);
        let (name, id) = (Some("b".to_owned()), Some(EntryId::of("a").to_wire()));
        assert_eq!(names(EntryFilter { id, name, ..all() }), [""; 0]);
        let kinds = |kinds: &[i32]| {
            names(EntryFilter {
                entry_kinds: kinds.to_vec(),
                ..all()
            })
        };
        assert_eq!(kinds(&[EntryKind::Dataset.into()]).len(), 3);
        assert_eq!(kinds(&[EntryKind::Table.into(), 1]).len(), 3);
        assert_eq!(kinds(&[EntryKind::Table.into(), 99]).len(), 0);
        for (kind, found) in [(EntryKind::Dataset, 3), (EntryKind::Table, 0)] {
            let entry_kind = Some(kind.into());
            assert_eq!(
                names(EntryFilter {
                    entry_kind,
                    ..all()
                })
                .len(),
                found
            );
        }
        let id = Some(common::EntryId { id: None });
        let half = entries().find(&EntryFilter { id, ..all() });
        assert_eq!(half.unwrap_err().code(), Code::InvalidArgument);
    }
}
