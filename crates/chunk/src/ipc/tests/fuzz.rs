//! Damage of all sorts to streams of all types.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::buffer::Buffer;
use arrow::record_batch::RecordBatch;

use super::super::*;
use super::mutate::{Dice, cases, mutate};
use super::rewrite::{compress, rewrite};
use super::samples;

fn streams() -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    for array in samples::all() {
        let list = Arc::new(samples::listed(&array)) as ArrayRef;
        for column in [array, list] {
            let batch = RecordBatch::try_from_iter([("column", column)]).unwrap();
            let stream = write_batch(&batch).unwrap();
            streams.push(rewrite(&stream, compress));
            streams.push(stream);
        }
    }
    streams
}

#[test]
fn damaged_streams_are_errors_or_valid_batches() {
    let streams = streams();
    let mut dice = Dice::new(1);
    let mut valid = 0;
    for case in 0..cases(12_000) {
        let stream = &streams[case % streams.len()];
        let other = &streams[dice.below(streams.len())];
        let damaged = mutate(stream, other, &mut dice);
        let _ = read_schema(&damaged);
        if let Ok(batch) = read_batch(Buffer::from_vec(damaged)) {
            valid += 1;
            for column in batch.columns() {
                column.to_data().validate_full().unwrap();
            }
        }
    }
    assert!(
        valid > 0,
        "no damage was harmless: is it damage to what is read?"
    );
}
