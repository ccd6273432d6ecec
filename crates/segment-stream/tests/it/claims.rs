//! What the plan says of its rows, and that it is true.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning, collect};
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;
use segue_segment_stream::SegmentStreamExec;

use crate::support::{config, lines, plan, regular, session, shown, source};

#[tokio::test]
async fn order_by_segment_and_index_needs_no_sort_in_either_null_order() {
    let source = source(regular(12, 10, 4));
    for partitions in [1, 7] {
        let context = session(&source, config(partitions, 8192)).await;
        for columns in ["*", "frame, rerun_segment_id", "\"/a:Scalars:scalars\""] {
            for nulls in ["", "NULLS FIRST", "NULLS LAST"] {
                let sql = format!(
                    "SELECT {columns} FROM t ORDER BY rerun_segment_id {nulls}, frame {nulls}"
                );
                let plan = plan(&context, &sql).await;
                assert!(
                    !shown(&plan).contains("SortExec"),
                    "{sql}\n{}",
                    shown(&plan)
                );
            }
        }
    }
}

#[tokio::test]
async fn the_order_claim_is_true_of_each_partition() {
    let source = source(regular(12, 10, 4));
    let context = session(&source, config(3, 4)).await;
    let plan = plan(&context, "SELECT rerun_segment_id, frame FROM t").await;
    let mut rows = 0;
    for partition in 0..plan.output_partitioning().partition_count() {
        let stream = plan.execute(partition, context.task_ctx()).unwrap();
        let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
        let keys = batches.iter().flat_map(|batch| {
            let segments = batch.column(0).as_string::<i32>().iter();
            let frames = batch.column(1).as_primitive::<Int64Type>().iter();
            segments.zip(frames)
        });
        let keys: Vec<_> = keys.collect();
        assert!(keys.is_sorted() && !keys.is_empty());
        rows += keys.len();
    }
    assert_eq!(rows, 120);
}

#[tokio::test]
async fn joins_and_aggregates_on_the_segment_need_no_repartition() {
    let source = source(regular(12, 10, 4));
    // Small inputs would be collected and not partitioned.
    let config = config(4, 8192)
        .set_usize(
            "datafusion.optimizer.hash_join_single_partition_threshold",
            0,
        )
        .set_usize(
            "datafusion.optimizer.hash_join_single_partition_threshold_rows",
            0,
        );
    let context = session(&source, config).await;
    for (sql, node) in [
        (
            "SELECT rerun_segment_id, count(*) FROM t GROUP BY rerun_segment_id",
            "AggregateExec: mode=SinglePartitioned",
        ),
        (
            "SELECT count(*) FROM t a JOIN t b ON a.rerun_segment_id = b.rerun_segment_id",
            "HashJoinExec: mode=Partitioned",
        ),
    ] {
        let plan = plan(&context, sql).await;
        assert!(shown(&plan).contains(node), "{sql}\n{}", shown(&plan));
        assert!(
            !shown(&plan).contains("RepartitionExec"),
            "{sql}\n{}",
            shown(&plan)
        );
    }
}

#[tokio::test]
async fn the_hash_claim_agrees_with_the_real_repartition() {
    let source = source(regular(20, 3, 4));
    let context = session(&source, config(5, 8192)).await;
    let scan = plan(&context, "SELECT rerun_segment_id FROM t").await;
    let Partitioning::Hash(key, 5) = scan.output_partitioning().clone() else {
        panic!("{:?}", scan.output_partitioning());
    };
    let single = session(&source, config(1, 8192)).await;
    let single = plan(&single, "SELECT rerun_segment_id FROM t").await;
    let real = RepartitionExec::try_new(single, Partitioning::Hash(key, 5)).unwrap();
    let real: Arc<dyn ExecutionPlan> = Arc::new(real);
    for partition in 0..5 {
        let ours = partition_rows(&context, &scan, partition).await;
        let theirs = partition_rows(&context, &real, partition).await;
        assert!(!ours.is_empty());
        assert_eq!(ours, theirs, "partition {partition}");
    }
}

async fn partition_rows(
    context: &SessionContext,
    plan: &Arc<dyn ExecutionPlan>,
    partition: usize,
) -> Vec<String> {
    let stream = plan.execute(partition, context.task_ctx()).unwrap();
    let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
    let mut rows = lines(&batches);
    rows.sort();
    rows
}

#[tokio::test]
async fn fewer_segments_than_partitions_get_one_each_and_claim_no_hash() {
    let source = source(regular(3, 10, 4));
    let context = session(&source, config(7, 8192)).await;
    let scan = plan(&context, "SELECT * FROM t").await;
    let partitioning = scan.output_partitioning();
    assert!(
        matches!(partitioning, Partitioning::UnknownPartitioning(3)),
        "{partitioning:?}"
    );
}

#[tokio::test]
async fn claims_end_where_the_segment_is_projected_away() {
    let source = source(regular(12, 10, 4));
    let context = session(&source, config(4, 8192)).await;
    let scan = plan(&context, "SELECT frame FROM t").await;
    assert!(scan.output_ordering().is_none());
    assert!(matches!(
        scan.output_partitioning(),
        Partitioning::UnknownPartitioning(4)
    ));
    let plan = plan(&context, "SELECT frame FROM t ORDER BY frame").await;
    assert!(shown(&plan).contains("SortExec"));
}

#[tokio::test]
async fn repartitioning_splits_the_same_chunks_and_nothing_changes_at_the_same_count() {
    let source = source(regular(12, 10, 4));
    let context = session(&source, config(2, 8192)).await;
    let scan = plan(&context, "SELECT * FROM t").await;
    let plans = source.counts().plans;
    let config = context.copied_config();
    let options = config.options();
    assert!(scan.repartitioned(2, options).unwrap().is_none());
    let other = scan.repartitioned(5, options).unwrap().unwrap();
    assert!(other.is::<SegmentStreamExec>());
    assert_eq!(other.output_partitioning().partition_count(), 5);
    let rows = |plan| async {
        let batches = collect(plan, context.task_ctx()).await.unwrap();
        let mut rows = lines(&batches);
        rows.sort();
        rows
    };
    assert_eq!(rows(Arc::clone(&scan)).await, rows(other).await);
    assert_eq!(source.counts().plans, plans);
}

#[tokio::test]
async fn explain_says_what_is_read() {
    let source = source(regular(3, 10, 4));
    let context = session(&source, config(2, 8192)).await;
    let sql = "SELECT frame FROM t WHERE frame BETWEEN 2 AND 5 OR frame = 9 LIMIT 3";
    let plan = plan(&context, sql).await;
    let text = shown(&plan);
    let line = text
        .lines()
        .find(|line| line.contains("SegmentStreamExec"))
        .unwrap();
    assert_eq!(
        line.trim(),
        "SegmentStreamExec: dataset=d, index=frame, segments=3, chunks=12, \
         read=[frame in [2, 5] or [9, 9]], projection=[frame], fetch=3"
    );
}
