//! What several of these tests need.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use arrow::array::Array;
use futures::TryStreamExt as _;
use segue_chunk::rrd::ReadAt;
use segue_chunk::{
    Chunk, ChunkDecoder, ChunkId, ChunkSource, DatasetSchema, EntitySelection, Fill, LocalSource,
    PlanRequest, SegmentId, TimeRange, TimeSelection, View, ViewOptions,
};
use segue_error::Result;

/// The folder of the example datasets.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/recordings")
}

/// All example recordings, with their names.
pub(crate) fn example_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for dataset in ["drive", "robots"] {
        for entry in std::fs::read_dir(examples().join(dataset)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
    files.sort();
    assert_eq!(files.len(), 22);
    files
}

/// The bytes of one of the small example recordings.
pub(crate) fn robot(name: &str) -> Vec<u8> {
    std::fs::read(examples().join("robots").join(name)).unwrap()
}

/// Runs `future` on a runtime of its own.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    runtime().block_on(future)
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

/// A source of the one dataset `d` over `folder`.
pub(crate) fn source(folder: &Path) -> LocalSource {
    LocalSource::builder().dataset("d", folder).build().unwrap()
}

/// Asks for everything of `schema`.
pub(crate) fn request(schema: &DatasetSchema, index: Option<&str>) -> PlanRequest {
    let entities: BTreeSet<_> = schema.components.iter().map(|c| c.entity.clone()).collect();
    let entities = entities.into_iter().map(|entity| {
        let components = schema.components.iter().filter(|c| c.entity == entity);
        EntitySelection {
            components: components.map(|c| Arc::clone(&c.component)).collect(),
            entity,
        }
    });
    PlanRequest {
        dataset: "d".into(),
        entities: entities.collect(),
        segments: None,
        time: match index {
            None => TimeSelection::Static,
            Some(index) => TimeSelection::Index {
                index: index.into(),
                range: TimeRange::ALL,
                fill: Fill::None,
            },
        },
    }
}

/// All chunks of the dataset `d` by `index`, decoded, in order.
pub(crate) async fn read_all(source: &LocalSource, index: Option<&str>) -> Result<Vec<Chunk>> {
    let schema = source.schema("d").await?;
    View::resolve(&schema, index, &ViewOptions::default())?;
    let plan = source.plan(&request(&schema, index)).await?;
    let decoder = ChunkDecoder::new(schema, index.map(Arc::from));
    let mut encoded = source.fetch("d", plan.clone());
    let mut chunks = Vec::new();
    while let Some(encoded) = encoded.try_next().await? {
        let info = plan
            .iter()
            .find(|i| i.id == encoded.id && i.segment == encoded.segment);
        chunks.push(decoder.decode(info.expect("only what was planned comes"), &encoded)?);
    }
    assert_eq!(chunks.len(), plan.len(), "a planned chunk did not come");
    chunks.sort_by_key(|chunk| (chunk.segment().clone(), chunk.id()));
    Ok(chunks)
}

/// What a chunk is, without its values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    id: ChunkId,
    segment: SegmentId,
    rows: usize,
}

pub(crate) fn shapes(chunks: &[Chunk]) -> Vec<Shape> {
    let shapes = chunks.iter().map(|chunk| Shape {
        id: chunk.id(),
        segment: chunk.segment().clone(),
        rows: chunk.num_rows(),
    });
    shapes.collect()
}

/// Entity and columns of each chunk.
pub(crate) fn names(chunks: &[Chunk]) -> Vec<String> {
    let names = chunks.iter().map(|chunk| {
        let timelines = chunk
            .timelines()
            .iter()
            .map(|c| format!("{:?}", c.timeline));
        let components = chunk.components().iter();
        let components = components.map(|c| format!("{}: {}", c.component, c.values.data_type()));
        let mut columns: Vec<String> = timelines.chain(components).collect();
        columns.sort();
        format!("{} {}", chunk.entity(), columns.join(", "))
    });
    names.collect()
}

/// Whether the values are the same, too. Bits are compared: NaN equals itself.
pub(crate) fn same_values(a: &[Chunk], b: &[Chunk]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            let timelines = a.timelines().len() == b.timelines().len()
                && a.timelines().iter().all(|column| {
                    b.timeline(&column.timeline.name)
                        .is_some_and(|o| o.times == column.times)
                });
            let components = a.components().len() == b.components().len()
                && a.components().iter().all(|column| {
                    let other = b.component(&column.component);
                    // Arrow compares floats by their bits.
                    other.is_some_and(|other| other == &column.values)
                });
            a.row_ids() == b.row_ids() && timelines && components
        })
}

/// Bytes that count what is read of them.
#[derive(Debug)]
pub(crate) struct Counting {
    bytes: Vec<u8>,
    pub(crate) reads: AtomicUsize,
    pub(crate) read: AtomicU64,
    pub(crate) largest: AtomicU64,
}

impl Counting {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            reads: AtomicUsize::new(0),
            read: AtomicU64::new(0),
            largest: AtomicU64::new(0),
        }
    }
}

impl ReadAt for Counting {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.largest
            .fetch_max(buffer.len() as u64, Ordering::Relaxed);
        self.bytes.read_exact_at(buffer, offset)
    }
}
