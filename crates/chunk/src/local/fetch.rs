//! Reading planned chunks.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream;
use segue_error::{Error, ErrorCode, Result};

use super::blocking::{self, Blocking, Stop, Stoppable};
use super::changed::{changed, unless_changed};
use super::dataset::Dataset;
use super::key::{self, ChunkKey};
use crate::rrd::{ChunkPlace, FileBytes, FileStamp, read_chunk, unreadable};
use crate::source::{ChunkInfo, ChunkStream, EncodedChunk};

/// Most chunks that are read in one go.
const GROUP_CHUNKS: usize = 4;
/// Bytes after which no further chunk is read in one go.
const GROUP_BYTES: u64 = 1 << 20;

/// When a file that is not the planned one was written.
const SINCE_PLANNED: &str = "since the query was planned";

/// A chunk to read.
struct Job {
    info: ChunkInfo,
    key: ChunkKey,
}

/// Reads `chunks` file by file, each from front to back, one group ahead of who polls.
pub(super) fn fetch(dataset: Arc<Dataset>, chunks: Vec<ChunkInfo>) -> ChunkStream {
    let start = move || async move {
        Fetch {
            jobs: jobs(chunks)?,
            dataset,
            running: None,
            ready: VecDeque::new(),
        }
        .next()
        .await
    };
    enum State<S> {
        Start(S),
        Running(Fetch),
    }
    stream::try_unfold(State::Start(start), |state| async move {
        let step = match state {
            State::Start(start) => start().await?,
            State::Running(fetch) => fetch.next().await?,
        };
        Ok(step.map(|(chunk, fetch)| (chunk, State::Running(fetch))))
    })
    .boxed()
}

fn jobs(chunks: Vec<ChunkInfo>) -> Result<VecDeque<Job>> {
    let jobs = chunks.into_iter().map(|info| {
        let key = key::decode(&info.key)?;
        Ok(Job { info, key })
    });
    let mut jobs = jobs.collect::<Result<Vec<Job>>>()?;
    jobs.sort_by_key(|job| (job.key.file, job.key.offset));
    Ok(jobs.into())
}

struct Fetch {
    dataset: Arc<Dataset>,
    jobs: VecDeque<Job>,
    /// The group that is being read. Dropping the fetch stops it.
    running: Option<Blocking<Group>>,
    ready: VecDeque<EncodedChunk>,
}

/// Chunks that were read, and the file that was open last.
struct Group {
    chunks: VecDeque<EncodedChunk>,
    open: Option<OpenFile>,
}

struct OpenFile {
    number: u32,
    name: String,
    bytes: FileBytes,
}

impl Fetch {
    async fn next(mut self) -> Result<Option<(EncodedChunk, Self)>> {
        if self.ready.is_empty() {
            if self.running.is_none() {
                self.start(None)?;
            }
            let Some(running) = self.running.take() else {
                return Ok(None);
            };
            let Group { chunks, open } = running.finish().await?;
            self.ready = chunks;
            self.start(open)?;
        }
        Ok(self.ready.pop_front().map(|chunk| (chunk, self)))
    }

    /// Starts the next group, if there is one.
    fn start(&mut self, mut open: Option<OpenFile>) -> Result<()> {
        let mut group = Vec::new();
        let mut bytes = 0;
        while group.len() < GROUP_CHUNKS && bytes < GROUP_BYTES {
            let Some(job) = self.jobs.pop_front() else {
                break;
            };
            bytes = job.key.len.saturating_add(bytes);
            group.push(job);
        }
        if group.is_empty() {
            return Ok(());
        }
        let dataset = Arc::clone(&self.dataset);
        self.running = Some(blocking::start(move |stop| {
            let read = group.iter().map(|job| read(&dataset, job, &mut open, stop));
            let chunks = read.collect::<Result<_>>()?;
            Ok(Group { chunks, open })
        })?);
        Ok(())
    }
}

fn read(
    dataset: &Dataset,
    job: &Job,
    open: &mut Option<OpenFile>,
    stop: &Stop,
) -> Result<EncodedChunk> {
    let (info, key) = (&job.info, &job.key);
    let file = match open.take() {
        Some(file) if file.number == key.file => open.insert(file),
        _ => open.insert(OpenFile::open(dataset, key.file)?),
    };
    file.check(key.stamp)?;
    let bytes = Stoppable {
        bytes: &file.bytes,
        stop,
    };
    let place = ChunkPlace {
        segment: &info.segment,
        application: key.application.as_deref(),
        id: info.id,
        is_static: info.is_static,
        offset: key.offset,
        len: key.len,
        uncompressed_len: info.byte_len_uncompressed,
    };
    unless_changed(
        &file.bytes,
        &file.name,
        read_chunk(&bytes, &file.name, place),
    )
}

impl OpenFile {
    fn open(dataset: &Dataset, number: u32) -> Result<Self> {
        let Some(path) = dataset.file(number) else {
            let message = format!("dataset '{}' has no file {number}", dataset.name());
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                "local.fetch",
                message,
            ));
        };
        let name = path.display().to_string();
        let bytes = FileBytes::open(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => changed(&name, SINCE_PLANNED),
            _ => unreadable(&name, e),
        })?;
        Ok(Self {
            number,
            name,
            bytes,
        })
    }

    /// Checks that the file, as it was opened, is the one that was planned.
    fn check(&self, planned: FileStamp) -> Result<()> {
        if self.bytes.stamp() == planned {
            Ok(())
        } else {
            Err(changed(&self.name, SINCE_PLANNED))
        }
    }
}
