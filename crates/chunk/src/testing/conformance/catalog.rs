//! Clauses about datasets and schemas.

use std::collections::BTreeSet;

use super::{DATASET, Expected, Verdict, ensure, ensure_unknown_dataset};
use crate::source::ChunkSource;

pub(super) async fn check(source: &dyn ChunkSource, expected: &Expected) -> Verdict {
    let names: BTreeSet<&str> = expected.recordings.iter().map(|r| r.dataset).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let listed = source.datasets().await;
    let listed = listed.map_err(|e| format!("datasets lists: {e}"))?;
    ensure(
        listed == names,
        "datasets lists all names, ascending",
        || format!("{listed:?} where {names:?} are wanted"),
    )?;

    let clause = "schema has the columns of the dataset";
    let schema = source.schema(DATASET).await;
    let schema = schema.map_err(|e| format!("{clause}: {e}"))?;
    let wanted = &expected.schema;
    ensure(schema.timelines == wanted.timelines, clause, || {
        format!(
            "timelines {:?} for {:?}",
            schema.timelines, wanted.timelines
        )
    })?;
    let names: Vec<String> = schema.components.iter().map(|c| c.column_name()).collect();
    let wanted_names: Vec<String> = wanted.components.iter().map(|c| c.column_name()).collect();
    ensure(names == wanted_names, clause, || {
        format!("columns {names:?} for {wanted_names:?}")
    })?;
    for (column, wanted) in schema.components.iter().zip(&wanted.components) {
        ensure(column == wanted, clause, || {
            format!("{column:?} for {wanted:?}")
        })?;
    }

    for unknown in ["nowhere", "", "CONFORMANCE"] {
        ensure_unknown_dataset("schema", source.schema(unknown).await)?;
    }
    Ok(())
}
