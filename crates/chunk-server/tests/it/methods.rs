//! Methods, one by one, where no recorded call shows them.

use std::path::Path;

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use segue_chunk::testing::{ChunkBuilder, RecordingWriter};
use segue_chunk::wire::{decode_schema, decode_table};
use segue_proto::cloud::*;
use segue_proto::common;
use tonic::Code;

use crate::support::{Client, Running, about, all, robots};

/// A folder of one segment in two layers, and one in a file without a footer.
fn layered() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let chunk = |segment: &str, id: u64, frame: i64| {
        ChunkBuilder::new(segment, "/a")
            .id(id)
            .sequence("frame", [frame])
            .floats("x", [Some(1.0)])
            .build()
    };
    let fixed = ChunkBuilder::new("t", "/a")
        .id(9)
        .texts("label", [Some("static")])
        .build();
    let write = |name: &str, writer: RecordingWriter| writer.write(dir.path().join(name));
    write("base.rrd", RecordingWriter::new().chunk(&chunk("s", 1, 1)));
    write("more.rrd", RecordingWriter::new().chunk(&chunk("s", 2, 2)));
    let stopped = RecordingWriter::new().without_footer();
    write(
        "stopped.rrd",
        stopped.chunk(&chunk("t", 3, 3)).chunk(&fixed),
    );
    dir
}

async fn segments(client: &mut Client, request: ScanSegmentTableRequest) -> RecordBatch {
    let answer = all(client.scan_segment_table(about("d", request)).await)
        .await
        .unwrap();
    assert_eq!(answer.len(), 1);
    decode_table(answer[0].data.as_ref().unwrap()).unwrap()
}

async fn layers(client: &mut Client, request: ScanDatasetManifestRequest) -> RecordBatch {
    let answer = all(client.scan_dataset_manifest(about("d", request)).await)
        .await
        .unwrap();
    assert_eq!(answer.len(), 1);
    decode_table(answer[0].data.as_ref().unwrap()).unwrap()
}

fn texts(table: &RecordBatch, column: &str) -> Vec<String> {
    let texts = table.column_by_name(column).unwrap().as_string::<i32>();
    texts.iter().flatten().map(str::to_owned).collect()
}

