//! Sources that break one clause each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrow::array::{RecordBatch, StringArray, UInt64Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::{DataType, Schema};
use async_trait::async_trait;
use futures::{FutureExt, StreamExt, stream};
use segue_error::{Error, Result};

use super::super::plans::everything;
use super::*;
use crate::source::{ChunkStream, PlanRequest, TimeSelection};
use crate::{Fill, TextSet};

const TOO_MUCH: &str = "fetch delivers each chunk that it is asked for once, and no other";
const MISSING: &str = "plan names no fewer chunks than are needed";
const OUTSIDE: &str = "plan names chunks of the wanted segments and entities";

/// What a [`Mutant`] does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutation {
    Harmless,
    DatasetsDescend,
    DatasetsMissOne,
    DatasetsInventOne,
    SchemaOfNothing,
    SchemaWithAnotherCode,
    SchemaIgnoresCase,
    SchemaMissesTimeline,
    SchemaMissesColumn,
    SchemaForgetsStatic,
    SchemaUnordered,
    SegmentsOfNothing,
    SegmentsOfAll,
    SegmentsDescend,
    SegmentsMissOne,
    SegmentsMissColumn,
    SegmentsMissProperty,
    SegmentsMixProperties,
    SegmentsMixBounds,
    SegmentsMixCounts,
    SegmentsMixLayers,
    SegmentsRetype,
    PlanOfNothing,
    PlanMissesStatic,
    PlanMissesStart,
    PlanMissesEnd,
    PlanSortsOutUnsorted,
    PlanFillsNothing,
    PlanFillsWithLastChunk,
    PlanFillsWithLastClear,
    PlanOfFirstSample,
    PlanOfLastSample,
    PlanSamplesAllSegments,
    PlanOfFirstSegment,
    PlanOfFirstEntity,
    PlanOfFirstComponent,
    PlanIgnoresSegments,
    PlanIgnoresEntities,
    PlanTakesNoSegmentsForAll,
    PlanRefusesUnknownSegment,
    PlanRefusesUnknownEntity,
    PlanRefusesUnknownIndex,
    PlanRepeats,
    FetchOfNothing,
    FetchGoesOnAfterError,
    FetchIsEager,
    FetchLeaks,
    FetchWorksOnce,
    FetchDeliversAll,
    FetchMixesSegments,
    FetchRefusesReverse,
    FetchSpoilsOthers,
}

use Mutation::*;

impl Mutation {
    /// Each, and the clause that it breaks.
    pub(super) const ALL: &[(Self, &str)] = &[
        (DatasetsDescend, "datasets lists all names, ascending"),
        (DatasetsMissOne, "datasets lists all names, ascending"),
        (DatasetsInventOne, "datasets lists all names, ascending"),
        (SchemaOfNothing, "schema of a dataset that does not exist"),
        (
            SchemaWithAnotherCode,
            "schema of a dataset that does not exist",
        ),
        (SchemaIgnoresCase, "schema of a dataset that does not exist"),
        (SchemaMissesTimeline, "schema has the columns"),
        (SchemaMissesColumn, "schema has the columns"),
        (SchemaForgetsStatic, "schema has the columns"),
        (SchemaUnordered, "schema has the columns"),
        (
            SegmentsOfNothing,
            "segment_table of a dataset that does not exist",
        ),
        (
            SegmentsOfAll,
            "segment_table has the rows of the wanted segments",
        ),
        (
            SegmentsDescend,
            "segment_table has one row per segment, ascending",
        ),
        (
            SegmentsMissOne,
            "segment_table has one row per segment, ascending",
        ),
        (SegmentsMissColumn, "segment_table has its columns"),
        (SegmentsMissProperty, "segment_table has its columns"),
        (SegmentsMixProperties, "property:episode:Episode:task"),
        (SegmentsMixBounds, "frame:"),
        (SegmentsMixCounts, "number of chunks"),
        (SegmentsMixLayers, "layer names"),
        (SegmentsRetype, "segment_table has its columns"),
        (PlanOfNothing, "plan of a dataset that does not exist"),
        (PlanMissesStatic, MISSING),
        (PlanMissesStart, MISSING),
        (PlanMissesEnd, MISSING),
        (PlanSortsOutUnsorted, MISSING),
        (PlanFillsNothing, MISSING),
        (PlanFillsWithLastChunk, MISSING),
        (PlanFillsWithLastClear, MISSING),
        (PlanOfFirstSample, MISSING),
        (PlanOfLastSample, MISSING),
        (PlanSamplesAllSegments, OUTSIDE),
        (PlanOfFirstSegment, MISSING),
        (PlanOfFirstEntity, MISSING),
        (PlanOfFirstComponent, MISSING),
        (PlanIgnoresSegments, OUTSIDE),
        (PlanIgnoresEntities, OUTSIDE),
        (PlanTakesNoSegmentsForAll, OUTSIDE),
        (
            PlanRefusesUnknownSegment,
            "what is unknown just selects nothing",
        ),
        (
            PlanRefusesUnknownEntity,
            "what is unknown just selects nothing",
        ),
        (
            PlanRefusesUnknownIndex,
            "what is unknown just selects nothing",
        ),
        (PlanRepeats, "plan names each chunk once per segment"),
        (FetchOfNothing, "fetch of a dataset that does not exist"),
        (
            FetchGoesOnAfterError,
            "the stream ends after the first error",
        ),
        (FetchIsEager, "nothing starts before the first poll"),
        (FetchLeaks, "dropping the stream stops the work"),
        (FetchWorksOnce, "fetch delivers what plan named"),
        (FetchDeliversAll, TOO_MUCH),
        (FetchMixesSegments, TOO_MUCH),
        (FetchRefusesReverse, "fetch delivers what plan named"),
        (FetchSpoilsOthers, "dropping a stream spoils no other"),
    ];
}

