//! Recorded calls, read from their files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{AsArray as _, BinaryArray, RecordBatch};
use bytes::Bytes;
use prost::Message;
use segue_chunk::wire::decode_table;
use segue_proto::cloud::QueryDatasetRequest;

use super::DATASET;
use super::tables::ids;
use crate::support::{Client, about, all};

/// A request and its responses.
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) method: String,
    pub(crate) request: Bytes,
    pub(crate) responses: Vec<Bytes>,
}

impl Call {
    pub(crate) fn request<T: Message + Default>(&self) -> T {
        T::decode(Bytes::clone(&self.request)).unwrap()
    }

    /// The only response.
    pub(crate) fn response<T: Message + Default>(&self) -> T {
        let [response] = &*self.all() else {
            panic!("{} has one response", self.name)
        };
        let response: &T = response;
        T::decode(Bytes::from(response.encode_to_vec())).unwrap()
    }

    pub(crate) fn all<T: Message + Default>(&self) -> Vec<T> {
        let responses = self.responses.iter();
        responses
            .map(|response| T::decode(Bytes::clone(response)).unwrap())
            .collect()
    }
}

/// All recorded calls to the server `version`.
pub(crate) fn calls(version: &str) -> Vec<Call> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(version);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    files.into_iter().map(|path| call(version, &path)).collect()
}

fn call(version: &str, path: &Path) -> Call {
    let file = path.file_name().unwrap().to_str().unwrap();
    let mut bytes = Bytes::from(std::fs::read(path).unwrap());
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let len = prost::decode_length_delimiter(&mut bytes).unwrap();
        messages.push(bytes.split_to(len));
    }
    let request = messages.remove(0);
    Call {
        name: format!("{version}/{file}"),
        method: file.split('.').next().unwrap().to_owned(),
        request,
        responses: messages,
    }
}

/// The column of first values on the timeline that `request` is about, if it is about one.
pub(crate) fn timeline(request: &QueryDatasetRequest) -> Option<String> {
    let query = request.query.as_ref()?;
    let latest = query
        .latest_at
        .as_ref()
        .filter(|l| l.at.is_some() || !l.per_segment_values.is_empty());
    let range = query.range.as_ref().and_then(|range| range.index.as_ref());
    let index = range.or(latest.and_then(|latest| latest.index.as_ref()))?;
    Some(format!("{}:start", index.timeline.as_ref()?.name))
}

/// `table` with our keys in place of theirs.
pub(crate) async fn with_our_keys(client: &mut Client, table: &RecordBatch) -> RecordBatch {
    let everything = QueryDatasetRequest {
        select_all_entity_paths: true,
        ..Default::default()
    };
    let plan = all(client.query_dataset(about(DATASET, everything)).await)
        .await
        .unwrap();
    let mut known = HashMap::new();
    for message in plan {
        let table = decode_table(&message.data.unwrap()).unwrap();
        let chunks = ids(&table).into_iter().map(|(_, chunk)| chunk);
        known.extend(chunks.zip(key_column(&table)));
    }
    let keys = key_column(table)
        .into_iter()
        .map(|key| &known[&chunk_of(&key)]);
    let keys = BinaryArray::from_iter_values(keys);
    let at = table.schema().index_of("chunk_key").unwrap();
    let mut columns = table.columns().to_vec();
    columns[at] = Arc::new(keys);
    RecordBatch::try_new(table.schema(), columns).unwrap()
}

/// The chunk that a key of theirs begins with: two numbers, little endian.
fn chunk_of(key: &[u8]) -> Vec<u8> {
    let halves = [&key[..8], &key[8..16]];
    halves
        .iter()
        .flat_map(|half| half.iter().rev())
        .copied()
        .collect()
}

fn key_column(table: &RecordBatch) -> Vec<Vec<u8>> {
    let keys = table
        .column_by_name("chunk_key")
        .unwrap()
        .as_binary::<i32>();
    keys.iter().map(|key| key.unwrap().to_vec()).collect()
}
