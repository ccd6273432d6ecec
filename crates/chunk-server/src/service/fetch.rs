//! `FetchChunks`: from keys to chunks, read as the client takes them.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, AsArray as _};
use arrow::datatypes::DataType;
use futures::stream::StreamExt as _;
use futures::{TryStreamExt as _, stream};
use segue_chunk::wire::decode_request_table;
use segue_chunk::{ChunkInfo, ChunkSource as _, EncodedChunk, LocalSource};
use segue_proto::cloud::{FetchChunksRequest, FetchChunksResponse};
use segue_proto::common::DataframePart;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tonic::Status;

use super::{Service, Stream};
use crate::entry::{Entry, EntryId};
use crate::key::ChunkKey;
use crate::status;

/// Most bytes that a table of keys may take once it is decompressed.
const MAX_TABLE_BYTES: u64 = 256 << 20;
/// Most chunks that are read in one go.
const GROUP_CHUNKS: usize = 4;
/// Bytes after which no further chunk is read in one go.
const GROUP_BYTES: u64 = 1 << 20;

/// Column of the keys.
const KEY_COLUMN: &str = "chunk_key";

/// Limits how many requests read files at a time.
///
/// A permit is held while a group of chunks is read, never while a client is waited for: one that takes nothing
/// keeps nobody else waiting. Those who wait for a permit are served in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Reads(Arc<Semaphore>);

impl Reads {
    pub(crate) fn new(at_once: usize) -> Self {
        Self(Arc::new(Semaphore::new(at_once)))
    }
}

/// Consecutive chunks of one dataset, which are read in one go.
struct Group {
    dataset: Arc<str>,
    entry: EntryId,
    chunks: Vec<ChunkInfo>,
    bytes: u64,
}

impl Group {
    fn has_room(&self) -> bool {
        self.chunks.len() < GROUP_CHUNKS && self.bytes < GROUP_BYTES
    }
}

impl Service {
    /// Streams the chunks that `request` names, in the order of the keys but for a few.
    pub(super) fn fetch(
        &self,
        request: FetchChunksRequest,
    ) -> Result<Stream<FetchChunksResponse>, Status> {
        let mut groups: Vec<Group> = Vec::new();
        for part in &request.chunk_infos {
            for key in keys(part)? {
                let (entry, key) = self.find(&key)?;
                let info = key.into_info();
                match groups.last_mut() {
                    Some(last) if last.entry == entry.id && last.has_room() => {
                        last.bytes = last.bytes.saturating_add(info.byte_len);
                        last.chunks.push(info);
                    }
                    _ => groups.push(Group {
                        dataset: Arc::clone(&entry.name),
                        entry: entry.id,
                        bytes: info.byte_len,
                        chunks: vec![info],
                    }),
                }
            }
        }
        let (source, reads) = (self.source.clone(), self.reads.clone());
        Ok(read_ahead(groups, move |group| {
            read(source.clone(), reads.clone(), group)
        }))
    }

    /// What a key says; `NotFound` when it is not one of ours, or of a dataset that is not served.
    fn find(&self, key: &[u8]) -> Result<(&Entry, ChunkKey), Status> {
        let foreign = || Status::not_found("a chunk key that does not come from this server");
        let key = ChunkKey::decode(key).ok_or_else(foreign)?;
        let entry = self.entries.get(key.entry).ok_or_else(foreign)?;
        Ok((entry, key))
    }
}

/// The keys in a table of chunks.
fn keys(part: &DataframePart) -> Result<Vec<Vec<u8>>, Status> {
    let table = decode_request_table(part, MAX_TABLE_BYTES);
    let table = table.map_err(|error| status::of(&error, &[]))?;
    let column = table.column_by_name(KEY_COLUMN);
    let column = column.ok_or_else(|| {
        Status::invalid_argument(format!(
            "a table of chunks without the column '{KEY_COLUMN}'"
        ))
    })?;
    binary(column).ok_or_else(|| {
        let data_type = column.data_type();
        Status::invalid_argument(format!(
            "column '{KEY_COLUMN}' has type {data_type} or nulls where keys are wanted"
        ))
    })
}

/// The values of a column of bytes, none of which is null.
fn binary(column: &ArrayRef) -> Option<Vec<Vec<u8>>> {
    if column.null_count() > 0 {
        return None;
    }
    match column.data_type() {
        DataType::Binary => {
            let keys = column.as_binary_opt::<i32>()?;
            Some(keys.iter().flatten().map(<[u8]>::to_vec).collect())
        }
        DataType::LargeBinary => {
            let keys = column.as_binary_opt::<i64>()?;
            Some(keys.iter().flatten().map(<[u8]>::to_vec).collect())
        }
        _ => None,
    }
}

/// What `read` makes of group after group. A task of its own reads one group ahead of who polls, and no more;
/// dropping the stream ends the task. The stream ends after the first error.
fn read_ahead<G, M, R, F>(groups: Vec<G>, read: R) -> Stream<M>
where
    G: Send + 'static,
    M: Send + 'static,
    R: Fn(G) -> F + Send + 'static,
    F: Future<Output = Result<Vec<M>, Status>> + Send,
{
    let (sender, receiver) = mpsc::channel(1);
    let mut task = JoinSet::new();
    task.spawn(async move {
        for group in groups {
            let messages = match read(group).await {
                Ok(messages) => messages,
                Err(status) => {
                    // Whoever has gone away need not know.
                    let _gone = sender.send(Err(status)).await;
                    return;
                }
            };
            for message in messages {
                if sender.send(Ok(message)).await.is_err() {
                    return;
                }
            }
        }
    });
    let messages = stream::unfold((receiver, task), |(mut receiver, mut task)| async move {
        let message = match receiver.recv().await {
            Some(message) => message,
            // The task has ended: well, or not.
            None => match task.join_next().await? {
                Ok(()) => return None,
                Err(error) => Err(Status::internal(format!("reading ended early: {error}"))),
            },
        };
        Some((message, (receiver, task)))
    });
    messages.boxed()
}

/// Reads the chunks of `group`, and nothing but them.
async fn read(
    source: LocalSource,
    reads: Reads,
    group: Group,
) -> Result<Vec<FetchChunksResponse>, Status> {
    let statics: Vec<_> = group
        .chunks
        .iter()
        .map(|info| (info.id, info.is_static))
        .collect();
    let is_static = |chunk: &EncodedChunk| statics.contains(&(chunk.id, true));
    let application = group.entry.to_string();
    let permit = reads.0.acquire().await;
    let _permit = permit.map_err(|_| Status::unavailable("the server is being stopped"))?;
    let chunks = source.fetch(&group.dataset, group.chunks);
    let chunks = chunks.map_ok(|chunk| {
        let is_static = is_static(&chunk);
        FetchChunksResponse {
            chunks: vec![chunk.into_wire(Some(&application), is_static)],
        }
    });
    let files = source.files(&group.dataset).unwrap_or_default();
    let chunks = chunks.map_err(|error| status::of(&error, files));
    chunks.try_collect().await
}
