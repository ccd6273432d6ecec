//! One row per chunk.

mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, FixedSizeBinaryBuilder, Int64Array, RecordBatch, StringArray,
    UInt64Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use segue_chunk::schema::keys;
use segue_chunk::{
    ChunkId, ChunkInfo, ChunkSource, ComponentName, DatasetSchema, EntityPath, EntitySelection,
    Fill, PlanRequest, SegmentId, TimeRange, TimeSelection, Timeline,
};
use segue_error::{Error, ErrorCode};

use super::rows;
use wanted::Wanted;

/// Column with the entity of a chunk.
const ENTITY_COLUMN: &str = "chunk_entity_path";
/// Column that says whether a chunk is static.
const STATIC_COLUMN: &str = "chunk_is_static";

/// Columns that do not depend on the timelines, with their types and whether they can be null.
const COLUMNS: [(&str, DataType, bool); 8] = [
    ("chunk_id", DataType::FixedSizeBinary(16), false),
    (keys::SEGMENT_ID_COLUMN, DataType::Utf8, false),
    ("rerun_segment_layer", DataType::Utf8, false),
    (ENTITY_COLUMN, DataType::Utf8, false),
    (STATIC_COLUMN, DataType::Boolean, false),
    ("chunk_num_rows", DataType::UInt64, true),
    ("chunk_byte_len", DataType::UInt64, false),
    ("chunk_byte_size_uncompressed", DataType::UInt64, true),
];

/// The chunks of a dataset: which segment, layer and entity they belong to, how large they are, and the first
/// and last value that they have on each timeline.
///
/// Columns: those of the protocol for a chunk, and `NAME:start` and `NAME:end` per timeline. What a source does not say
/// (rows, ends, sizes once decompressed) is null. Rows are ordered by segment, entity and chunk.
#[derive(Clone, Debug)]
pub struct ChunksTable {
    source: Arc<dyn ChunkSource>,
    dataset: Arc<str>,
    timelines: Vec<Timeline>,
    entities: Vec<EntitySelection>,
    schema: SchemaRef,
}

/// What is known of one chunk.
struct Row {
    info: ChunkInfo,
    /// First and last value per timeline.
    bounds: Vec<(Option<i64>, Option<i64>)>,
}

type Rows = BTreeMap<(SegmentId, EntityPath, ChunkId), Row>;

impl ChunksTable {
    /// The chunks of `dataset`, which has the columns `columns`.
    pub fn new(
        source: Arc<dyn ChunkSource>,
        dataset: impl Into<Arc<str>>,
        columns: &DatasetSchema,
    ) -> Self {
        let mut entities: BTreeMap<&EntityPath, BTreeSet<ComponentName>> = BTreeMap::new();
        for column in &columns.components {
            let components = entities.entry(&column.entity).or_default();
            components.insert(Arc::clone(&column.component));
        }
        let entities = entities
            .into_iter()
            .map(|(entity, components)| EntitySelection {
                entity: entity.clone(),
                components,
            });
        Self {
            source,
            dataset: dataset.into(),
            timelines: columns.timelines.clone(),
            entities: entities.collect(),
            schema: Arc::new(schema(&columns.timelines)),
        }
    }

