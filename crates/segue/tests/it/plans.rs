//! What plans look like: order and partitioning of a segment table spare sorts and shuffles.

use datafusion::prelude::SessionConfig;
use segue::SegueSession;

use crate::support::{examples, plan, rows, session_at};

#[tokio::test]
async fn ordering_by_segment_and_index_needs_no_sort_in_both_forms_of_nulls() {
    for partitions in [1, 7] {
        let session = session_at(examples(), partitions, 8192).await;
        for columns in [
            "*",
            "rerun_segment_id, frame_nr",
            "\"/sensor/temp:Scalars:scalars\"",
        ] {
            for nulls in ["", " NULLS FIRST", " NULLS LAST"] {
                let sql = format!(
                    "SELECT {columns} FROM robots.frame_nr \
                     ORDER BY rerun_segment_id ASC{nulls}, frame_nr ASC{nulls}"
                );
                let plan = plan(&session, &sql).await;
                assert!(!plan.contains("SortExec"), "{sql}:\n{plan}");
                assert!(
                    partitions == 1 || plan.contains("SortPreservingMergeExec"),
                    "{plan}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_order_that_the_table_does_not_have_is_sorted() {
    let session = session_at(examples(), 7, 8192).await;
    let sql = "SELECT frame_nr FROM robots.frame_nr ORDER BY frame_nr";
    assert!(plan(&session, sql).await.contains("SortExec"));
    let frames = rows(&session, sql).await;
    let frames: Vec<i64> = frames.iter().map(|frame| frame.parse().unwrap()).collect();
    assert!(frames.len() == 752 && frames.is_sorted());
}

#[tokio::test]
async fn grouping_by_segment_moves_no_rows_between_partitions() {
    let sql =
        "SELECT rerun_segment_id, count(*) AS n FROM robots.frame_nr GROUP BY rerun_segment_id";
    let all = format!("{sql} ORDER BY rerun_segment_id");
    let expected = rows(&session_at(examples(), 1, 8192).await, &all).await;
    assert!(expected.len() > 7 && expected.contains(&"scalars_0|100".to_owned()));
    for partitions in [2, 7] {
        let session = session_at(examples(), partitions, 8192).await;
        let plan = plan(&session, sql).await;
        assert!(!plan.contains("RepartitionExec"), "{plan}");
        assert_eq!(rows(&session, &all).await, expected);
    }
}

#[tokio::test]
async fn joining_on_segment_moves_no_rows_between_partitions() {
    let sql = "SELECT a.rerun_segment_id, count(*) AS n
        FROM robots.frame_nr a JOIN robots.time b ON a.rerun_segment_id = b.rerun_segment_id
        GROUP BY a.rerun_segment_id";
    let all = format!("{sql} ORDER BY 1");
    let expected = rows(&session_at(examples(), 1, 8192).await, &all).await;
    assert!(
        expected.contains(&"scalars_0|10000".to_owned()),
        "{expected:?}"
    );
    for partitions in [2, 7] {
        let session = partitioned_joins(partitions).await;
        let plan = plan(&session, sql).await;
        assert!(plan.contains("mode=Partitioned"), "{plan}");
        assert!(!plan.contains("RepartitionExec"), "{plan}");
        assert_eq!(rows(&session, &all).await, expected);
    }
}

/// A session that never collects one side of a join, however small.
async fn partitioned_joins(partitions: usize) -> SegueSession {
    let mut config = SessionConfig::new().with_target_partitions(partitions);
    let optimizer = &mut config.options_mut().optimizer;
    optimizer.hash_join_single_partition_threshold = 0;
    optimizer.hash_join_single_partition_threshold_rows = 0;
    let builder = SegueSession::builder().with_source(examples());
    builder.with_session_config(config).build().await.unwrap()
}
