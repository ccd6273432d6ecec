//! The stream equals DataFusion over all rows assembled at once: random datasets, options and queries, with filters
//! pushed down and not, at several numbers of partitions and batch sizes.

pub(crate) mod asked;
mod named;
mod query;

use std::sync::Arc;

use datafusion::catalog::TableProvider as _;
use datafusion::prelude::SessionContext;
use proptest::prelude::*;
use segue_chunk::Chunk;
use segue_chunk::testing::sketch::{Sketch, sketches};
use segue_chunk::testing::{Announced, Order, ScriptedSource};

use crate::support::{config, rows};
use asked::{Asked, Unpushed, asked};
use query::{Query, queries};

/// Partitions, batch size, and whether filters are pushed down.
const SETTINGS: [(usize, usize, bool); 4] = [
    (1, 8192, true),
    (2, 3, true),
    (7, 1, true),
    (2, 8192, false),
];

/// Fails with a sentence unless all `queries` have the same answers.
async fn compare(
    chunks: Vec<Chunk>,
    asked: &Asked,
    queries: &[Query],
    seed: u64,
) -> Result<(), String> {
    let plain = SessionContext::new_with_config(config(1, 8192));
    let reference = asked.reference(&chunks);
    let columns: Vec<String> = {
        let fields = reference.schema().fields().clone();
        fields.iter().map(|field| field.name().clone()).collect()
    };
    plain.register_table("t", Arc::new(reference)).unwrap();
    let source = ScriptedSource::new()
        .dataset("d", chunks)
        .order(Order::Shuffled(seed));
    let source = Arc::new(match seed % 2 {
        0 => source,
        // As from a server that says little.
        _ => source.announcing(Announced::NOTHING),
    });
    let table = Arc::new(asked.table(Arc::clone(&source) as _).await);
    for (partitions, batch_size, is_pushed) in SETTINGS {
        let stream = SessionContext::new_with_config(config(partitions, batch_size));
        let table = match is_pushed {
            true => Arc::clone(&table) as _,
            false => Arc::new(Unpushed(Arc::clone(&table))) as _,
        };
        stream.register_table("t", table).unwrap();
        let small = "SET segue_stream.unit_bytes = 4000";
        stream.sql(small).await.unwrap();
        for query in queries {
            let sql = query.sql(&columns);
            let (want, got) = (rows(&plain, &sql).await, rows(&stream, &sql).await);
            if got != want {
                return Err(format!(
                    "{sql} at {partitions} partitions, batches of {batch_size}, pushed {is_pushed}: \
                     {got:#?} is not {want:#?}"
                ));
            }
        }
    }
    assert_eq!(source.counts().streams, 0);
    Ok(())
}

/// Runs [`compare`] for a case that was drawn.
fn holds(
    sketch: &Sketch,
    asked: &Asked,
    queries: &[Query],
    seed: u64,
) -> Result<(), TestCaseError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).build().unwrap();
    let compared = runtime.block_on(compare(sketch.chunks(), asked, queries, seed));
    compared.map_err(TestCaseError::fail)
}

proptest! {
    // Each case is dozens of queries.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_stream_equals_the_rows_assembled_at_once(
        sketch in sketches(9, 2),
        asked in asked(),
        queries in queries(),
        seed in any::<u64>(),
    ) {
        holds(&sketch, &asked, &queries, seed)?;
    }
}
