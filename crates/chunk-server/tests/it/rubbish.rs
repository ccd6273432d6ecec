//! Requests that make no sense.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use segue_chunk::wire::encode_table;
use segue_proto::cloud::*;
use segue_proto::common::{Compression, DataframePart, EncoderVersion};
use tonic::{Code, Status};

use crate::support::{Client, Running, about, all, robots};

async fn fetch(client: &mut Client, part: DataframePart) -> Result<usize, Status> {
    let chunk_infos = vec![part];
    let answer = all(client
        .fetch_chunks(FetchChunksRequest { chunk_infos })
        .await)
    .await;
    answer.map(|messages| messages.len())
}

fn column(name: &str, array: ArrayRef) -> DataframePart {
    encode_table(&RecordBatch::try_from_iter([(name, array)]).unwrap()).unwrap()
}

fn keys(keys: &[&[u8]]) -> DataframePart {
    column("chunk_key", Arc::new(BinaryArray::from_iter_values(keys)))
}

/// Some numbers that look random and are always the same.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..len).map(|_| next()).collect()
}

#[tokio::test]
async fn a_key_that_is_not_ours_finds_nothing() {
    let running = Running::of(&robots()).await;
    let mut client = running.client().await;
    let long = noise(4096);
    for key in [&b""[..], b"x", &[0; 32], &[1; 200], &long[..40], &long] {
        let status = fetch(&mut client, keys(&[key])).await.unwrap_err();
        assert_eq!(status.code(), Code::NotFound, "{key:?}");
    }
    assert_eq!(fetch(&mut client, keys(&[])).await.unwrap(), 0);
}

#[tokio::test]
async fn a_key_of_another_dataset_is_not_found_where_that_is_not_served() {
    let ours = Running::of(&robots()).await;
    let mut client = ours.client().await;
    let everything = QueryDatasetRequest {
        select_all_entity_paths: true,
        ..Default::default()
    };
    let plan = all(client.query_dataset(about("d", everything)).await)
        .await
        .unwrap();
    let part = plan.into_iter().next().unwrap().data.unwrap();
    assert!(fetch(&mut client, part.clone()).await.unwrap() > 0);
    let source = segue_chunk::LocalSource::builder()
        .dataset("e", robots())
        .build();
    let other = segue_chunk_server::ChunkServer::builder(source.unwrap());
    let other = Running::start(other).await;
    let status = fetch(&mut other.client().await, part).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}

#[tokio::test]
async fn what_is_no_table_of_keys_is_refused() {
    let running = Running::of(&robots()).await;
    let mut client = running.client().await;
    let good = keys(&[b"x"]);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let missing: ArrayRef = Arc::new(BinaryArray::from(vec![None::<&[u8]>]));
    let rubbish = |payload: Vec<u8>| DataframePart {
        payload: Some(payload.into()),
        ..good.clone()
    };
    let bad = [
        DataframePart::default(),
        rubbish(Vec::new()),
        rubbish(noise(10)),
        rubbish(noise(5000)),
        DataframePart {
            payload: None,
            ..good.clone()
        },
        DataframePart {
            encoder_version: 77,
            ..good.clone()
        },
        DataframePart {
            compression: -1,
            ..good.clone()
        },
        DataframePart {
            compression: Compression::Lz4.into(),
            uncompressed_size: u64::MAX,
            encoder_version: EncoderVersion::V0.into(),
            payload: Some(noise(5000).into()),
        },
        column("chunk_id", Arc::clone(&numbers)),
        column("chunk_key", numbers),
        column("chunk_key", texts),
        column("chunk_key", missing),
    ];
    for part in bad {
        let status = fetch(&mut client, part.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{part:?}: {status}");
    }
    // It goes on.
    assert!(client.who_am_i(WhoAmIRequest {}).await.is_ok());
}

#[tokio::test]
async fn numbers_of_nothing_are_refused_or_mean_nothing() {
    let running = Running::of(&robots()).await;
    let mut client = running.client().await;
    let filter = EntryFilter {
        entry_kinds: vec![99, -1],
        ..Default::default()
    };
    let request = FindEntriesRequest {
        filter: Some(filter),
    };
    let found = client.find_entries(request).await.unwrap().into_inner();
    assert_eq!(found.entries.len(), 0);
    let range = RangeSelection {
        timeline: "frame_nr".to_owned(),
        start_inclusive: None,
        end_inclusive: None,
        fill_mode: -3,
        segments: Some(SegmentSelection {
            selection: Some(segment_selection::Selection::All(())),
        }),
    };
    let request = FindChunksRequest {
        contents: Some(ContentSelection {
            selection: Some(content_selection::Selection::All(())),
        }),
        mode: Some(find_chunks_request::Mode::Range(range)),
        direct_url_mode: 0,
    };
    let status = client.find_chunks(about("d", request)).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
}
