//! A remote source over Segue's own server keeps the contract of `ChunkSource`.

use segue_chunk::testing::RecordingWriter;
use segue_chunk::testing::conformance::{Expected, check_source, recordings};
use segue_chunk::{Compression, LocalSource};
use segue_chunk_client::RemoteSource;
use segue_chunk_server::ChunkServer;
use tokio::sync::oneshot;

/// Serves files that `writer` has begun, and checks a source in either form of the protocol.
async fn check_served(writer: RecordingWriter) {
    let root = tempfile::tempdir().unwrap();
    for (number, recording) in recordings().iter().enumerate() {
        let folder = root.path().join(recording.dataset).join(number.to_string());
        let file = folder.join(format!("{}.rrd", recording.layer));
        writer.clone().chunks(&recording.chunks).write(file);
    }
    let folder = LocalSource::builder().folder(root.path()).build().unwrap();
    let server = ChunkServer::builder(folder);
    let server = server.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("rerun+http://{}", server.local_addr());
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = server.serve(async { stopped.await.unwrap_or_default() });
    let checking = async {
        let found = RemoteSource::builder(&url);
        let queried = RemoteSource::builder(&url).plan_by_query_dataset();
        for builder in [found, queried] {
            let source = builder.connect().await.unwrap();
            assert_eq!(check_source(&source, &Expected::standard()).await, Ok(()));
        }
        drop(stop);
    };
    let (served, ()) = tokio::join!(serving, checking);
    served.unwrap();
}

#[tokio::test]
async fn a_served_folder_keeps_the_contract() {
    check_served(RecordingWriter::new()).await;
}

#[tokio::test]
async fn served_recordings_without_compression_and_footers_keep_the_contract() {
    let writer = RecordingWriter::new().compression(Compression::None);
    check_served(writer.without_footer()).await;
}
