//! Serving takes little memory, however much is read, and whether or not recordings have a footer.

use std::path::Path;

use segue_chunk::Compression;
use segue_chunk::testing::{ChunkBuilder, RecordingWriter};
use tempfile::TempDir;

use crate::catalog::{Server, catalog};

const MIB: usize = 1024 * 1024;

/// What the serving process may have in all.
const MOST: usize = 200_000_000;

/// Megabytes of recordings to serve; the nightly checks ask for a gigabyte.
fn megabytes() -> usize {
    let asked = std::env::var("SEGUE_SERVE_MEGABYTES").ok();
    asked.map_or(256, |text| text.parse().expect("a number of megabytes"))
}

const ROWS: i64 = 128;
const ITEMS: usize = 2048;
const CHUNK_BYTES: usize = ROWS as usize * ITEMS * size_of::<f64>();
const CHUNKS_PER_SEGMENT: usize = 32;

/// Writes recordings of at least `megabytes`, and gives the number of their rows.
fn write(folder: &Path, writer: &RecordingWriter) -> i64 {
    let segments = (megabytes() * MIB).div_ceil(CHUNKS_PER_SEGMENT * CHUNK_BYTES);
    for segment in 0..segments {
        let name = format!("segment_{segment}");
        let chunk = |at: usize| {
            let first = at as i64 * ROWS;
            let list = |row| Some(vec![(first + row) as f64; ITEMS]);
            ChunkBuilder::new(name.as_str(), "/lidar")
                .id((segment * CHUNKS_PER_SEGMENT + at) as u64 + 1)
                .sequence("frame", first..first + ROWS)
                .lists("Scan:ranges", (0..ROWS).map(list))
                .build()
        };
        (0..CHUNKS_PER_SEGMENT)
            .fold(writer.clone(), |writer, at| writer.chunk(&chunk(at)))
            .write(folder.join(format!("{name}.rrd")));
    }
    (segments * CHUNKS_PER_SEGMENT) as i64 * ROWS
}

/// The most memory that a process has had so far, in bytes.
fn peak_memory(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn serving_takes_little_memory_however_much_is_read() {
    let plain = RecordingWriter::new().compression(Compression::None);
    for writer in [plain.clone(), plain.without_footer()] {
        let dir = TempDir::new().unwrap();
        let rows = write(dir.path(), &writer);
        let server = Server::start(&[format!("big={}", dir.path().display())]);
        let sql = "SELECT count(*), count(\"/lidar:Scan:ranges\") FROM big.frame";
        let output = catalog(&server.url, &["--format", "csv", sql])
            .output()
            .unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        let expected = format!("{rows},{rows}");
        assert_eq!(answer.lines().nth(1), Some(expected.as_str()), "{answer}");
        let peak = peak_memory(server.child.id());
        println!("{} MiB served in {} MiB", megabytes(), peak / MIB);
        assert!(peak < MOST, "{peak}");
    }
}
