//! The sources of this crate keep the contract of `ChunkSource`.

use segue_chunk::testing::RecordingWriter;
use segue_chunk::testing::conformance::{Expected, check_source, recordings};
use segue_chunk::{Compression, LocalSource};

/// Checks a [`LocalSource`] over files that `writer` has begun.
async fn check_local(writer: RecordingWriter) {
    let root = tempfile::tempdir().expect("a test can make a folder");
    for (number, recording) in recordings().iter().enumerate() {
        // Names of folders below the dataset mean nothing; the file names the layer.
        let folder = root.path().join(recording.dataset).join(number.to_string());
        let file = folder.join(format!("{}.rrd", recording.layer));
        writer.clone().chunks(&recording.chunks).write(file);
    }
    let source = LocalSource::builder().folder(root.path()).build();
    let source = source.expect("the folder has recordings");
    assert_eq!(check_source(&source, &Expected::standard()).await, Ok(()));
}

#[tokio::test]
async fn a_folder_of_recordings_keeps_the_contract() {
    check_local(RecordingWriter::new()).await;
}

#[tokio::test]
async fn a_folder_of_uncompressed_recordings_keeps_the_contract() {
    check_local(RecordingWriter::new().compression(Compression::None)).await;
}

#[tokio::test]
async fn a_folder_of_recordings_without_footers_keeps_the_contract() {
    check_local(RecordingWriter::new().without_footer()).await;
}
