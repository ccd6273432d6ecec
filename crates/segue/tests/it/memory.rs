//! Memory does not grow with the recordings that are read.

use std::path::Path;
use std::sync::Arc;

use segue::SegueSession;
use segue::chunk::testing::{ChunkBuilder, RecordingWriter};
use segue::chunk::{Compression, LocalSource};

const MIB: usize = 1024 * 1024;

/// What counting may take on top of what the process has before it.
const MOST: usize = 128 * MIB;

/// Megabytes of recordings to count; the nightly checks ask for a gigabyte.
fn megabytes() -> usize {
    let asked = std::env::var("SEGUE_COUNT_MEGABYTES").ok();
    asked.map_or(384, |text| text.parse().expect("a number of megabytes"))
}

const ROWS_PER_CHUNK: usize = 256;
const ITEMS_PER_ROW: usize = 2048;

/// Writes recordings of at least `megabytes` and returns the number of rows in them.
fn write(folder: &Path, megabytes: usize) -> usize {
    let chunk_bytes = ROWS_PER_CHUNK * ITEMS_PER_ROW * size_of::<f64>();
    let chunks_per_segment = 8 * MIB / chunk_bytes;
    let segments = (megabytes * MIB).div_ceil(chunks_per_segment * chunk_bytes);
    for segment in 0..segments {
        let name = format!("segment_{segment}");
        let chunk = |at: usize| {
            let first = (at * ROWS_PER_CHUNK) as i64;
            let item = |row: usize, n: usize| ((segment + 1) * (row + 1) * (n + at + 1)) as f64;
            let list = |row: usize| (0..ITEMS_PER_ROW).map(|n| item(row, n).sqrt()).collect();
            let rows = (0..ROWS_PER_CHUNK).map(|row| Some(list(row)));
            ChunkBuilder::new(name.as_str(), "/lidar")
                .id((segment * chunks_per_segment + at) as u64 + 1)
                .sequence("frame", first..first + ROWS_PER_CHUNK as i64)
                .lists("Scan:ranges", rows)
                .build()
        };
        let writer = RecordingWriter::new().compression(Compression::None);
        (0..chunks_per_segment)
            .fold(writer, |writer, at| writer.chunk(&chunk(at)))
            .write(folder.join(format!("{name}.rrd")));
    }
    segments * chunks_per_segment * ROWS_PER_CHUNK
}

/// The most memory that the process has had so far, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib * 1024
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn counting_takes_the_same_memory_however_much_there_is_to_count() {
    let folder = tempfile::tempdir().unwrap();
    let rows = write(folder.path(), megabytes());
    let before = peak_memory();
    let source = LocalSource::builder()
        .dataset("big", folder.path())
        .build()
        .unwrap();
    let session = SegueSession::builder()
        .with_source(Arc::new(source))
        .build()
        .await
        .unwrap();
    let frame = session.sql("SELECT count(*), count(\"/lidar:Scan:ranges\") FROM big.frame");
    let counted = frame.await.unwrap().collect().await.unwrap();
    let text = datafusion::arrow::util::pretty::pretty_format_batches(&counted).unwrap();
    assert_eq!(
        text.to_string().matches(&rows.to_string()).count(),
        2,
        "{text}"
    );
    let grown = peak_memory() - before;
    println!(
        "{} MiB counted in {} MiB on top of {}",
        megabytes(),
        grown / MIB,
        before / MIB
    );
    assert!(grown < MOST, "{} MiB", grown / MIB);
}
