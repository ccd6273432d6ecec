//! Clauses about plans.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::{DATASET, Expected, Verdict, ensure, ensure_unknown_dataset, name};
use crate::model::{Chunk, EntityPath, Fill, SegmentId, TimeRange};
use crate::source::{ChunkInfo, ChunkSource, EntitySelection, PlanRequest, TimeSelection};
use crate::testing::scripted::is_needed;

pub(super) async fn check(source: &dyn ChunkSource, expected: &Expected) -> Verdict {
    let nowhere = PlanRequest {
        dataset: "nowhere".into(),
        ..everything(expected, by("frame", TimeRange::ALL))
    };
    ensure_unknown_dataset("plan", source.plan(&nowhere).await)?;
    let times = times();
    for segments in segments(expected) {
        for entities in entities(expected) {
            for time in &times {
                let request = PlanRequest {
                    dataset: DATASET.into(),
                    entities: entities.clone(),
                    segments: segments.clone(),
                    time: time.clone(),
                };
                let verdict = check_plan(source, expected, &request).await;
                verdict.map_err(|reason| format!("{reason} (in answer to {request:?})"))?;
            }
        }
    }
    Ok(())
}

/// A request for every column of every segment.
pub(super) fn everything(expected: &Expected, time: TimeSelection) -> PlanRequest {
    PlanRequest {
        dataset: DATASET.into(),
        entities: all_entities(expected),
        segments: None,
        time,
    }
}

pub(super) fn by(index: &str, range: TimeRange) -> TimeSelection {
    TimeSelection::Index {
        index: index.into(),
        range,
        fill: Fill::None,
    }
}

fn times() -> Vec<TimeSelection> {
    let frames = [
        (3, 3),
        (4, 4),
        (5, 5),
        (8, 8),
        (9, 99),
        (5, 4),
        (-9, -3),
        (i64::MAX, i64::MAX),
    ];
    let frames = frames.map(|(start, end)| by("frame", TimeRange::new(start, end)));
    let unused = ["stamp", "dauer", "no such index", ""].map(|name| by(name, TimeRange::ALL));
    [TimeSelection::Static, by("frame", TimeRange::ALL)]
        .into_iter()
        .chain(frames)
        .chain(filled())
        .chain(samples())
        .chain(unused)
        .collect()
}

/// Ranges before which something may count.
fn filled() -> impl Iterator<Item = TimeSelection> {
    let ranges = [
        (i64::MIN, 4),
        (-3, -3),
        (4, 6),
        (6, 6),
        (8, 8),
        (50, 99),
        (6, 5),
        (i64::MAX, i64::MAX),
    ];
    ranges.into_iter().map(|(start, end)| TimeSelection::Index {
        index: "frame".into(),
        range: TimeRange::new(start, end),
        fill: Fill::LatestAt,
    })
}

/// Values of some segments, one of them unknown.
fn samples() -> impl Iterator<Item = TimeSelection> {
    let plain = [
        vec![6],
        vec![-1, 8],
        vec![4, 50, 100],
        vec![i64::MIN],
        vec![],
        vec![i64::MIN + 1, i64::MAX],
        vec![2, 3],
    ];
    let others = [("layered", vec![1]), ("no such segment", vec![3])];
    let maps = plain.into_iter().map(move |values| {
        let values = [("plain", values)];
        let all = values.into_iter().chain(others.clone());
        all.map(|(id, values)| (SegmentId::from(id), values))
            .collect::<BTreeMap<_, _>>()
    });
    let maps = maps.chain([BTreeMap::new()]).map(Arc::new);
    maps.flat_map(|values| {
        [Fill::None, Fill::LatestAt].map(|fill| TimeSelection::Samples {
            index: "frame".into(),
            values: Arc::clone(&values),
            fill,
        })
    })
}

fn segments(expected: &Expected) -> Vec<Option<BTreeSet<SegmentId>>> {
    let known: BTreeSet<SegmentId> = expected.chunks.keys().map(|(id, _)| id.clone()).collect();
    let unknown = SegmentId::from("no such segment");
    let mixed = known.iter().take(1).cloned().chain([unknown.clone()]);
    let single = known.iter().map(|id| Some([id.clone()].into()));
    [None, Some([].into()), Some([unknown.clone()].into())]
        .into_iter()
        .chain([Some(known.clone()), Some(mixed.collect())])
        .chain(single)
        .collect()
}