#[tokio::test]
async fn the_segment_table_can_be_narrowed() {
    let dir = layered();
    let running = Running::of(dir.path()).await;
    let mut client = running.client().await;
    let whole = segments(&mut client, ScanSegmentTableRequest::default()).await;
    assert_eq!(texts(&whole, "rerun_segment_id"), ["s", "t"]);
    let names = whole
        .column_by_name("rerun_layer_names")
        .unwrap()
        .as_list::<i32>()
        .value(0);
    let names: Vec<_> = names.as_string::<i32>().iter().flatten().collect();
    assert_eq!(names, ["base", "more"]);
    let strategy = segment_id_filter::Strategy::Skip(SegmentIdList {
        segment_ids: vec!["s".to_owned()],
    });
    let request = ScanSegmentTableRequest {
        columns: vec!["frame:end".to_owned(), "rerun_segment_id".to_owned()],
        segment_id_filter: Some(SegmentIdFilter {
            strategy: Some(strategy),
        }),
    };
    let part = segments(&mut client, request).await;
    assert_eq!((part.num_columns(), part.num_rows()), (2, 1));
    assert_eq!(part.schema().field(0).name(), "frame:end");
    let unknown = ScanSegmentTableRequest {
        columns: vec!["nothing".to_owned()],
        ..Default::default()
    };
    let status = all(client.scan_segment_table(about("d", unknown)).await)
        .await
        .unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn the_layer_table_has_a_row_per_layer_and_can_be_narrowed() {
    let dir = layered();
    let running = Running::of(dir.path()).await;
    let mut client = running.client().await;
    let whole = layers(&mut client, ScanDatasetManifestRequest::default()).await;
    assert_eq!(texts(&whole, "rerun_segment_id"), ["s", "s", "t"]);
    assert_eq!(
        texts(&whole, "rerun_layer_name"),
        ["base", "more", "stopped"]
    );
    // Clients ask for those that are done.
    assert_eq!(texts(&whole, "rerun_registration_status"), ["done"; 3]);
    let urls = texts(&whole, "rerun_storage_url");
    assert!(
        urls[2].starts_with("file://") && urls[2].ends_with("/stopped.rrd"),
        "{urls:?}"
    );
    let schema = client.get_dataset_manifest_schema(about("d", GetDatasetManifestSchemaRequest {}));
    let schema = schema.await.unwrap().into_inner().schema.unwrap();
    assert_eq!(
        decode_schema(&schema).unwrap().fields(),
        whole.schema().fields()
    );
    let only = LayerNameList {
        layer_names: vec!["more".to_owned(), "stopped".to_owned()],
    };
    let request = ScanDatasetManifestRequest {
        columns: vec!["rerun_layer_name".to_owned()],
        segment_id_filter: Some(SegmentIdFilter {
            strategy: Some(segment_id_filter::Strategy::ScanOnly(SegmentIdList {
                segment_ids: vec!["s".to_owned()],
            })),
        }),
        layer_name_filter: Some(LayerNameFilter {
            strategy: Some(layer_name_filter::Strategy::ScanOnly(only)),
        }),
    };
    let part = layers(&mut client, request).await;
    assert_eq!(
        (texts(&part, "rerun_layer_name"), part.num_columns()),
        (vec!["more".to_owned()], 1)
    );
}

async fn manifests(client: &mut Client, segment: &str) -> Vec<segue_proto::log_msg::RrdManifest> {
    let request = GetRrdManifestRequest {
        segment_id: Some(common::SegmentId {
            id: Some(segment.to_owned()),
        }),
        generate_direct_urls: true,
    };
    let answer = all(client.get_rrd_manifest(about("d", request)).await)
        .await
        .unwrap();
    answer
        .into_iter()
        .map(|message| message.rrd_manifest.unwrap())
        .collect()
}

#[tokio::test]
async fn there_is_a_manifest_per_layer_also_without_a_footer() {
    let dir = layered();
    let running = Running::of(dir.path()).await;
    let mut client = running.client().await;
    assert_eq!(manifests(&mut client, "s").await.len(), 2);
    let made = manifests(&mut client, "t").await;
    assert_eq!(made.len(), 1);
    let store = made[0].store_id.as_ref().unwrap();
    assert_eq!(store.recording_id, "t");
    assert_eq!(store.application_id.as_ref().unwrap().id, "test");
    let schema = decode_schema(made[0].sorbet_schema.as_ref().unwrap()).unwrap();
    assert!(schema.field_with_name("/a:x").is_ok());
    let table = decode_table(made[0].data.as_ref().unwrap()).unwrap();
    assert_eq!(texts(&table, "chunk_entity_path"), ["/a", "/a"]);
    let statics = table
        .column_by_name("label:has_static_data")
        .unwrap()
        .as_boolean();
    assert_eq!((statics.value(0), statics.value(1)), (false, true));
    let starts = table.column_by_name("frame:start").unwrap();
    let starts = starts.as_primitive::<arrow::datatypes::Int64Type>();
    assert_eq!((starts.value(0), starts.is_null(1)), (3, true));

    // Its keys fetch its chunks.
    let keys = table
        .project(&[table.schema().index_of("chunk_key").unwrap()])
        .unwrap();
    let part = segue_chunk::wire::encode_table(&keys).unwrap();
    let request = FetchChunksRequest {
        chunk_infos: vec![part],
    };
    let chunks = all(client.fetch_chunks(request).await).await.unwrap();
    assert_eq!(chunks.len(), 2);
}

#[tokio::test]
async fn a_manifest_of_no_segment_is_not_found() {
    let running = Running::of(&robots()).await;
    let mut client = running.client().await;
    for (id, code) in [
        (Some("nope"), Code::NotFound),
        (None, Code::InvalidArgument),
    ] {
        let request = GetRrdManifestRequest {
            segment_id: Some(common::SegmentId {
                id: id.map(str::to_owned),
            }),
            generate_direct_urls: false,
        };
        let status = client
            .get_rrd_manifest(about("d", request))
            .await
            .unwrap_err();
        assert_eq!(status.code(), code);
    }
}

#[tokio::test]
async fn a_dataset_is_named_by_header_and_must_be_there() {
    let running = Running::of(&robots()).await;
    let mut client = running.client().await;
    let status = client
        .get_dataset_schema(GetDatasetSchemaRequest {})
        .await
        .unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("x-rerun-entry-id"), "{status}");
    let unknown = client
        .get_dataset_schema(about("e", GetDatasetSchemaRequest {}))
        .await;
    assert_eq!(unknown.unwrap_err().code(), Code::NotFound);
    let entry = client
        .read_dataset_entry(about("d", ReadDatasetEntryRequest {}))
        .await
        .unwrap();
    let id = entry
        .into_inner()
        .dataset
        .unwrap()
        .details
        .unwrap()
        .id
        .unwrap()
        .id
        .unwrap();
    let digits = format!("{:016X}{:016x}", id.time_ns(), id.inc());
    let mut request = tonic::Request::new(GetDatasetSchemaRequest {});
    request
        .metadata_mut()
        .insert("x-rerun-entry-id", digits.parse().unwrap());
    assert!(client.get_dataset_schema(request).await.is_ok());
}

#[tokio::test]
async fn an_id_outlives_the_server() {
    let id = async || {
        let running = Running::of(&robots()).await;
        let mut client = running.client().await;
        let found = client
            .find_entries(FindEntriesRequest::default())
            .await
            .unwrap();
        found.into_inner().entries[0].id
    };
    assert_eq!(id().await, id().await);
}

#[tokio::test]
async fn a_recording_that_cannot_be_read_is_named_without_its_folder() {
    let dir = layered();
    std::fs::write(dir.path().join("broken.rrd"), "this is no recording").unwrap();
    let running = Running::of(dir.path()).await;
    let mut client = running.client().await;
    let status = client
        .get_dataset_schema(about("d", GetDatasetSchemaRequest {}))
        .await;
    let status = status.unwrap_err();
    assert_eq!(status.code(), Code::DataLoss);
    assert!(status.message().contains("'broken.rrd'"), "{status}");
    let folder = dir
        .path()
        .file_name()
        .and_then(|name| Path::new(name).to_str())
        .unwrap();
    assert!(!status.message().contains(folder), "{status}");
}