/// A source that does one thing wrong.
#[derive(Debug)]
pub(super) struct Mutant {
    inner: Arc<ScriptedSource>,
    mutation: Mutation,
    known: Expected,
    fetches: AtomicUsize,
    spoiled: Arc<AtomicBool>,
}

impl Mutant {
    pub(super) fn new(inner: ScriptedSource, mutation: Mutation) -> Self {
        Self {
            inner: Arc::new(inner),
            mutation,
            known: Expected::standard(),
            fetches: AtomicUsize::new(0),
            spoiled: Arc::default(),
        }
    }

    pub(super) fn activity(&self) -> impl Fn() -> Activity + Send + Sync + 'static {
        let inner = Arc::clone(&self.inner);
        move || Activity {
            started: inner.counts().started,
            running: inner.counts().streams,
        }
    }

    fn is(&self, mutation: Mutation) -> bool {
        self.mutation == mutation
    }

    fn refuses(&self, request: &PlanRequest) -> bool {
        let known = &self.known;
        let segments = || request.segments.iter().flatten();
        match self.mutation {
            PlanRefusesUnknownSegment => {
                segments().any(|id| known.chunks.keys().all(|(known, _)| known != id))
            }
            PlanRefusesUnknownEntity => request.entities.iter().any(|selection| {
                let mut columns = known.schema.components.iter();
                columns.all(|column| column.entity != selection.entity)
            }),
            PlanRefusesUnknownIndex => match &request.time {
                TimeSelection::Static => false,
                TimeSelection::Index { index, .. } | TimeSelection::Samples { index, .. } => {
                    known.schema.timeline(index).is_none()
                }
            },
            _ => false,
        }
    }

    fn misunderstood(&self, request: &PlanRequest) -> PlanRequest {
        let mut request = request.clone();
        match self.mutation {
            PlanOfFirstEntity => request.entities.truncate(1),
            PlanOfFirstComponent => {
                for selection in &mut request.entities {
                    let first = selection.components.pop_first();
                    selection.components = first.into_iter().collect();
                }
            }
            PlanIgnoresSegments => request.segments = None,
            PlanIgnoresEntities => {
                request.entities = everything(&self.known, TimeSelection::Static).entities;
            }
            PlanTakesNoSegmentsForAll => {
                request.segments = request.segments.filter(|s| !s.is_empty())
            }
            PlanFillsNothing => match &mut request.time {
                TimeSelection::Static => {}
                TimeSelection::Index { fill, .. } | TimeSelection::Samples { fill, .. } => {
                    *fill = Fill::None;
                }
            },
            PlanOfFirstSample | PlanOfLastSample => {
                if let TimeSelection::Samples { values, .. } = &mut request.time {
                    let first = self.mutation == PlanOfFirstSample;
                    for values in Arc::make_mut(values).values_mut() {
                        let one = if first { values.first() } else { values.last() };
                        *values = one.copied().into_iter().collect();
                    }
                }
            }
            PlanSamplesAllSegments => {
                if let TimeSelection::Samples { values, .. } = &mut request.time {
                    for (segment, _) in self.known.chunks.keys() {
                        let values = Arc::make_mut(values).entry(segment.clone());
                        values.or_insert_with(|| vec![1]);
                    }
                }
            }
            _ => {}
        }
        request
    }

    fn falsify(&self, infos: &mut Vec<ChunkInfo>, request: &PlanRequest) {
        let range = match &request.time {
            TimeSelection::Static => None,
            TimeSelection::Index { range, .. } => Some(*range),
            TimeSelection::Samples { .. } => None,
        };
        let is_filled = match &request.time {
            TimeSelection::Static => false,
            TimeSelection::Index { fill, .. } | TimeSelection::Samples { fill, .. } => {
                *fill == Fill::LatestAt
            }
        };
        let first = infos.first().cloned();
        match self.mutation {
            PlanMissesStatic => infos.retain(|info| !info.is_static || range.is_none()),
            PlanMissesStart => infos.retain(|info| {
                info.is_static || range.is_some_and(|range| info.end > Some(range.start))
            }),
            PlanMissesEnd => infos.retain(|info| {
                info.is_static || range.is_some_and(|range| info.start < Some(range.end))
            }),
            PlanSortsOutUnsorted => infos.retain(|info| {
                info.id != ChunkId::from(3) || range.is_some_and(|range| range.contains(7))
            }),
            // Takes it for granted that the last chunk before has a value of each component.
            PlanFillsWithLastChunk if is_filled => {
                let latest = infos.iter().filter_map(|info| Some((info.start?, info.id)));
                let latest = latest.max();
                infos.retain(|info| info.is_static || Some(info.id) == latest.map(|(_, id)| id));
            }
            PlanFillsWithLastClear if is_filled => {
                infos.retain(|info| info.id != ChunkId::from(8));
            }
            PlanOfFirstSegment => {
                infos.retain(|info| first.as_ref().is_some_and(|f| f.segment == info.segment));
            }
            PlanRepeats => infos.extend(first),
            _ => {}
        }
    }

    fn falsified(&self, table: &RecordBatch) -> RecordBatch {
        let reversed = |table: &RecordBatch| {
            let rows = (0..table.num_rows() as u64).rev();
            take_record_batch(table, &UInt64Array::from_iter_values(rows)).unwrap()
        };
        let without = |what: &str| {
            let fields = table.schema_ref().fields().iter();
            let kept = fields.enumerate().filter(|(_, f)| !f.name().contains(what));
            let kept: Vec<usize> = kept.map(|(at, _)| at).collect();
            table.project(&kept).unwrap()
        };
        // The columns that are called so, in the order of other rows.
        let mixed = |what: &str| {
            let other = reversed(table);
            let fields = table.schema_ref().fields().iter();
            let columns = fields.zip(table.columns()).zip(other.columns());
            let columns = columns.map(|((field, own), other)| {
                Arc::clone(if field.name().contains(what) {
                    other
                } else {
                    own
                })
            });
            RecordBatch::try_new(table.schema(), columns.collect()).unwrap()
        };
        match self.mutation {
            SegmentsDescend => reversed(table),
            SegmentsMissOne => table.slice(0, table.num_rows() - 1),
            SegmentsMissColumn => without("rerun_size_bytes"),
            SegmentsMissProperty => without("property:"),
            SegmentsMixProperties => mixed("property:"),
            SegmentsMixBounds => mixed("frame:"),
            SegmentsMixCounts => mixed("rerun_num_chunks"),
            SegmentsMixLayers => mixed("rerun_layer_names"),
            SegmentsRetype => {
                let last = table.num_columns() - 1;
                let mut columns = table.columns().to_vec();
                columns[last] = Arc::new(StringArray::new_null(table.num_rows()));
                let mut fields: Vec<_> = table.schema().fields().iter().cloned().collect();
                let text = fields[last].as_ref().clone().with_data_type(DataType::Utf8);
                fields[last] = Arc::new(text);
                RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
            }
            _ => table.clone(),
        }
    }

    fn breaks_off(&self, chunks: &[ChunkInfo]) -> bool {
        let fetch = self.fetches.fetch_add(1, Ordering::Relaxed);
        match self.mutation {
            FetchWorksOnce => fetch > 5,
            FetchRefusesReverse => !chunks.is_sorted_by(|a, b| a.key <= b.key),
            FetchSpoilsOthers => self.spoiled.load(Ordering::Relaxed),
            _ => false,
        }
    }
}

