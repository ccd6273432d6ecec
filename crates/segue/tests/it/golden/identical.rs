//! The same statement gives the same bytes from a folder and from a catalog.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::ipc::writer::StreamWriter;
use segue::chunk::ChunkSource;

use super::folders;
use super::served::{FORMS, Served};
use crate::support::{query, session_at};

const STATEMENTS: [&str; 9] = [
    "SELECT * FROM rrd.frame_nr",
    "SELECT * FROM rrd.time",
    "SELECT * FROM rrd.log_time",
    "SELECT * FROM rrd.elapsed",
    "SELECT * FROM rrd._static",
    "SELECT * FROM \"real\".message_log_time",
    "SELECT * FROM \"real\"._static",
    "SELECT rerun_segment_id, frame_nr, \"/sensor/temp:Scalars:scalars\" FROM rrd.frame_nr
     WHERE frame_nr BETWEEN 3 AND 70 ORDER BY frame_nr DESC, rerun_segment_id",
    "SELECT rerun_segment_id, count(*), max(time) FROM rrd.time
     WHERE rerun_segment_id LIKE 's%' GROUP BY 1 ORDER BY 1",
];

/// The answer as a file: names, types, values, and nulls.
fn bytes(answer: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &answer.schema()).unwrap();
    writer.write(answer).unwrap();
    writer.into_inner().unwrap()
}

async fn answers(source: Arc<dyn ChunkSource>) -> Vec<RecordBatch> {
    // One partition, so that what is not sorted comes in one order.
    let session = session_at(source, 1, 8192).await;
    let mut answers = Vec::new();
    for statement in STATEMENTS {
        answers.push(query(&session, statement).await);
    }
    answers
}

#[tokio::test]
async fn a_catalog_gives_the_bytes_that_its_folders_give() {
    let local = answers(Arc::new(folders())).await;
    assert!(local.iter().all(|answer| answer.num_rows() > 0));
    for form in FORMS {
        let served = Served::start(folders(), form).await;
        let remote = answers(Arc::clone(&served.source)).await;
        assert_eq!(remote.len(), STATEMENTS.len());
        for ((statement, local), remote) in STATEMENTS.iter().zip(&local).zip(&remote) {
            assert_eq!(local.schema(), remote.schema(), "{form:?}: {statement}");
            assert!(bytes(local) == bytes(remote), "{form:?}: {statement}");
        }
    }
}
