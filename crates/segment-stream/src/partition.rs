//! Which partition DataFusion would send the rows of a segment to.
//!
//! A scan that claims to be hash partitioned by segment is trusted, not checked: a join then meets rows of
//! the other side that `RepartitionExec` placed. So the placement here is the one of DataFusion itself,
//! hash and seed included.
//!
//! It holds for the segment column as declared, `Utf8`. A `LargeUtf8` column is placed alike, and so is a
//! dictionary of text; a `Utf8View` column is not: short views are hashed as views, long ones as bytes,
//! which hash unlike text.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use datafusion::common::hash_utils::create_hashes;
use datafusion::error::Result;
use datafusion::physical_plan::repartition::REPARTITION_RANDOM_STATE;
use segue_chunk::SegmentId;

/// The partition, of `n`, of each of `ids`. If `n` is zero, it counts as one.
///
/// # Errors
///
/// If DataFusion cannot hash text.
pub(crate) fn partition_segments(ids: &[SegmentId], n: usize) -> Result<Vec<usize>> {
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(
        ids.iter().map(SegmentId::as_str),
    ));
    partition_keys(&keys, n)
}

fn partition_keys(keys: &ArrayRef, n: usize) -> Result<Vec<usize>> {
    let mut hashes = vec![0; keys.len()];
    create_hashes([keys], REPARTITION_RANDOM_STATE.random_state(), &mut hashes)?;
    let n = n.max(1) as u64;
    // The remainder is below `n`, which came from a `usize`.
    Ok(hashes.into_iter().map(|hash| (hash % n) as usize).collect())
}

#[cfg(test)]
mod tests;
