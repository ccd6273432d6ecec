//! Folders of recordings.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use segue::chunk::LocalSource;

/// One folder, as `DIR` or `NAME=DIR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recordings {
    /// A folder of datasets.
    Folder(PathBuf),
    /// One dataset.
    Dataset(String, PathBuf),
}

impl From<OsString> for Recordings {
    fn from(value: OsString) -> Self {
        let named = value.to_str().and_then(|text| text.split_once('='));
        match named {
            Some((name, dir)) if !name.is_empty() && !name.contains(['/', '\\']) => {
                Self::Dataset(name.to_owned(), PathBuf::from(dir))
            }
            _ => Self::Folder(PathBuf::from(value)),
        }
    }
}

pub(super) fn recordings_parser() -> impl TypedValueParser<Value = Recordings> {
    clap::builder::OsStringValueParser::new().map(Recordings::from)
}

impl Recordings {
    /// The datasets of all `recordings`. Lists files, so not for a thread of the async runtime.
    pub(crate) fn open(recordings: &[Self]) -> segue::Result<LocalSource> {
        let mut source = LocalSource::builder();
        for recordings in recordings {
            source = match recordings {
                Self::Folder(dir) => source.folder(dir),
                Self::Dataset(name, dir) => source.dataset(name, dir),
            };
        }
        source.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recordings(value: &str) -> Recordings {
        Recordings::from(OsString::from(value))
    }

    #[test]
    fn a_name_before_an_equals_sign_names_the_dataset() {
        let dataset = Recordings::Dataset("r".to_owned(), "data/x=y".into());
        assert_eq!(recordings("r=data/x=y"), dataset);
        for folder in ["data", "./a=b", "=data", "data/a=b"] {
            assert_eq!(recordings(folder), Recordings::Folder(folder.into()));
        }
    }
}
