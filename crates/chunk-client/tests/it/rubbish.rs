//! A server whose answers are real ones, but for one bit.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use segue_chunk::{ChunkDecoder, ChunkInfo, ChunkSource, DatasetSchema, PlanRequest, TextSet};
use segue_chunk_client::RemoteSource;
use segue_error::{Error, ErrorCode, Result};
use tokio::task::JoinSet;

use crate::support::http2::{begin, fine, serve};
use crate::support::{DATASET, VERSIONS, fetch, raw, request};

/// Bits that are changed in the answer to one method.
const FLIPS: usize = 150;

/// Bodies of answers by method, one of them changed.
#[derive(Default)]
struct Bodies {
    by_method: BTreeMap<&'static str, Vec<u8>>,
    changed: Option<(&'static str, Vec<u8>)>,
}

/// The body of an answer of these messages.
fn framed(messages: Vec<Vec<u8>>) -> Vec<u8> {
    let frame = |message: Vec<u8>| {
        let len = u32::try_from(message.len()).unwrap().to_be_bytes();
        [&[0], &len[..], &message].concat()
    };
    messages.into_iter().flat_map(frame).collect()
}

/// A server that answers as that of `version` did.
async fn server(version: &str) -> (Arc<Mutex<Bodies>>, RemoteSource, JoinSet<()>) {
    let mut bodies = Bodies::default();
    for (method, start) in [
        ("WhoAmI", "WhoAmI."),
        ("FindEntries", "FindEntries."),
        ("GetDatasetSchema", "GetDatasetSchema."),
        ("ScanSegmentTable", "ScanSegmentTable."),
        ("QueryDataset", "Plan."),
        ("FindChunks", "Plan."),
        ("FetchChunks", "FetchChunks."),
    ] {
        let body = framed(raw(version, start));
        bodies.by_method.insert(method, body);
    }
    let bodies = Arc::new(Mutex::new(bodies));
    let shared = Arc::clone(&bodies);
    let answer = move |path: &str, respond| {
        let method = path.rsplit('/').next().unwrap();
        let bodies = shared.lock().unwrap();
        let body = match &bodies.changed {
            Some((changed, body)) if *changed == method => body,
            _ => &bodies.by_method[method],
        };
        begin(respond, body).send_trailers(fine()).unwrap();
    };
    let (url, tasks) = serve(Arc::new(answer)).await;
    let source = RemoteSource::builder(&url).connect().await.unwrap();
    (bodies, source, tasks)
}

/// What was read while all answers were as recorded.
struct Known {
    schema: Arc<DatasetSchema>,
    request: PlanRequest,
    plan: Vec<ChunkInfo>,
}

/// Does what makes `source` call `method`.
async fn call(source: &RemoteSource, method: &str, known: &Known) -> Result<()> {
    match method {
        "FindEntries" => source.datasets().await.map(drop),
        "GetDatasetSchema" => source.schema(DATASET).await.map(drop),
        "ScanSegmentTable" => source
            .segment_table(DATASET, &TextSet::all())
            .await
            .map(drop),
        "FetchChunks" => {
            let infos: HashMap<_, _> = known.plan.iter().map(|info| (info.id, info)).collect();
            let decoder = ChunkDecoder::new(Arc::clone(&known.schema), Some("frame_nr".into()));
            for chunk in fetch(source, known.plan.clone()).await? {
                decoder.decode(infos[&chunk.id], &chunk)?;
            }
            Ok(())
        }
        _ => source.plan(&known.request).await.map(drop),
    }
}

/// Whether `error` is one that a damaged answer may have.
fn is_fair(error: &Error) -> bool {
    matches!(
        error.code(),
        ErrorCode::InvalidResponse
            | ErrorCode::Unsupported
            | ErrorCode::ChunkCorrupt
            | ErrorCode::SourceUnderDelivered
            | ErrorCode::SourceOverDelivered
            // A dataset or a type is called something else.
            | ErrorCode::UnknownDataset
            | ErrorCode::SchemaConflict
            // The answer ends in the middle of a message.
            | ErrorCode::TransportUnavailable
    )
}

#[tokio::test]
async fn a_changed_bit_in_an_answer_is_an_error_or_harmless() {
    for version in VERSIONS {
        let (bodies, source, _tasks) = server(version).await;
        let request = request(&source).await;
        let known = Known {
            schema: source.schema(DATASET).await.unwrap(),
            plan: source.plan(&request).await.unwrap(),
            request,
        };
        let planning = match version {
            "0.36.3" => "QueryDataset",
            _ => "FindChunks",
        };
        for method in [
            "FindEntries",
            "GetDatasetSchema",
            "ScanSegmentTable",
            planning,
            "FetchChunks",
        ] {
            let body = bodies.lock().unwrap().by_method[method].clone();
            let mut errors = 0;
            for flip in 0..FLIPS {
                let mut changed = body.clone();
                let at = flip * body.len() / FLIPS;
                changed[at] ^= 1 << (flip % 8);
                bodies.lock().unwrap().changed = Some((method, changed));
                if let Err(error) = call(&source, method, &known).await {
                    assert!(is_fair(&error), "{version} {method} {at}: {error:?}");
                    assert!(!error.message().contains('\n'), "{error}");
                    errors += 1;
                }
            }
            assert!(errors > 0, "{version} {method}");
            bodies.lock().unwrap().changed = None;
            // What was damaged is forgotten.
            source.datasets().await.unwrap();
            call(&source, method, &known).await.unwrap();
        }
    }
}
