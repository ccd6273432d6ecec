use arrow::array::Array;

use super::*;
use crate::ipc::tests::mutate::{Dice, cases, mutate};
use crate::ipc::tests::rewrite::{compress, rewrite};

/// Chunks of every type, plain, as an LZ4 block, and with compressed buffers.
fn encoded() -> Vec<EncodedChunk> {
    let mut all = vec![encode(&chunk()), encode(&fixed())];
    for array in samples::all() {
        let parts = parts(vec![("x", samples::listed(&array))]);
        all.push(encode(&Chunk::try_new(parts).unwrap()));
    }
    let more: Vec<_> = all
        .iter()
        .flat_map(|plain| {
            let lz4 = lz4_flex::block::compress(&plain.payload);
            let buffers = rewrite(&plain.payload, compress);
            let uncompressed_len = buffers.len() as u64;
            let buffers = EncodedChunk {
                payload: buffers.into(),
                uncompressed_len,
                ..plain.clone()
            };
            let compression = Compression::Lz4;
            [
                buffers,
                EncodedChunk {
                    payload: lz4.into(),
                    compression,
                    ..plain.clone()
                },
            ]
        })
        .collect();
    all.extend(more);
    all
}

#[test]
fn damaged_chunks_are_errors_or_valid_chunks() {
    let chunks = encoded();
    let mut dice = Dice::new(2);
    let mut valid = 0;
    for case in 0..cases(8_000) {
        let original = &chunks[case % chunks.len()];
        let other = &chunks[dice.below(chunks.len())];
        let payload: Bytes = mutate(&original.payload, &other.payload, &mut dice).into();
        let uncompressed_len = match original.compression {
            Compression::None => 0,
            Compression::Lz4 if dice.below(4) == 0 => dice.below(1 << 20) as u64,
            Compression::Lz4 => original.uncompressed_len,
        };
        let damaged = EncodedChunk {
            payload,
            uncompressed_len,
            ..original.clone()
        };
        let Ok((chunk, schema)) = decode_unannounced(&damaged) else {
            continue;
        };
        valid += 1;
        let mut info = info(&chunk, &damaged);
        info.byte_len_uncompressed = None;
        let decoder = ChunkDecoder::new(schema.into(), Some("frame".into()));
        let chunk = decoder.decode(&info, &damaged).unwrap();
        for column in chunk.components() {
            column.values.to_data().validate_full().unwrap();
        }
    }
    assert!(
        valid > 0,
        "no damage was harmless: is it damage to what is read?"
    );
}