fn failure() -> Error {
    Error::new(ErrorCode::InvalidArgument, "mutant", "refused")
}

#[async_trait]
impl ChunkSource for Mutant {
    async fn datasets(&self) -> Result<Vec<String>> {
        let mut names = self.inner.datasets().await?;
        match self.mutation {
            DatasetsDescend => names.reverse(),
            DatasetsMissOne => names.truncate(2),
            DatasetsInventOne => names.push("zzz".to_owned()),
            _ => {}
        }
        Ok(names)
    }

    async fn schema(&self, dataset: &str) -> Result<Arc<DatasetSchema>> {
        let found = match self.mutation {
            SchemaIgnoresCase => self.inner.schema(&dataset.to_lowercase()).await,
            _ => self.inner.schema(dataset).await,
        };
        let mut schema = match (found, self.mutation) {
            (Err(_), SchemaOfNothing) => return Ok(Arc::default()),
            (Err(_), SchemaWithAnotherCode) => return Err(failure()),
            (found, _) => (*found?).clone(),
        };
        match self.mutation {
            SchemaMissesTimeline => schema.timelines.truncate(2),
            SchemaMissesColumn => schema.components.truncate(4),
            SchemaForgetsStatic => schema
                .components
                .iter_mut()
                .for_each(|c| c.is_static = false),
            SchemaUnordered => schema.components.reverse(),
            _ => {}
        }
        Ok(Arc::new(schema))
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Vec<ChunkInfo>> {
        if self.is(PlanOfNothing) && &*request.dataset == "nowhere" {
            return Ok(vec![]);
        }
        if self.refuses(request) {
            return Err(failure());
        }
        let mut infos = self.inner.plan(&self.misunderstood(request)).await?;
        self.falsify(&mut infos, request);
        Ok(infos)
    }

    async fn segment_table(&self, dataset: &str, segments: &TextSet) -> Result<RecordBatch> {
        let all = TextSet::all();
        let segments = match self.mutation {
            SegmentsOfAll => &all,
            _ => segments,
        };
        let found = self.inner.segment_table(dataset, segments).await;
        let table = match (found, self.mutation) {
            (Err(_), SegmentsOfNothing) => {
                return self.inner.segment_table(DATASET, segments).await;
            }
            (found, _) => found?,
        };
        Ok(self.falsified(&table))
    }

    fn fetch(&self, dataset: &str, chunks: Vec<ChunkInfo>) -> ChunkStream {
        if self.breaks_off(&chunks) {
            return stream::iter([Err(failure())]).boxed();
        }
        let mut inner = self.inner.fetch(dataset, chunks);
        match self.mutation {
            FetchOfNothing if dataset == "nowhere" => stream::empty().boxed(),
            FetchGoesOnAfterError => inner
                .flat_map(|item| {
                    let again = item.is_err().then(|| Err(failure()));
                    stream::iter([item].into_iter().chain(again))
                })
                .boxed(),
            FetchIsEager => {
                let first = inner.next().now_or_never().flatten();
                stream::iter(first).chain(inner).boxed()
            }
            FetchLeaks => {
                std::mem::forget(self.inner.fetch(dataset, vec![]));
                inner
            }
            FetchDeliversAll => {
                let source = Arc::clone(&self.inner);
                let dataset = dataset.to_owned();
                let everything = everything(&self.known, TimeSelection::Static);
                let all = async move {
                    match source.plan(&everything).await {
                        Ok(infos) => source.fetch(&dataset, infos),
                        Err(error) => stream::iter([Err(error)]).boxed(),
                    }
                };
                stream::once(all).flatten().boxed()
            }
            FetchMixesSegments => inner
                .map(|item| {
                    item.map(|mut chunk| {
                        chunk.segment = "plain".into();
                        chunk
                    })
                })
                .boxed(),
            FetchSpoilsOthers => Spoiling::stream(inner, Arc::clone(&self.spoiled)),
            _ => inner,
        }
    }
}

/// Spoils its source when it is dropped between its first chunk and its end.
struct Spoiling {
    begun: bool,
    spoiled: Arc<AtomicBool>,
}

impl Spoiling {
    fn stream(inner: ChunkStream, spoiled: Arc<AtomicBool>) -> ChunkStream {
        let state = Self {
            begun: false,
            spoiled,
        };
        stream::unfold((inner, state), |(mut inner, mut state)| async move {
            let item = inner.next().await;
            state.begun = item.is_some();
            item.map(|item| (item, (inner, state)))
        })
        .boxed()
    }
}

impl Drop for Spoiling {
    fn drop(&mut self) {
        self.spoiled.fetch_or(self.begun, Ordering::Relaxed);
    }
}