    /// Asks for the chunks that are wanted, once per timeline: a source says only where chunks start on one of them.
    ///
    /// Where chunks must have values on some timelines, of the others only those in `shown` are asked for.
    async fn rows(&self, wanted: &Wanted, shown: &[usize]) -> segue_error::Result<Rows> {
        let mut rows = Rows::new();
        let entities = self.entities.iter();
        let entities = entities.filter(|one| wanted.entities.contains(one.entity.as_str()));
        let entities: Vec<EntitySelection> = entities.cloned().collect();
        if wanted.is_nothing || entities.is_empty() {
            return Ok(rows);
        }
        let request = |time| PlanRequest {
            dataset: Arc::clone(&self.dataset),
            entities: entities.clone(),
            segments: wanted.segments.segments(),
            time,
        };
        let mut add = |infos: Vec<ChunkInfo>, timeline: Option<usize>| {
            for info in infos.into_iter().filter(|info| wanted.has(info)) {
                let key = (info.segment.clone(), info.entity.clone(), info.id);
                let bounds = (info.start, info.end);
                let row = rows.entry(key).or_insert_with(|| Row {
                    info,
                    bounds: vec![(None, None); self.timelines.len()],
                });
                if let Some(of_timeline) = timeline.and_then(|at| row.bounds.get_mut(at)) {
                    *of_timeline = bounds;
                }
            }
        };
        let is_static = wanted.is_static == Some(true);
        let is_bound = wanted.ranges.iter().any(Option::is_some);
        for (at, timeline) in self.timelines.iter().enumerate() {
            let range = wanted.ranges.get(at).copied().flatten();
            if is_static || (is_bound && range.is_none() && !shown.contains(&at)) {
                continue;
            }
            let time = TimeSelection::Index {
                index: Arc::clone(&timeline.name),
                range: range.unwrap_or(TimeRange::ALL),
                fill: Fill::None,
            };
            add(self.source.plan(&request(time)).await?, Some(at));
        }
        if is_static || self.timelines.is_empty() {
            add(
                self.source.plan(&request(TimeSelection::Static)).await?,
                None,
            );
        }
        Ok(rows)
    }

    fn batch(&self, rows: &Rows) -> std::result::Result<RecordBatch, ArrowError> {
        let infos = || rows.values().map(|row| &row.info);
        let texts = |text: fn(&ChunkInfo) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(infos().map(text)))
        };
        let numbers = |number: fn(&ChunkInfo) -> Option<u64>| -> ArrayRef {
            Arc::new(infos().map(number).collect::<UInt64Array>())
        };
        let mut ids = FixedSizeBinaryBuilder::with_capacity(rows.len(), 16);
        for info in infos() {
            ids.append_value(info.id.to_be_bytes())?;
        }
        let are_static = infos().map(|info| Some(info.is_static));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(ids.finish()),
            texts(|info| info.segment.as_str()),
            texts(|info| &info.layer),
            texts(|info| info.entity.as_str()),
            Arc::new(are_static.collect::<BooleanArray>()),
            numbers(|info| info.num_rows),
            numbers(|info| Some(info.byte_len)),
            numbers(|info| info.byte_len_uncompressed),
        ];
        for (at, timeline) in self.timelines.iter().enumerate() {
            let bounds = || {
                rows.values()
                    .map(|row| row.bounds.get(at).copied().unwrap_or_default())
            };
            let starts: Int64Array = bounds().map(|(start, _)| start).collect();
            let ends: Int64Array = bounds().map(|(_, end)| end).collect();
            for times in [starts, ends] {
                columns.push(cast(&times, &timeline.kind.data_type())?);
            }
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

fn schema(timelines: &[Timeline]) -> Schema {
    let own = COLUMNS.into_iter();
    let own = own.map(|(name, data_type, nullable)| Field::new(name, data_type, nullable));
    let bounds = timelines
        .iter()
        .flat_map(|timeline| ["start", "end"].map(|marker| timeline.bound_field(marker)));
    Schema::new(own.chain(bounds).collect::<Vec<_>>())
}

#[async_trait]
impl TableProvider for ChunksTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions on segment and entity, and on whether a chunk is static, are answered here; those on first and last
    /// values narrow what is asked for.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(Wanted::new(filters, &self.timelines).pushdown)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let filters: Vec<&Expr> = filters.iter().collect();
        let wanted = Wanted::new(&filters, &self.timelines);
        let all = || (0..self.schema.fields().len()).collect();
        let columns: Vec<usize> = projection.map_or_else(all, Vec::clone);
        let bounds = columns
            .iter()
            .filter_map(|at| at.checked_sub(COLUMNS.len()));
        let shown: Vec<usize> = bounds.map(|at| at / 2).collect();
        let chunks = self
            .batch(&self.rows(&wanted, &shown).await?)
            .map_err(|error| {
                let message = format!("arrow could not build the table of chunks: {error}");
                Error::new(ErrorCode::Internal, "chunks_table.scan", message).with_source(error)
            })?;
        rows::scan(chunks, state, projection, limit).await
    }
}
