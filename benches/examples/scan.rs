//! One query against a catalog server, in a process of its own; prints what it took as one line of JSON.
//!
//! `scan URL DATASET INDEX CONTENTS SQL [WINDOW]`: the table is called `t` in the statement; contents is a rule such as
//! `/**` or `/joint/a`; the window is in bytes. Batches are dropped as they come. Times are in seconds, sizes in bytes.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use mimalloc::MiMalloc;
use segue::SegueSession;
use segue::chunk::{ChunkSource, Contents};
use segue::client::RemoteSource;
use segue::stream::{MemoryWindow, SegmentStreamTable, StreamHandles};

/// That of the `segue` program.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, dataset, index, contents, sql, rest @ ..] = args.as_slice() else {
        return Err("scan URL DATASET INDEX CONTENTS SQL [WINDOW]".into());
    };
    let mut handles = StreamHandles::default();
    if let [window] = rest {
        handles = handles.with_window(MemoryWindow::new(window.parse()?));
    }
    let source: Arc<dyn ChunkSource> = Arc::new(RemoteSource::builder(url).connect().await?);
    let session = SegueSession::builder()
        .with_source(Arc::clone(&source))
        .with_stream_handles(handles)
        .build()
        .await?;
    let idle = peak_bytes()?;
    let cpu_before = cpu_seconds()?;
    let start = Instant::now();
    let table = SegmentStreamTable::builder(source, dataset.as_str())
        .index(index)
        .contents(Contents::parse([contents])?)
        .build()
        .await?;
    session.context().register_table("t", Arc::new(table))?;
    let mut batches = session.sql(sql).await?.execute_stream().await?;
    let (mut rows, mut first) = (0, None);
    while let Some(batch) = batches.next().await {
        rows += batch?.num_rows();
        first.get_or_insert_with(|| start.elapsed().as_secs_f64());
    }
    let total = start.elapsed().as_secs_f64();
    let (cpu, peak) = (cpu_seconds()? - cpu_before, peak_bytes()?);
    let first = first.unwrap_or(total);
    println!(
        r#"{{"rows":{rows},"first_s":{first:.4},"total_s":{total:.4},"cpu_s":{cpu:.3},"idle":{idle},"peak":{peak}}}"#
    );
    Ok(())
}

/// The most memory that the process has held so far.
fn peak_bytes() -> Result<usize, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    Ok(kib.ok_or("no VmHWM")?.parse::<usize>()? * 1024)
}

/// Processor time of all threads so far, user and system.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    /// What Linux counts in, for every program.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no process name")?;
    // User and system time are the 14th and 15th field; the name was the second.
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks
        .map(|ticks| ticks.parse::<f64>())
        .sum::<Result<_, _>>()?;
    Ok(ticks / TICKS_PER_SECOND)
}
