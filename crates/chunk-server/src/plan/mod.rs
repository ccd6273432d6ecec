//! Which chunks a read needs: a pure function from an index and a query.

mod query;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use segue_chunk::local::{DatasetContents, Layer, UniqueChunks, latest};
use segue_chunk::rrd::ChunkEntry;
use segue_chunk::{ComponentName, EntityPath, SegmentId};
use segue_error::Result;

pub(crate) use query::{ChunkQuery, Components, Entities, Samples, Term, Times, Wanted};

/// The chunks of one layer that a read needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayerPlan {
    /// Position among the layers of the dataset.
    pub(crate) layer: usize,
    /// Positions among the chunks of the layer, ascending.
    pub(crate) chunks: Vec<usize>,
}

/// The chunks of `contents` that `query` needs: one plan per layer of the segments that it is about, even if
/// it needs none of them. A chunk that several layers of a segment have is planned once.
///
/// May name more chunks than are needed, never fewer. `chunk_corrupt` when two chunks of a segment have one
/// id and are not the same.
pub(crate) fn plan(contents: &DatasetContents, query: &ChunkQuery) -> Result<Vec<LayerPlan>> {
    let mut plans = Vec::new();
    let mut base = 0;
    for (segment, layers) in contents.segments() {
        if query
            .segments
            .as_ref()
            .is_none_or(|ids| ids.contains(segment))
        {
            let mut own: Vec<LayerPlan> = (base..base + layers.len())
                .map(|layer| LayerPlan {
                    layer,
                    chunks: Vec::new(),
                })
                .collect();
            for (layer, chunk) in of_segment(segment, layers, query)? {
                own[layer].chunks.push(chunk);
            }
            plans.extend(own);
        }
        base += layers.len();
    }
    Ok(plans)
}

/// A chunk that has something of what is asked for, at whatever time.
struct Candidate<'a> {
    layer: usize,
    chunk: usize,
    entry: &'a ChunkEntry,
}

/// The needed chunks of a segment, as layer and chunk, in the order of the files.
fn of_segment(
    segment: &SegmentId,
    layers: &[Layer],
    query: &ChunkQuery,
) -> Result<Vec<(usize, usize)>> {
    let mut unique = UniqueChunks::default();
    let mut candidates = Vec::new();
    for (layer, of) in layers.iter().enumerate() {
        for (chunk, entry) in of.store().chunks.iter().enumerate() {
            if query.entities.select(entry) && unique.insert(of, entry)? {
                candidates.push(Candidate {
                    layer,
                    chunk,
                    entry,
                });
            }
        }
    }
    let needed = needed(segment, &candidates, query);
    let chosen = candidates.iter().zip(needed).filter(|(_, needed)| *needed);
    Ok(chosen
        .map(|(chosen, _)| (chosen.layer, chosen.chunk))
        .collect())
}

/// Whether each of the candidates is needed.
fn needed(segment: &SegmentId, candidates: &[Candidate<'_>], query: &ChunkQuery) -> Vec<bool> {
    let mut needed: Vec<bool> = candidates
        .iter()
        .map(|candidate| match candidate.entry.is_static {
            true => query.with_static,
            false => query.with_temporal && matches!(query.times, Times::All),
        })
        .collect();
    let Times::Terms(terms) = &query.times else {
        return needed;
    };
    if !query.with_temporal {
        return needed;
    }
    for term in terms {
        match &term.wanted {
            Wanted::Range(range) => mark(&mut needed, candidates, |entry| {
                let span = entry.span(&term.timeline);
                span.is_some_and(|span| span.range.is_none_or(|span| span.intersects(range)))
            }),
            Wanted::At(samples) => {
                let samples = samples.of(segment);
                mark(&mut needed, candidates, |entry| {
                    let span = entry.span(&term.timeline);
                    span.is_some_and(|span| match span.range {
                        None => !samples.is_empty(),
                        Some(span) => {
                            let next = samples.partition_point(|time| *time < span.start);
                            samples.get(next).is_some_and(|time| *time <= span.end)
                        }
                    })
                });
            }
            Wanted::LatestAt(samples) => {
                mark_latest(&mut needed, candidates, term, samples.of(segment), query);
            }
        }
    }
    needed
}

/// Marks the temporal candidates of which `is_needed` holds.
fn mark(
    needed: &mut [bool],
    candidates: &[Candidate<'_>],
    is_needed: impl Fn(&ChunkEntry) -> bool,
) {
    for (needed, candidate) in needed.iter_mut().zip(candidates) {
        *needed |= !candidate.entry.is_static && is_needed(candidate.entry);
    }
}

/// Marks the candidates that may hold the latest values at one of `samples`, entity by entity.
fn mark_latest(
    needed: &mut [bool],
    candidates: &[Candidate<'_>],
    term: &Term,
    samples: &[i64],
    query: &ChunkQuery,
) {
    let mut entities: HashMap<&EntityPath, Vec<(usize, latest::Timed<'_>)>> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let entry = candidate.entry;
        let Some(span) = entry.span(&term.timeline).filter(|_| !entry.is_static) else {
            continue;
        };
        let timed = latest::Timed {
            range: span.range,
            components: entry.components.as_deref().map(|names: &[ComponentName]| {
                let wanted = query.entities.components(&entry.entity);
                let names = names
                    .iter()
                    .filter(|name| wanted.is_some_and(|w| w.has(name)));
                names.map(AsRef::as_ref).collect()
            }),
        };
        entities.entry(&entry.entity).or_default().push((at, timed));
    }
    for chunks in entities.into_values() {
        let (positions, timed): (Vec<usize>, Vec<_>) = chunks.into_iter().unzip();
        for (at, is_needed) in positions.into_iter().zip(latest::needed(&timed, samples)) {
            needed[at] |= is_needed;
        }
    }
}
