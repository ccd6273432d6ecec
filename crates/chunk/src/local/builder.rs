//! Which folders make which datasets.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use segue_error::{Error, ErrorCode, Result};

use super::dataset::Dataset;
use super::{LocalSource, listing};

/// Names that SQL itself uses beside those of the datasets.
const RESERVED: [&str; 2] = ["public", "information_schema"];

/// Collects folders for a [`LocalSource`].
#[derive(Clone, Debug, Default)]
pub struct LocalSourceBuilder {
    roots: Vec<Root>,
}

#[derive(Clone, Debug)]
enum Root {
    Folder(PathBuf),
    Dataset(String, PathBuf),
}

impl LocalSourceBuilder {
    /// Adds the datasets of `folder`: each sub-folder with recordings in it or anywhere below is one, named
    /// after the sub-folder; recordings in `folder` itself form one named after `folder`.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.roots.push(Root::Folder(folder.into()));
        self
    }

    /// Adds the dataset `name`: all recordings in `folder` or anywhere below.
    #[must_use]
    pub fn dataset(mut self, name: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        self.roots.push(Root::Dataset(name.into(), folder.into()));
        self
    }

    /// Lists the files, and opens none. Waits for the file system, so not for a thread of an async runtime
    /// where folders may be slow.
    ///
    /// `name_clash` when two datasets have one name, or one has a name that SQL uses itself;
    /// `invalid_argument` when there is no recording below a folder; `storage_unavailable` when a folder
    /// cannot be read.
    pub fn build(self) -> Result<LocalSource> {
        let mut datasets: BTreeMap<String, Arc<Dataset>> = BTreeMap::new();
        for root in self.roots {
            for dataset in root.datasets()? {
                check_name(&dataset)?;
                match datasets.entry(dataset.name().to_owned()) {
                    Entry::Vacant(free) => {
                        free.insert(Arc::new(dataset));
                    }
                    Entry::Occupied(known) => return Err(clash(known.get(), &dataset)),
                }
            }
        }
        Ok(LocalSource { datasets })
    }
}

impl Root {
    fn datasets(self) -> Result<Vec<Dataset>> {
        let listed = match self {
            Self::Folder(folder) => listing::datasets(&folder)?,
            Self::Dataset(name, folder) => {
                let files = listing::recordings(&folder)?;
                if files.is_empty() {
                    return Err(listing::none_below(&folder));
                }
                vec![Dataset::new(name, folder, files)]
            }
        };
        Ok(listed)
    }
}

fn check_name(dataset: &Dataset) -> Result<()> {
    let (name, folder) = (dataset.name(), dataset.folder().display());
    if name.is_empty() {
        let message = format!("the dataset of folder '{folder}' has an empty name");
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            "local.build",
            message,
        ));
    }
    if RESERVED.contains(&name) {
        let message = format!(
            "folder '{folder}' would be the dataset '{name}', a name that SQL uses itself; \
             give it another as NAME={folder}"
        );
        return Err(
            Error::new(ErrorCode::NameClash, "local.build", message).with_fact("dataset", name)
        );
    }
    Ok(())
}

fn clash(first: &Dataset, second: &Dataset) -> Error {
    let name = first.name();
    let (first, second) = (first.folder().display(), second.folder().display());
    let message = format!(
        "folders '{first}' and '{second}' are both the dataset '{name}'; \
         give one another name as NAME={second}"
    );
    Error::new(ErrorCode::NameClash, "local.build", message).with_fact("dataset", name)
}
