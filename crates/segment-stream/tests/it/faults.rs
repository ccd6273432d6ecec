//! What a source does wrong fails the query, and never costs it rows.

use std::sync::Arc;

use segue_chunk::ChunkId;
use segue_chunk::testing::{Announced, Fault, Order, ScriptedSource};
use segue_error::{ErrorCode, find_segue_error};

use crate::support::{batches, config, regular, rows, session, source};

async fn outcome(source: ScriptedSource, sql: &str) -> segue_error::ErrorCode {
    let source = Arc::new(source);
    let context = session(&source, config(2, 8)).await;
    let error = batches(&context, sql).await.unwrap_err();
    assert_eq!(source.counts().streams, 0);
    find_segue_error(&error).unwrap().code()
}

#[tokio::test]
async fn each_fault_of_a_source_has_its_error() {
    let chunks = || regular(4, 20, 5);
    let id = |n: usize| chunks()[n].id();
    let faults = [
        (
            Fault::PlanError(ErrorCode::TransportUnavailable),
            ErrorCode::TransportUnavailable,
        ),
        (
            Fault::ErrorAt {
                fetch: 0,
                chunk: 1,
                code: ErrorCode::TransportUnavailable,
            },
            ErrorCode::TransportUnavailable,
        ),
        (Fault::Withhold(id(3)), ErrorCode::SourceUnderDelivered),
        (Fault::Repeat(id(3)), ErrorCode::SourceOverDelivered),
        (
            Fault::Announce(id(1), |info| info.start = info.start.map(|start| start - 1)),
            ErrorCode::ChunkCorrupt,
        ),
        (
            Fault::Announce(id(1), |info| info.num_rows = Some(1)),
            ErrorCode::ChunkCorrupt,
        ),
    ];
    for (fault, expected) in faults {
        let name = format!("{fault:?}");
        let source = ScriptedSource::new().dataset("d", chunks()).fault(fault);
        assert_eq!(outcome(source, "SELECT * FROM t").await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_fault_in_one_segment_is_not_seen_by_a_query_for_another() {
    let chunks = regular(4, 20, 5);
    let broken: Vec<ChunkId> = chunks
        .iter()
        .filter(|chunk| chunk.segment().as_str() == "s02")
        .map(|chunk| chunk.id())
        .collect();
    let mut source = ScriptedSource::new().dataset("d", chunks);
    for id in broken {
        source = source.fault(Fault::Withhold(id));
    }
    let source = Arc::new(source);
    let context = session(&source, config(2, 8)).await;
    let sql = "SELECT * FROM t WHERE rerun_segment_id <> 's02'";
    assert_eq!(rows(&context, sql).await.len(), 60);
    assert!(batches(&context, "SELECT * FROM t").await.is_err());
}

#[tokio::test]
async fn rows_do_not_depend_on_delivery_order_or_on_what_is_announced() {
    let plain = session(&source(regular(4, 20, 5)), config(2, 8)).await;
    let expected = rows(&plain, "SELECT * FROM t").await;
    assert_eq!(expected.len(), 80);
    for order in [Order::Reversed, Order::Shuffled(1), Order::Shuffled(2)] {
        for announced in [Announced::NOTHING, Announced::ALL] {
            let source = ScriptedSource::new()
                .dataset("d", regular(4, 20, 5))
                .order(order)
                .announcing(announced);
            let context = session(&Arc::new(source), config(3, 5)).await;
            assert_eq!(rows(&context, "SELECT * FROM t").await, expected);
        }
    }
}
