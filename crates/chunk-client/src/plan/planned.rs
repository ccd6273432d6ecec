//! A plan as its parts arrive.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::Array;
use segue_chunk::{ChunkId, ChunkInfo, EntityPath, PlanRequest, SegmentId, TimeSelection};
use segue_error::Result;
use segue_proto::common::DataframePart;

use super::columns::Columns;
use crate::table;

/// Collects chunk infos, each once, and only those that were asked for: a server may say too much.
pub(super) struct Planned<'a> {
    request: &'a PlanRequest,
    start: Option<String>,
    entities: HashMap<&'a str, &'a EntityPath>,
    /// Segments and layers come again and again: each text is kept once.
    segments: HashMap<String, SegmentId>,
    layers: HashMap<String, Arc<str>>,
    seen: HashSet<(SegmentId, ChunkId)>,
    infos: Vec<ChunkInfo>,
}

impl<'a> Planned<'a> {
    /// A plan of `request` without a part; `start` names the column of first values on the index.
    pub(super) fn new(request: &'a PlanRequest, start: Option<String>) -> Self {
        let entities = request.entities.iter().map(|selection| &selection.entity);
        Self {
            request,
            start,
            entities: entities.map(|entity| (entity.as_str(), entity)).collect(),
            segments: HashMap::new(),
            layers: HashMap::new(),
            seen: HashSet::new(),
            infos: Vec::new(),
        }
    }

    /// Adds the chunks of `part`. `invalid_response` when it is no part of a plan.
    pub(super) fn add(&mut self, part: &DataframePart) -> Result<()> {
        let batch = table::read(part)?;
        let columns = Columns::new(&batch, self.start.as_deref())?;
        for row in 0..batch.num_rows() {
            self.add_row(&columns, row)?;
        }
        Ok(())
    }

    /// Adds the chunk of row `row`, which is less than the number of rows.
    fn add_row(&mut self, columns: &Columns<'_>, row: usize) -> Result<()> {
        let Some(&entity) = self.entities.get(columns.entity.value(row)) else {
            return Ok(());
        };
        let is_static = columns.is_static.value(row);
        if !is_static && self.request.time == TimeSelection::Static {
            return Ok(());
        }
        let segment = once(&mut self.segments, columns.segment.value(row));
        if !self.request.wants(&segment) {
            return Ok(());
        }
        let id = ChunkId::from_be_bytes(columns.id(row)?);
        if !self.seen.insert((segment.clone(), id)) {
            return Ok(());
        }
        let uncompressed = columns.uncompressed.filter(|column| column.is_valid(row));
        let start = columns.start.as_ref();
        let start = start.filter(|column| !is_static && column.is_valid(row));
        self.infos.push(ChunkInfo {
            id,
            segment,
            layer: once(&mut self.layers, columns.layer.value(row)),
            entity: entity.clone(),
            is_static,
            byte_len: columns.byte_len.value(row),
            byte_len_uncompressed: uncompressed.map(|column| column.value(row)),
            // Null where the chunk lacks the index, or the server does not say.
            start: start.map(|column| column.value(row)),
            end: None,
            num_rows: None,
            key: columns.key(row),
        });
        Ok(())
    }

    /// All chunks.
    pub(super) fn finish(self) -> Vec<ChunkInfo> {
        self.infos
    }
}

fn once<T: for<'t> From<&'t str> + Clone>(known: &mut HashMap<String, T>, text: &str) -> T {
    match known.get(text) {
        Some(value) => value.clone(),
        None => known
            .entry(text.to_owned())
            .or_insert_with(|| T::from(text))
            .clone(),
    }
}
