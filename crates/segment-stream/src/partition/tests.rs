use arrow::array::{
    AsArray, DictionaryArray, Int32Array, LargeStringArray, RecordBatch, StringViewArray,
    UInt32Array,
};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, UInt32Type};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_expr::expressions::col;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, collect_partitioned};
use datafusion::prelude::SessionContext;

use super::*;

fn ids() -> Vec<SegmentId> {
    let odd = [
        "",
        " ",
        "ü",
        "日本語の区間",
        "a",
        "twelve-bytes",
        "thirteen-byte",
        "🦀🦀🦀🦀🦀🦀",
    ];
    let uuids = (0u128..200).map(|i| format!("{:032x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let short = (0..200).map(|i| format!("s{i}"));
    odd.map(str::to_owned)
        .into_iter()
        .chain(uuids)
        .chain(short)
        .map(SegmentId::from)
        .collect()
}

/// Where `RepartitionExec` sends each row of a column of keys.
async fn repartitioned(keys: &ArrayRef, n: usize) -> Vec<usize> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("key", keys.data_type().clone(), false),
        Field::new("row", DataType::UInt32, false),
    ]));
    let rows = u32::try_from(keys.len()).unwrap();
    let rows: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..rows));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(keys), rows]).unwrap();
    let key = col("key", &schema).unwrap();
    let input = MemorySourceConfig::try_new_exec(&[vec![batch]], schema, None).unwrap();
    let exec = RepartitionExec::try_new(input, Partitioning::Hash(vec![key], n)).unwrap();
    let exec: Arc<dyn ExecutionPlan> = Arc::new(exec);
    let outputs = collect_partitioned(exec, SessionContext::new().task_ctx())
        .await
        .unwrap();
    assert_eq!(outputs.len(), n);

    let mut placed = vec![None; keys.len()];
    for (partition, batches) in outputs.iter().enumerate() {
        for row in batches
            .iter()
            .flat_map(|batch| batch.column(1).as_primitive::<UInt32Type>().values())
        {
            assert_eq!(placed[*row as usize].replace(partition), None);
        }
    }
    placed.into_iter().map(Option::unwrap).collect()
}

fn text(ids: &[SegmentId]) -> impl Iterator<Item = &str> {
    ids.iter().map(SegmentId::as_str)
}

#[tokio::test]
async fn segments_are_placed_where_repartition_exec_sends_them() {
    let ids = ids();
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(text(&ids)));
    for n in [1, 2, 7, 16] {
        let placed = partition_segments(&ids, n).unwrap();
        assert_eq!(placed, repartitioned(&keys, n).await, "{n} partitions");
        let used: std::collections::BTreeSet<_> = placed.into_iter().collect();
        assert_eq!(used.len(), n, "some partition of {n} stays empty");
    }
}

#[tokio::test]
async fn large_and_dictionary_text_is_placed_like_text_and_views_are_not() {
    let ids = ids();
    let placed = partition_segments(&ids, 16).unwrap();

    let large: ArrayRef = Arc::new(LargeStringArray::from_iter_values(text(&ids)));
    assert_eq!(repartitioned(&large, 16).await, placed);

    let values: ArrayRef = Arc::new(StringArray::from_iter_values(text(&ids)));
    let numbers = Int32Array::from_iter_values(0..i32::try_from(ids.len()).unwrap());
    let dictionary: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::new(numbers, values));
    assert_eq!(repartitioned(&dictionary, 16).await, placed);

    let views: ArrayRef = Arc::new(StringViewArray::from_iter_values(text(&ids)));
    let by_view = repartitioned(&views, 16).await;
    let (mut short_moved, mut long_moved) = (0, 0);
    for (id, (by_view, by_text)) in ids.iter().zip(by_view.into_iter().zip(placed)) {
        let moved = if id.as_str().len() > 12 {
            &mut long_moved
        } else {
            &mut short_moved
        };
        *moved += usize::from(by_view != by_text);
    }
    assert!(short_moved > 150, "{short_moved} of the short ids moved");
    assert!(long_moved > 150, "{long_moved} of the long ids moved");
}

#[test]
fn no_ids_and_no_partitions_are_no_trouble() {
    assert!(partition_segments(&[], 4).unwrap().is_empty());
    assert_eq!(partition_segments(&["a".into()], 0).unwrap(), [0]);
}
