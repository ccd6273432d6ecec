//! Every recorded call of Rerun's own servers, made to ours: equal answers, but for what is ours to choose.
//!
//! Deliberate differences, all of them in what follows:
//!
//! * ids, addresses and times of entries, and chunk keys, are the server's own;
//! * a layer is called like its file, theirs are all `base`;
//! * nothing can be written here, and only what is read of the capabilities is there;
//! * manifests name the application of the recording, theirs none;
//! * sizes are those of the chunks as they are stored and sent, theirs are what chunks take in memory;
//! * chunks without the timeline of a read are left out where it has bounds;
//! * a plan for the latest values may be larger than theirs: the index knows the times of a chunk, not those of
//!   each component in it, so the chunk before is planned, too; and so is a chunk whose values a static one
//!   hides. `LARGER` says where;
//! * first values come for every timeline of the segments, theirs (0.41) for the one that is asked for.

mod recorded;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use segue_chunk::decode_unannounced;
use segue_chunk::wire::{decode_schema, decode_table, encode_table};
use segue_chunk::{EncodedChunk, LocalSource};
use segue_chunk_server::ChunkServer;
use segue_proto::cloud::*;
use segue_proto::common;
use tonic::Request;

use crate::support::{Client, Running, about, all, robots};
use recorded::{Call, calls};
use tables::{Plan, by_name, cells};

/// Calls for the latest values, and the segments of which our plans have a chunk more.
const LARGER: [(&str, &[&str]); 3] = [
    (".fill-005.bin", &["static_override_0"]),
    (".wire-latest_at_30.bin", &["scalars_0"]),
    (".wire-per_segment_values.bin", &["scalars_0"]),
];

/// How the dataset was called.
const DATASET: &str = "golden";

async fn client() -> (Running, Client) {
    let source = LocalSource::builder().dataset(DATASET, robots()).build();
    let running = Running::start(ChunkServer::builder(source.unwrap())).await;
    let client = running.client().await;
    (running, client)
}

#[tokio::test]
async fn every_recorded_call_has_an_equal_answer() {
    let (_running, mut client) = client().await;
    let (mut messages, mut methods) = (0, BTreeMap::new());
    for version in ["0.36.3", "0.41.0"] {
        let calls = calls(version);
        for call in &calls {
            messages += 1 + call.responses.len();
            *methods.entry(call.method.clone()).or_insert(0) += 1;
            check(&mut client, call).await;
        }
    }
    // Nothing was passed over.
    assert_eq!(messages, 500);
    let counts: Vec<(&str, i32)> = methods.iter().map(|(name, n)| (&**name, *n)).collect();
    let wanted = [
        ("FetchChunks", 12),
        ("FindChunks", 7),
        ("FindEntries", 4),
        ("GetDatasetSchema", 4),
        ("GetRrdManifest", 2),
        ("GetSegmentTableSchema", 2),
        ("QueryDataset", 20),
        ("ReadDatasetEntry", 2),
        ("ScanSegmentTable", 4),
        ("Version", 2),
        ("WhoAmI", 2),
    ];
    assert_eq!(counts, wanted);
}

async fn check(client: &mut Client, call: &Call) {
    match &*call.method {
        "Version" => {
            let theirs: VersionResponse = call.response();
            let answer = client.version(call.request::<VersionRequest>()).await;
            assert_eq!(answer.unwrap().into_inner().features, theirs.features);
        }
        "WhoAmI" => {
            let theirs: WhoAmIResponse = call.response();
            let answer = client.who_am_i(call.request::<WhoAmIRequest>()).await;
            let ours = answer.unwrap().into_inner();
            assert_eq!(ours.can_read, theirs.can_read);
            assert!(!ours.can_write);
            // Servers of 0.36 have none.
            if let Some(theirs) = theirs.capabilities {
                let ours = ours.capabilities.unwrap().capabilities;
                assert_eq!(ours, ["dataset:find_chunks"]);
                assert!(theirs.capabilities.contains(&ours[0]));
            }
        }
        "FindEntries" => {
            let theirs: FindEntriesResponse = call.response();
            let answer = client
                .find_entries(call.request::<FindEntriesRequest>())
                .await;
            let ours = answer.unwrap().into_inner();
            let shape = |answer: FindEntriesResponse| -> Vec<_> {
                answer.entries.into_iter().map(|e| shape(&e)).collect()
            };
            assert_eq!(shape(ours), shape(theirs));
        }
        "ReadDatasetEntry" => {
            let theirs: ReadDatasetEntryResponse = call.response();
            let request = about(DATASET, call.request::<ReadDatasetEntryRequest>());
            let ours = client
                .read_dataset_entry(request)
                .await
                .unwrap()
                .into_inner();
            let shape = |answer: ReadDatasetEntryResponse| {
                let dataset = answer.dataset.unwrap();
                let handle = dataset.dataset_handle.unwrap();
                let details = dataset.details.unwrap();
                assert_eq!(handle.entry_id, details.id);
                assert!(handle.dataset_url.is_some() && dataset.dataset_details.is_some());
                (shape(&details), handle.store_kind, handle.dataset_kind)
            };
            assert_eq!(shape(ours), shape(theirs));
        }
        "GetDatasetSchema" => {
            let theirs: GetDatasetSchemaResponse = call.response();
            let request = about(DATASET, call.request::<GetDatasetSchemaRequest>());
            let ours = client
                .get_dataset_schema(request)
                .await
                .unwrap()
                .into_inner();
            same_fields(ours.schema, theirs.schema, 32);
        }
        "GetSegmentTableSchema" => {
            let theirs: GetSegmentTableSchemaResponse = call.response();
            let request = about(DATASET, call.request::<GetSegmentTableSchemaRequest>());
            let ours = client.get_segment_table_schema(request).await;
            same_fields(ours.unwrap().into_inner().schema, theirs.schema, 19);
        }
        "ScanSegmentTable" => scan_segment_table(client, call).await,
        "GetRrdManifest" => rrd_manifest(client, call).await,
        "QueryDataset" => query_dataset(client, call).await,
        "FindChunks" => find_chunks(client, call).await,
        "FetchChunks" => fetch_chunks(client, call).await,
        other => panic!("a recorded call of {other}"),
    }
}