fn all_entities(expected: &Expected) -> Vec<EntitySelection> {
    let paths: BTreeSet<&EntityPath> = expected
        .schema
        .components
        .iter()
        .map(|c| &c.entity)
        .collect();
    let select = |entity: &EntityPath| {
        let columns = expected
            .schema
            .components
            .iter()
            .filter(|c| c.entity == *entity);
        EntitySelection {
            entity: entity.clone(),
            components: columns.map(|c| Arc::clone(&c.component)).collect(),
        }
    };
    paths.into_iter().map(select).collect()
}

fn entities(expected: &Expected) -> Vec<Vec<EntitySelection>> {
    let select = |entity: &str, components: &[&str]| EntitySelection {
        entity: entity.into(),
        components: components.iter().map(|&name| name.into()).collect(),
    };
    let arm = |components| vec![select("/robot/arm", components)];
    let unknown = || select("/no/such/entity", &["Scalars:scalars"]);
    let mut selections = vec![
        vec![],
        all_entities(expected),
        arm(&["Scalars:scalars"]),
        arm(&["Text:text", "Text:label"]),
        arm(&["No:such"]),
        arm(&[]),
        vec![unknown()],
        vec![
            unknown(),
            select("/robot/camera", &["Camera:gain", "No:such"]),
        ],
    ];
    selections.extend(
        all_entities(expected)
            .into_iter()
            .map(|selection| vec![selection]),
    );
    selections
}

async fn check_plan(
    source: &dyn ChunkSource,
    expected: &Expected,
    request: &PlanRequest,
) -> Verdict {
    let planned = source.plan(request).await;
    let planned = planned.map_err(|e| format!("what is unknown just selects nothing: {e}"))?;
    let mut named = HashSet::new();
    for info in &planned {
        let once = named.insert((info.segment.clone(), info.id));
        ensure(once, "plan names each chunk once per segment", || {
            name(info)
        })?;
        let inside = request.wants(&info.segment)
            && request.entities.iter().any(|e| e.entity == info.entity);
        ensure(
            inside,
            "plan names chunks of the wanted segments and entities",
            || name(info),
        )?;
        check_announced(expected, info, &request.time)?;
    }
    for (key, chunk) in &expected.chunks {
        let missing = is_needed(chunk, request, expected.chunks.values()) && !named.contains(key);
        let (segment, id) = key;
        ensure(
            !missing,
            "plan names no fewer chunks than are needed",
            || format!("chunk {id} of segment '{segment}' is missing"),
        )?;
    }
    Ok(())
}

/// Checks what can be checked before the chunk is fetched.
fn check_announced(expected: &Expected, info: &ChunkInfo, time: &TimeSelection) -> Verdict {
    let chunk = expected.stored(info)?;
    let clause = "what is announced of a chunk is true";
    let wrong = |what: &str| format!("{what} of {}", name(info));
    ensure(info.entity == *chunk.entity(), clause, || wrong("entity"))?;
    ensure(info.is_static == chunk.is_static(), clause, || {
        wrong("is_static")
    })?;
    let mut layers = expected.layers_of(info);
    ensure(layers.any(|layer| layer == &*info.layer), clause, || {
        wrong("layer")
    })?;
    let bounds = bounds(chunk, time);
    let start = bounds.map(|(start, _)| start);
    ensure(info.start.is_none() || info.start == start, clause, || {
        wrong("start")
    })?;
    let end = bounds.map(|(_, end)| end);
    ensure(info.end.is_none() || info.end == end, clause, || {
        wrong("end")
    })?;
    let rows = chunk.num_rows() as u64;
    ensure(info.num_rows.is_none_or(|n| n == rows), clause, || {
        wrong("num_rows")
    })
}

fn bounds(chunk: &Chunk, time: &TimeSelection) -> Option<(i64, i64)> {
    chunk.timeline(time.index()?)?.bounds()
}
