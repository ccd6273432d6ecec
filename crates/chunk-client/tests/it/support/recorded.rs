//! Answers of real servers, kept in `tests/data`.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use prost::Message;
use segue_proto::cloud::{
    FetchChunksResponse, FindChunksResponse, FindEntriesResponse, GetDatasetSchemaResponse,
    ScanSegmentTableResponse, WhoAmIResponse,
};

/// What a server of some version answered to a client that read a range of a dataset.
pub(crate) struct Recorded {
    pub(crate) who_am_i: WhoAmIResponse,
    pub(crate) entries: FindEntriesResponse,
    pub(crate) schema: GetDatasetSchemaResponse,
    pub(crate) segments: Vec<ScanSegmentTableResponse>,
    /// The two forms of planning answer with messages of one shape.
    pub(crate) plan: Vec<FindChunksResponse>,
    pub(crate) fetched: Vec<FetchChunksResponse>,
}

/// The versions of which there are answers.
pub(crate) const VERSIONS: [&str; 2] = ["0.36.3", "0.41.0"];

impl Recorded {
    /// The answers of the server of `version`.
    pub(crate) fn of(version: &str) -> Self {
        let folder = folder(version);
        let recorded = Self {
            who_am_i: one(&folder, "WhoAmI."),
            entries: one(&folder, "FindEntries."),
            schema: one(&folder, "GetDatasetSchema."),
            segments: all(&folder, "ScanSegmentTable."),
            plan: all(&folder, "Plan."),
            fetched: all(&folder, "FetchChunks."),
        };
        let decoded = 3 + recorded.segments.len() + recorded.plan.len() + recorded.fetched.len();
        assert_eq!(decoded, files(&folder, "").len(), "every file is of use");
        recorded
    }
}

fn folder(version: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    data.join(version)
}

/// The messages of the answers whose files begin with `start`, as they came.
pub(crate) fn raw(version: &str, start: &str) -> Vec<Vec<u8>> {
    let files = files(&folder(version), start);
    let bytes: Vec<_> = files.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(!bytes.is_empty(), "{start}");
    bytes
}

fn files(folder: &Path, start: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut files: Vec<PathBuf> = files.filter(|path| name(path).starts_with(start)).collect();
    files.sort();
    files
}

fn all<M: Message + Default>(folder: &Path, start: &str) -> Vec<M> {
    let files = files(folder, start);
    let bytes = files
        .iter()
        .map(|path| Bytes::from(fs::read(path).unwrap()));
    bytes.map(|bytes| M::decode(bytes).unwrap()).collect()
}

fn one<M: Message + Default>(folder: &Path, start: &str) -> M {
    let mut all = all(folder, start);
    assert_eq!(all.len(), 1, "{start}");
    all.remove(0)
}