fn shape(details: &EntryDetails) -> (Option<String>, i32, [bool; 3]) {
    let has = [
        details.id.is_some_and(|id| id.id.is_some()),
        details.created_at.is_some(),
        details.updated_at.is_some(),
    ];
    (details.name.clone(), details.entry_kind, has)
}

fn same_fields(ours: Option<common::Schema>, theirs: Option<common::Schema>, count: usize) {
    let fields =
        |schema: Option<common::Schema>| by_name(&decode_schema(&schema.unwrap()).unwrap());
    let (ours, theirs) = (fields(ours), fields(theirs));
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        theirs.keys().collect::<Vec<_>>()
    );
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), count);
}

async fn scan_segment_table(client: &mut Client, call: &Call) {
    let theirs: Vec<ScanSegmentTableResponse> = call.all();
    let request: ScanSegmentTableRequest = call.request();
    let columns = request.columns.clone();
    let ours = all(client.scan_segment_table(about(DATASET, request)).await).await;
    let table = |answer: Vec<ScanSegmentTableResponse>| {
        let [answer] = <[_; 1]>::try_from(answer).unwrap();
        decode_table(&answer.data.unwrap()).unwrap()
    };
    let (ours, theirs) = (table(ours.unwrap()), table(theirs));
    assert_eq!(by_name(&ours.schema()), by_name(&theirs.schema()));
    if !columns.is_empty() {
        let names = ours.schema();
        let names: Vec<&String> = names.fields().iter().map(|f| f.name()).collect();
        assert_eq!(names, columns.iter().collect::<Vec<_>>());
    }
    let own = [
        "rerun_layer_names",
        "rerun_storage_urls",
        "rerun_last_updated_at",
        "rerun_size_bytes",
    ];
    let ours = cells(&ours, "rerun_segment_id", &own);
    assert_eq!(ours, cells(&theirs, "rerun_segment_id", &own));
    assert_eq!(ours.len(), 21);
}

async fn rrd_manifest(client: &mut Client, call: &Call) {
    let theirs: Vec<GetRrdManifestResponse> = call.all();
    let request = about(DATASET, call.request::<GetRrdManifestRequest>());
    let ours = all(client.get_rrd_manifest(request).await).await.unwrap();
    assert_eq!((ours.len(), theirs.len()), (1, 1));
    for (ours, theirs) in ours.into_iter().zip(theirs) {
        let (mut ours, mut theirs) = (ours.rrd_manifest.unwrap(), theirs.rrd_manifest.unwrap());
        let table = |part: Option<common::DataframePart>| decode_table(&part.unwrap()).unwrap();
        let (our_table, their_table) = (table(ours.data.take()), table(theirs.data.take()));
        assert_eq!(by_name(&our_table.schema()), by_name(&their_table.schema()));
        let own = ["chunk_key"];
        let cells = |table| cells(table, "chunk_id", &own);
        assert_eq!(cells(&our_table), cells(&their_table));
        let schema =
            |schema: Option<common::Schema>| by_name(&decode_schema(&schema.unwrap()).unwrap());
        assert_eq!(
            schema(ours.sorbet_schema.take()),
            schema(theirs.sorbet_schema.take())
        );
        for manifest in [&mut ours, &mut theirs] {
            let store = manifest.store_id.as_mut().unwrap();
            assert!(store.application_id.take().is_some());
        }
        // The store and the hash.
        assert_eq!(ours, theirs);
    }
}

