//! Chunks that the SDK wrote.

use std::path::{Path, PathBuf};

use arrow::record_batch::RecordBatch;
use arrow_ipc::reader::StreamReader;

use super::*;
use crate::ipc;
use crate::rrd::{ChunkPlace, FileBytes, RecordingIndex, read_chunk};

/// Every chunk of the example recordings, with its announcement and the schema of its recording.
fn chunks() -> Vec<(ChunkInfo, EncodedChunk, Arc<DatasetSchema>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/recordings/robots");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|e| e == "rrd"))
        .flat_map(of_file)
        .collect()
}

fn of_file(path: PathBuf) -> Vec<(ChunkInfo, EncodedChunk, Arc<DatasetSchema>)> {
    let bytes = FileBytes::open(&path).unwrap();
    let index = RecordingIndex::read(&bytes, "recording").unwrap();
    let mut chunks = Vec::new();
    for store in &index.stores {
        for entry in &store.chunks {
            let place = ChunkPlace {
                segment: &store.segment,
                application: store.application.as_deref(),
                id: entry.id,
                is_static: entry.is_static,
                offset: entry.offset,
                len: entry.len,
                uncompressed_len: Some(entry.uncompressed_len),
            };
            let encoded = read_chunk(&bytes, "recording", place).unwrap();
            let range = entry.span("frame_nr").and_then(|span| span.range);
            let info = ChunkInfo {
                id: entry.id,
                segment: store.segment.clone(),
                layer: "base".into(),
                entity: entry.entity.clone(),
                is_static: entry.is_static,
                byte_len: entry.len,
                byte_len_uncompressed: Some(entry.uncompressed_len),
                start: range.map(|range| range.start),
                end: range.map(|range| range.end),
                num_rows: Some(entry.num_rows),
                key: Bytes::new(),
            };
            chunks.push((info, encoded, Arc::clone(&store.schema)));
        }
    }
    chunks
}

#[test]
fn chunks_of_the_example_recordings_are_what_their_index_announces() {
    let chunks = chunks();
    assert!(chunks.len() > 60, "{} chunks", chunks.len());
    for (info, encoded, schema) in &chunks {
        let decoder = ChunkDecoder::new(Arc::clone(schema), Some("frame_nr".into()));
        let chunk = decoder.decode(info, encoded).unwrap();
        assert!(chunk.num_rows() > 0);
        let again = EncodedChunk::from_chunk(&chunk, Compression::Lz4).unwrap();
        assert_same(&decode_unannounced(&again).unwrap().0, &chunk);
    }
}

#[test]
fn batches_of_the_example_recordings_are_those_that_arrow_reads() {
    for (_, encoded, _) in chunks() {
        let (compression, len) = (encoded.compression, encoded.uncompressed_len);
        let stream = ipc::decompress(compression, len, &encoded.payload).unwrap();
        let theirs: Vec<RecordBatch> = StreamReader::try_new(stream.as_slice(), None)
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let ours = ipc::read_batch(stream).unwrap();
        assert_eq!(theirs, [ours]);
    }
}
