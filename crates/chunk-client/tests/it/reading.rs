//! What real servers answered, read.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::AsArray;
use segue_chunk::{
    ChunkDecoder, ChunkSource, Fill, PlanRequest, SegmentId, TextSet, TimeRange, TimeSelection,
};
use segue_error::ErrorCode;

use crate::support::{DATASET, Mock, Recorded, VERSIONS, fetch, request};

#[tokio::test]
async fn a_recorded_catalog_is_listed_planned_fetched_and_decoded() {
    for version in VERSIONS {
        let mock = Mock::start(Recorded::of(version)).await;
        let source = mock.source().await;
        assert_eq!(source.datasets().await.unwrap(), [DATASET]);
        let schema = source.schema(DATASET).await.unwrap();
        assert_eq!(
            (schema.timelines.len(), schema.components.len()),
            (4, 27),
            "{version}"
        );

        let plan = source.plan(&request(&source).await).await.unwrap();
        let temporal = plan.iter().filter(|info| !info.is_static).count();
        assert!(
            temporal > 10 && temporal < plan.len(),
            "{version}: {temporal}"
        );
        assert!(
            plan.iter()
                .all(|info| info.start.is_some() != info.is_static)
        );

        let chunks = fetch(&source, plan.clone()).await.unwrap();
        assert_eq!(chunks.len(), plan.len());
        let infos: HashMap<_, _> = plan.iter().map(|info| (info.id, info)).collect();
        let decoder = ChunkDecoder::new(Arc::clone(&schema), Some("frame_nr".into()));
        for chunk in &chunks {
            decoder.decode(infos[&chunk.id], chunk).unwrap();
        }
    }
}

#[tokio::test]
async fn each_server_is_asked_in_the_form_that_it_knows() {
    for (version, asked, other) in [
        ("0.36.3", "QueryDataset", "FindChunks"),
        ("0.41.0", "FindChunks", "QueryDataset"),
    ] {
        let mock = Mock::start(Recorded::of(version)).await;
        let source = mock.source().await;
        source.plan(&request(&source).await).await.unwrap();
        assert_eq!((mock.count(asked), mock.count(other)), (1, 0), "{version}");
    }
}

#[tokio::test]
async fn the_table_of_segments_is_sorted() {
    for version in VERSIONS {
        let mock = Mock::start(Recorded::of(version)).await;
        let table = mock.source().await;
        let table = table.segment_table(DATASET, &TextSet::all()).await.unwrap();
        let ids = table.column_by_name("rerun_segment_id").unwrap();
        let ids: Vec<&str> = ids.as_string::<i32>().iter().flatten().collect();
        assert_eq!(ids.len(), 21);
        assert!(ids.is_sorted(), "{ids:?}");
    }
}

#[tokio::test]
async fn what_was_not_asked_for_is_not_planned() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let source = mock.source().await;
    let all = request(&source).await;
    let plan = async |request: &PlanRequest| source.plan(request).await.unwrap();

    let one = PlanRequest {
        segments: Some([SegmentId::from("scalars_1")].into()),
        ..all.clone()
    };
    let infos = plan(&one).await;
    assert!(
        !infos.is_empty()
            && infos
                .iter()
                .all(|info| info.segment.as_str() == "scalars_1")
    );

    let mut entity = all.clone();
    entity
        .entities
        .retain(|selection| selection.entity.as_str() == "/sensor/temp");
    let infos = plan(&entity).await;
    assert!(
        !infos.is_empty()
            && infos
                .iter()
                .all(|info| info.entity.as_str() == "/sensor/temp")
    );

    let fixed = PlanRequest {
        time: TimeSelection::Static,
        ..all.clone()
    };
    let infos = plan(&fixed).await;
    assert!(!infos.is_empty() && infos.iter().all(|info| info.is_static));

    let never = PlanRequest {
        time: TimeSelection::Index {
            index: "frame_nr".into(),
            range: TimeRange::new(1, 0),
            fill: Fill::None,
        },
        ..all.clone()
    };
    assert_eq!(
        plan(&never).await,
        infos,
        "static chunks matter at all times"
    );

    let asked = mock.count("FindChunks");
    for nothing in [
        PlanRequest {
            entities: Vec::new(),
            ..all.clone()
        },
        PlanRequest {
            segments: Some([].into()),
            ..all
        },
    ] {
        assert_eq!(plan(&nothing).await, []);
    }
    assert_eq!(mock.count("FindChunks"), asked, "nothing costs no request");
}

#[tokio::test]
async fn an_unknown_dataset_is_named_with_the_nearest() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let source = mock.source().await;
    let error = source.schema("gulden").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownDataset);
    assert!(
        error.message().contains("'gulden'") && error.message().contains("'golden'"),
        "{error}"
    );
    assert_eq!(mock.count("GetDatasetSchema"), 0);
}

#[tokio::test]
async fn a_dataset_that_was_made_anew_is_looked_up_again_once() {
    let mock = Mock::start(Recorded::of("0.41.0")).await;
    let source = mock.source().await;
    source.schema(DATASET).await.unwrap();
    let lists = mock.count("FindEntries");
    mock.refuse(
        "GetDatasetSchema",
        tonic::Status::not_found("no such entry"),
    );
    source.schema(DATASET).await.unwrap();
    assert_eq!(mock.count("FindEntries"), lists + 1);

    for _ in 0..2 {
        mock.refuse(
            "GetDatasetSchema",
            tonic::Status::not_found("no such entry"),
        );
    }
    let error = source.schema(DATASET).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownDataset);
    assert!(error.message().contains("no such entry"), "{error}");
}