async fn query_dataset(client: &mut Client, call: &Call) {
    let theirs: Vec<QueryDatasetResponse> = call.all();
    let request: QueryDatasetRequest = call.request();
    let timeline = recorded::timeline(&request);
    let ours = all(client.query_dataset(about(DATASET, request)).await)
        .await
        .unwrap();
    let parts = |answer: Vec<QueryDatasetResponse>| -> Vec<common::DataframePart> {
        answer
            .into_iter()
            .map(|message| message.data.unwrap())
            .collect()
    };
    same_plan(call, parts(ours), parts(theirs), timeline.as_deref());
}

async fn find_chunks(client: &mut Client, call: &Call) {
    let theirs: Vec<FindChunksResponse> = call.all();
    let request: FindChunksRequest = call.request();
    let has_bounds = match &request.mode {
        Some(find_chunks_request::Mode::Range(range)) => {
            range.start_inclusive.is_some() || range.end_inclusive.is_some()
        }
        _ => true,
    };
    let ours = all(client.find_chunks(about(DATASET, request)).await)
        .await
        .unwrap();
    let parts = |answer: Vec<FindChunksResponse>| -> Vec<common::DataframePart> {
        answer
            .into_iter()
            .map(|message| message.data.unwrap())
            .collect()
    };
    same_plan(
        call,
        parts(ours),
        parts(theirs),
        has_bounds.then_some("chunk_timeline_start"),
    );
}

/// Compares two plans. `start` is the column of first values on the timeline of a temporal read.
fn same_plan(
    call: &Call,
    ours: Vec<common::DataframePart>,
    theirs: Vec<common::DataframePart>,
    start: Option<&str>,
) {
    let name = &call.name;
    assert_eq!(ours.len(), theirs.len(), "{name}: one message per layer");
    let (ours, mut theirs) = (Plan::of(&ours), Plan::of(&theirs));
    if let Some(start) = start {
        theirs
            .rows
            .retain(|_, row| row.is_static || row.starts.contains_key(start));
    }
    // Columns of ours that theirs lack are for timelines that were not asked for.
    let missing: Vec<&String> = theirs.columns.difference(&ours.columns).collect();
    assert_eq!(missing, [""; 0], "{name}");
    let more = ours.columns.difference(&theirs.columns);
    let more: BTreeSet<&String> = more.filter(|column| !column.ends_with(":start")).collect();
    assert_eq!(more, BTreeSet::new(), "{name}");
    let more = ours.rows.keys().filter(|id| !theirs.rows.contains_key(id));
    let more: Vec<&str> = more.map(|(segment, _)| segment.as_str()).collect();
    let listed = LARGER.iter().find(|(call, _)| name.ends_with(call));
    let listed = listed.map(|(_, segments)| *segments).unwrap_or_default();
    assert_eq!(more, listed, "{name}");
    let known: Vec<_> = ours
        .rows
        .keys()
        .filter(|id| theirs.rows.contains_key(id))
        .collect();
    assert_eq!(known, theirs.rows.keys().collect::<Vec<_>>(), "{name}");
    for (chunk, theirs) in &theirs.rows {
        let ours = &ours.rows[chunk];
        assert_eq!(ours.entity, theirs.entity, "{name}: {chunk:?}");
        assert_eq!(ours.is_static, theirs.is_static, "{name}: {chunk:?}");
        for (column, start) in &theirs.starts {
            assert_eq!(
                ours.starts.get(column),
                Some(start),
                "{name}: {chunk:?} {column}"
            );
        }
    }
}

async fn fetch_chunks(client: &mut Client, call: &Call) {
    let theirs: Vec<FetchChunksResponse> = call.all();
    let mut request: FetchChunksRequest = call.request();
    for part in &mut request.chunk_infos {
        let table = recorded::with_our_keys(client, &decode_table(part).unwrap()).await;
        *part = encode_table(&table).unwrap();
    }
    let ours = all(client.fetch_chunks(Request::new(request)).await)
        .await
        .unwrap();
    let chunks = |answer: Vec<FetchChunksResponse>| -> BTreeMap<_, _> {
        let messages = answer.into_iter().flat_map(|message| message.chunks);
        let chunks = messages.map(|message| {
            let is_static = message.is_static;
            let encoded = EncodedChunk::from_wire(message).unwrap();
            let (chunk, schema) = decode_unannounced(&encoded).unwrap();
            assert!(is_static.is_none_or(|is| is == chunk.is_static()));
            ((chunk.segment().clone(), chunk.id()), (chunk, schema))
        });
        chunks.collect()
    };
    let (ours, theirs) = (chunks(ours), chunks(theirs));
    let name = &call.name;
    assert!(!ours.is_empty(), "{name}");
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        theirs.keys().collect::<Vec<_>>(),
        "{name}"
    );
    for (id, (ours, our_schema)) in &ours {
        let (theirs, their_schema) = &theirs[id];
        assert_eq!(our_schema, their_schema, "{name}: {id:?}");
        assert_eq!(
            tables::values(ours),
            tables::values(theirs),
            "{name}: {id:?}"
        );
    }
}
