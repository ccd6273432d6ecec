//! Answers that take long: who waits for whom, and when it ends.

use std::num::NonZeroUsize;
use std::path::Path;

use futures::{FutureExt as _, TryStreamExt as _};
use segue_chunk::testing::{ChunkBuilder, RecordingWriter};
use segue_chunk::{Chunk, Compression};
use segue_chunk_server::ChunkServer;
use segue_proto::cloud::{FetchChunksRequest, FetchChunksResponse, QueryDatasetRequest};
use tokio::net::TcpStream;
use tonic::{Code, Streaming};

use crate::support::{Client, Running, about, all, chunk_count, source};

/// More than connections and channels hold by themselves.
const CHUNKS: u64 = 64;
const ROWS: i64 = 20_000;

fn large(id: u64) -> Chunk {
    let frames = (0..ROWS).map(|row| id as i64 * ROWS + row);
    ChunkBuilder::new("s", "/a")
        .id(id)
        .sequence("frame", frames.clone())
        .floats("x", frames.map(|frame| Some(frame as f64)))
        .build()
}

/// A dataset of some 50 MB.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let writer = RecordingWriter::new().compression(Compression::None);
    let writer = (1..=CHUNKS).fold(writer, |writer, id| writer.chunk(&large(id)));
    writer.write(dir.path().join("a.rrd"));
    dir
}

async fn begin(client: &mut Client) -> Streaming<FetchChunksResponse> {
    let everything = QueryDatasetRequest {
        select_all_entity_paths: true,
        ..Default::default()
    };
    let plan = all(client.query_dataset(about("d", everything)).await)
        .await
        .unwrap();
    let chunk_infos = plan
        .into_iter()
        .map(|message| message.data.unwrap())
        .collect();
    let answer = client
        .fetch_chunks(FetchChunksRequest { chunk_infos })
        .await;
    answer.unwrap().into_inner()
}

async fn count(stream: Streaming<FetchChunksResponse>) -> usize {
    let messages: Vec<_> = stream.try_collect().await.unwrap();
    messages.iter().map(|message| message.chunks.len()).sum()
}

async fn one_at_a_time(folder: &Path) -> Running {
    let one = NonZeroUsize::new(1).unwrap();
    Running::start(ChunkServer::builder(source(folder)).max_concurrent_fetches(one)).await
}

#[tokio::test]
async fn a_client_that_takes_nothing_keeps_no_other_waiting() {
    let dir = folder();
    let running = one_at_a_time(dir.path()).await;
    let mut lazy = running.client().await;
    // More of them than may read at a time, on one connection.
    let held = [begin(&mut lazy).await, begin(&mut lazy).await];
    let wanted = chunk_count(dir.path()).await;
    assert_eq!(wanted as u64, CHUNKS);
    assert_eq!(
        count(begin(&mut running.client().await).await).await,
        wanted
    );
    // And they get theirs once they want it.
    for stream in held {
        assert_eq!(count(stream).await, wanted);
    }
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_nothing_behind() {
    let dir = folder();
    let running = one_at_a_time(dir.path()).await;
    for _ in 0..5 {
        let mut client = running.client().await;
        let mut stream = begin(&mut client).await;
        assert!(stream.try_next().await.unwrap().is_some());
        drop((stream, client));
    }
    let stream = begin(&mut running.client().await).await;
    assert_eq!(count(stream).await as u64, CHUNKS);
    // Nothing keeps the server from its end.
    stopped(running).await;
}

/// Stops `running`, to which nobody is connected.
async fn stopped(running: Running) {
    let mut task = running.stop();
    task.join_next().await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn an_answer_that_has_begun_is_finished_and_nobody_new_is_let_in() {
    let dir = folder();
    let running = Running::of(dir.path()).await;
    let address = running.address;
    let mut client = running.client().await;
    let mut stream = begin(&mut client).await;
    let first = stream.try_next().await.unwrap().unwrap();
    let mut task = running.stop();
    // The listener is closed as soon as the server gets to it.
    let mut attempts = 0;
    while TcpStream::connect(address).await.is_ok() {
        attempts += 1;
        assert!(attempts < 10_000, "the server still listens");
        tokio::task::yield_now().await;
    }
    assert!(
        task.join_next().now_or_never().is_none(),
        "the answer is not over"
    );
    assert_eq!((count(stream).await + first.chunks.len()) as u64, CHUNKS);
    drop(client);
    task.join_next().await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_recording_that_changes_while_it_is_read_fails_the_answer() {
    let dir = folder();
    let running = Running::of(dir.path()).await;
    let mut client = running.client().await;
    let mut stream = begin(&mut client).await;
    assert!(stream.try_next().await.unwrap().is_some());
    let chunk = large(1);
    RecordingWriter::new()
        .chunk(&chunk)
        .write(dir.path().join("a.rrd"));
    let mut taken = 1;
    let status = loop {
        match stream.try_next().await {
            Ok(Some(_)) => taken += 1,
            Ok(None) => panic!("the answer is whole"),
            Err(status) => break status,
        }
        assert!(taken < CHUNKS);
    };
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert!(status.message().contains("'a.rrd'"), "{status}");
}
