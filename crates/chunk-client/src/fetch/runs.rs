//! Which chunks are asked for together.

use segue_chunk::ChunkInfo;

/// Announced bytes after which a request gets no further chunk.
const RUN_BYTES: u64 = 8 * 1024 * 1024;
/// Most chunks of a request.
const RUN_CHUNKS: usize = 1024;

/// Cuts `chunks` into runs of consecutive ones, each for one request.
pub(super) fn runs(chunks: Vec<ChunkInfo>) -> Vec<Vec<ChunkInfo>> {
    let mut runs: Vec<Vec<ChunkInfo>> = Vec::new();
    let mut room = 0;
    for chunk in chunks {
        let size = chunk.byte_len;
        match runs.last_mut() {
            Some(run) if size <= room && run.len() < RUN_CHUNKS => {
                room -= size;
                run.push(chunk);
            }
            _ => {
                room = RUN_BYTES.saturating_sub(size);
                runs.push(vec![chunk]);
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::expected::tests::info;

    fn lengths(sizes: &[u64]) -> Vec<usize> {
        let chunks = (1..).zip(sizes).map(|(id, &size)| info(id, size));
        runs(chunks.collect()).iter().map(Vec::len).collect()
    }

    #[test]
    fn runs_hold_consecutive_chunks_up_to_a_size_and_a_number() {
        assert_eq!(lengths(&[]), [0; 0]);
        assert_eq!(lengths(&[1, 1, 1]), [3]);
        assert_eq!(lengths(&[RUN_BYTES, 1, RUN_BYTES - 1, 1]), [1, 2, 1]);
        assert_eq!(lengths(&[u64::MAX, 1]), [1, 1]);
        assert_eq!(
            lengths(&vec![0; 2 * RUN_CHUNKS + 1]),
            [RUN_CHUNKS, RUN_CHUNKS, 1]
        );
    }

    #[test]
    fn the_order_stays() {
        let chunks: Vec<ChunkInfo> = (0..3000).map(|id| info(id, RUN_BYTES / 7)).collect();
        let flat: Vec<ChunkInfo> = runs(chunks.clone()).into_iter().flatten().collect();
        assert_eq!(flat, chunks);
    }
}
