//! Memory does not grow with the recordings that are read.

use std::path::Path;
use std::sync::Arc;

use segue::chunk::testing::{ChunkBuilder, RecordingWriter};
use segue::chunk::{Compression, LocalSource};

use crate::support::{rows, session_at};

const MIB: usize = 1024 * 1024;

/// What counting all may take on top of what counting a few segments has taken, where the allocator keeps
/// nothing for itself.
const MOST_GROWTH: usize = 64 * MIB;

/// glibc keeps what is freed below a size that it raises as it goes, per thread: fixing that size shows
/// what is held, without what lies about.
const PLAIN_ALLOCATOR: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "131072");

/// Segments that keep every partition busy.
const FEW_SEGMENTS: usize = 6;

/// Each partition has its own window of chunks: a number that does not depend on the machine.
const PARTITIONS: usize = 2;

/// What the counting process may have in all, where the allocator keeps nothing for itself.
const MOST: usize = 300_000_000;

/// Tells the process that is to count where the recordings are, and how many rows they have.
const COUNT_FOLDER: &str = "SEGUE_COUNT_FOLDER";
const COUNT_ROWS: &str = "SEGUE_COUNT_ROWS";

/// Megabytes of recordings to count; the nightly checks ask for a gigabyte.
fn megabytes() -> usize {
    let asked = std::env::var("SEGUE_COUNT_MEGABYTES").ok();
    asked.map_or(384, |text| text.parse().expect("a number of megabytes"))
}

const ROWS_PER_CHUNK: usize = 256;
const ITEMS_PER_ROW: usize = 2048;
const CHUNK_BYTES: usize = ROWS_PER_CHUNK * ITEMS_PER_ROW * size_of::<f64>();
const CHUNKS_PER_SEGMENT: usize = 8 * MIB / CHUNK_BYTES;

/// Writes recordings of at least `megabytes` and returns the number of rows in them.
fn write(folder: &Path, megabytes: usize) -> usize {
    let segments = (megabytes * MIB).div_ceil(CHUNKS_PER_SEGMENT * CHUNK_BYTES);
    for segment in 0..segments {
        let name = format!("segment_{segment}");
        let chunk = |at: usize| {
            let first = (at * ROWS_PER_CHUNK) as i64;
            let item = |row: usize, n: usize| ((segment + 1) * (row + 1) * (n + at + 1)) as f64;
            let list = |row: usize| (0..ITEMS_PER_ROW).map(|n| item(row, n).sqrt()).collect();
            let rows = (0..ROWS_PER_CHUNK).map(|row| Some(list(row)));
            ChunkBuilder::new(name.as_str(), "/lidar")
                .id((segment * CHUNKS_PER_SEGMENT + at) as u64 + 1)
                .sequence("frame", first..first + ROWS_PER_CHUNK as i64)
                .lists("Scan:ranges", rows)
                .build()
        };
        let writer = RecordingWriter::new().compression(Compression::None);
        (0..CHUNKS_PER_SEGMENT)
            .fold(writer, |writer, at| writer.chunk(&chunk(at)))
            .write(folder.join(format!("{name}.rrd")));
    }
    segments * CHUNKS_PER_SEGMENT * ROWS_PER_CHUNK
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

/// Counts what is in `folder`, and checks the answer and what memory the process has had.
#[cfg(target_os = "linux")]
async fn count(folder: &Path, all: &str) {
    let source = LocalSource::builder()
        .dataset("big", folder)
        .build()
        .unwrap();
    let session = session_at(Arc::new(source), PARTITIONS, 8192).await;
    let sql = "SELECT count(*), count(\"/lidar:Scan:ranges\") FROM big.frame";
    let names: Vec<String> = (0..FEW_SEGMENTS)
        .map(|segment| format!("'segment_{segment}'"))
        .collect();
    let few = format!("{sql} WHERE rerun_segment_id IN ({})", names.join(", "));
    let of_few = FEW_SEGMENTS * CHUNKS_PER_SEGMENT * ROWS_PER_CHUNK;
    assert_eq!(rows(&session, &few).await, [format!("{of_few}|{of_few}")]);
    let before = peak_memory();
    assert_eq!(rows(&session, sql).await, [format!("{all}|{all}")]);
    let peak = peak_memory();
    println!(
        "counted in {} MiB, a few segments in {}",
        peak / MIB,
        before / MIB
    );
    if std::env::var_os(PLAIN_ALLOCATOR.0).is_some() {
        assert!(peak - before < MOST_GROWTH, "{peak} after {before}");
        assert!(peak < MOST, "{peak}");
    }
    // What an allocator keeps depends on the machine and its load, but it is not all that there was.
    assert!(peak < megabytes() * MIB, "{peak}");
}

/// The recordings are written by this process and counted by another one, in which nothing else has
/// happened: this test again, told what to count.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn counting_takes_the_same_memory_however_much_there_is_to_count() {
    if let (Some(folder), Ok(all)) = (std::env::var_os(COUNT_FOLDER), std::env::var(COUNT_ROWS)) {
        return count(Path::new(&folder), &all).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let rows = write(folder.path(), megabytes());
    let name = "memory::counting_takes_the_same_memory_however_much_there_is_to_count";
    for variable in [None, Some(PLAIN_ALLOCATOR)] {
        let counted = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(COUNT_FOLDER, folder.path())
            .env(COUNT_ROWS, rows.to_string())
            .envs(variable)
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&counted.stdout);
        let stderr = String::from_utf8_lossy(&counted.stderr);
        println!("{} MiB, {variable:?}: {stdout}", megabytes());
        assert!(
            counted.status.success() && stdout.contains("counted in"),
            "{stdout}{stderr}"
        );
    }
}
