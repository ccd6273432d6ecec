//! What the tests share.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::util::pretty::pretty_format_batches;
use datafusion::dataframe::DataFrame;
use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionConfig;
use segue::SegueSession;
use segue::chunk::{ChunkSource, LocalSource};

/// The numbers of partitions and batch sizes at which answers must be equal.
pub(crate) const SETTINGS: [(usize, usize); 6] =
    [(1, 1), (1, 3), (1, 8192), (7, 1), (7, 3), (7, 8192)];

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// The datasets `robots` and `drive`.
pub(crate) fn examples() -> Arc<dyn ChunkSource> {
    let folder = repository("examples/recordings");
    Arc::new(LocalSource::builder().folder(folder).build().unwrap())
}

pub(crate) async fn session(source: Arc<dyn ChunkSource>) -> SegueSession {
    session_at(source, 2, 8192).await
}

pub(crate) async fn session_at(
    source: Arc<dyn ChunkSource>,
    partitions: usize,
    batch_size: usize,
) -> SegueSession {
    let config = SessionConfig::new()
        .with_target_partitions(partitions)
        .with_batch_size(batch_size);
    SegueSession::builder()
        .with_source(source)
        .with_session_config(config)
        .build()
        .await
        .unwrap()
}

/// All rows as one batch.
pub(crate) async fn collect(frame: DataFrame) -> RecordBatch {
    let schema = Arc::clone(frame.schema().inner());
    let batches = frame.collect().await.unwrap();
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    concat_batches(&schema, &batches).unwrap()
}

/// The answer to `sql`, as one batch.
pub(crate) async fn query(session: &SegueSession, sql: &str) -> RecordBatch {
    let frame = session
        .sql(sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    collect(frame).await
}

/// The answer to `sql` as text, one row per line, cells separated by `|`.
pub(crate) async fn rows(session: &SegueSession, sql: &str) -> Vec<String> {
    let batch = query(session, sql).await;
    let text = pretty_format_batches(&[batch]).unwrap().to_string();
    let lines = text.lines().filter(|line| line.starts_with('|')).skip(1);
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    lines.map(|line| cells(line).join("|")).collect()
}

/// The physical plan of `sql`, as indented text.
pub(crate) async fn plan(session: &SegueSession, sql: &str) -> String {
    let frame = session.sql(sql).await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    displayable(plan.as_ref()).indent(false).to_string()
}
