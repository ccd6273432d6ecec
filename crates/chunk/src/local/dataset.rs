//! One dataset: its files, and what is known of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream;
use segue_error::Result;
use tokio::sync::Mutex;

use super::blocking::{self, Stop, Stoppable};
use super::changed::unless_changed;
use super::contents::DatasetContents;
use super::merge;
use crate::rrd::{FileBytes, FileStamp, RecordingIndex, unreadable};

/// How many files are read at once.
const CONCURRENT: usize = 8;

/// A dataset.
#[derive(Debug)]
pub(super) struct Dataset {
    name: String,
    folder: PathBuf,
    files: Arc<[PathBuf]>,
    /// Held while files are read, so that two queries do not read them twice.
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    /// One per file.
    indexed: Vec<Option<IndexedFile>>,
    contents: Option<Arc<DatasetContents>>,
}

/// What a file held when it was last read.
#[derive(Clone, Debug)]
pub(super) struct IndexedFile {
    pub(super) stamp: FileStamp,
    pub(super) index: Arc<RecordingIndex>,
}

impl Dataset {
    pub(super) fn new(name: String, folder: PathBuf, files: Vec<PathBuf>) -> Self {
        Self {
            name,
            folder,
            cache: Mutex::new(Cache {
                indexed: vec![None; files.len()],
                contents: None,
            }),
            files: files.into(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The recordings of the dataset.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The file of the given number.
    pub(super) fn file(&self, number: u32) -> Option<&Path> {
        let number = usize::try_from(number).ok()?;
        self.files.get(number).map(PathBuf::as_path)
    }

    /// What the files hold now. Reads those that were not read yet or have changed. When some fail, the
    /// error is that of the first, and what the others hold is kept for the next time.
    pub(super) async fn contents(&self) -> Result<Arc<DatasetContents>> {
        let mut cache = self.cache.lock().await;
        let files = Arc::clone(&self.files);
        let stamps = blocking::start(move |_| Ok(stamps(&files)))?
            .finish()
            .await?;
        let stale: Vec<usize> = stamps
            .iter()
            .zip(&cache.indexed)
            .enumerate()
            .filter(|(_, (now, known))| now.is_none() || *now != &known.as_ref().map(|k| k.stamp))
            .map(|(number, _)| number)
            .collect();
        if let (true, Some(contents)) = (stale.is_empty(), &cache.contents) {
            return Ok(Arc::clone(contents));
        }
        cache.contents = None;
        let mut reads = stream::iter(stale)
            .map(|number| async move { (number, self.read(number).await) })
            .buffer_unordered(CONCURRENT);
        let mut failed = None;
        while let Some((number, read)) = reads.next().await {
            let slot = cache.indexed.get_mut(number);
            match read {
                Ok(indexed) => slot
                    .into_iter()
                    .for_each(|slot| *slot = Some(indexed.clone())),
                Err(error) => {
                    slot.into_iter().for_each(|slot| *slot = None);
                    if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                        failed = Some((number, error));
                    }
                }
            }
        }
        drop(reads);
        if let Some((_, error)) = failed {
            return Err(error);
        }
        let indexed = cache.indexed.iter().flatten().cloned().collect();
        let contents = Arc::new(merge::merge(&self.files, indexed)?);
        cache.contents = Some(Arc::clone(&contents));
        Ok(contents)
    }

    async fn read(&self, number: usize) -> Result<IndexedFile> {
        let files = Arc::clone(&self.files);
        let read = move |stop: &Stop| {
            let path = files
                .get(number)
                .map(PathBuf::as_path)
                .unwrap_or(Path::new(""));
            read(path, stop)
        };
        blocking::start(read)?.finish().await
    }
}

/// The stamps of `files`, `None` where there is none to be had: reading the file will say why.
fn stamps(files: &[PathBuf]) -> Vec<Option<FileStamp>> {
    files.iter().map(|path| FileStamp::of(path).ok()).collect()
}

fn read(path: &Path, stop: &Stop) -> Result<IndexedFile> {
    let name = path.display().to_string();
    let bytes = FileBytes::open(path).map_err(|e| unreadable(&name, e))?;
    index(&bytes, &name, stop)
}

fn index(bytes: &FileBytes, name: &str, stop: &Stop) -> Result<IndexedFile> {
    let index = RecordingIndex::read(&Stoppable { bytes, stop }, name);
    let index = unless_changed(bytes, name, index)?;
    Ok(IndexedFile {
        stamp: bytes.stamp(),
        index: Arc::new(index),
    })
}

#[cfg(test)]
mod tests {
    use segue_error::ErrorCode;

    use super::*;
    use crate::testing::{ChunkBuilder, RecordingWriter};

    #[test]
    fn a_file_that_is_written_while_its_index_is_read_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rrd");
        let chunk = ChunkBuilder::new("s", "/a")
            .sequence("frame", [1])
            .floats("x", [Some(1.0)])
            .build();
        let whole = RecordingWriter::new().chunk(&chunk).finish();
        let longer = [&whole[..], b"behind the end"].concat();
        // What is read makes sense in the first case only.
        for written in [longer, vec![0; whole.len() + 1], Vec::new()] {
            std::fs::write(&path, &whole).unwrap();
            let bytes = FileBytes::open(&path).unwrap();
            index(&bytes, "a.rrd", &Stop::default()).unwrap();
            std::fs::write(&path, &written).unwrap();
            let error = index(&bytes, "a.rrd", &Stop::default()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::SourceChanged, "{error}");
            assert!(error.message().contains("'a.rrd'"), "{error}");
        }
    }
}
