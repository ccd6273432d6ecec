//! From filters and a projection to what is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::logical_expr::Expr;
use segue_chunk::view::ViewColumn;
use segue_chunk::{
    ChunkInfo, DatasetSchema, EntitySelection, Fill, PlanRequest, TimeRange, TimeSelection,
};
use segue_error::{Error, ErrorCode, Result};
use tracing::{Span, debug};

use super::SegmentStreamTable;
use crate::executor::Memory;
use crate::explain::Narrowing;
use crate::filter::{Analysis, IntervalSet, Region};
use crate::options::SegmentStreamOptions;
use crate::plan::{Scan, SegmentSamples, order};

impl SegmentStreamTable {
    /// What to read for the columns `projection` of the rows on which `filters` hold, as far as they lie in the view;
    /// `None` if there can be none.
    pub(super) async fn plan(
        &self,
        projection: &[usize],
        filters: &[&Expr],
        options: SegmentStreamOptions,
        memory: Memory,
    ) -> Result<Option<Scan>> {
        let Analysis { region, pushdown } = self.analyse(filters);
        let view = Region::new(self.segments.clone(), IntervalSet::all());
        let region = region.intersect(&view);
        let nothing_makes_rows = self.samples.is_none() && self.view.components().is_empty();
        if region.is_empty() || nothing_makes_rows {
            return Ok(None);
        }
        // What is planned now may have columns that were not there when the table was made.
        let dataset_schema = self.source.schema(&self.dataset).await?;
        self.check_columns(&dataset_schema)?;
        let samples = match (&self.samples, self.view.index()) {
            (Some(samples), Some(index)) => {
                let source = self.source.as_ref();
                Some(
                    samples
                        .within(&region, index, source, &self.dataset)
                        .await?,
                )
            }
            _ => None,
        };
        let read = self.components_read(projection, region.not_null());
        let entities = self.view.entities_of(&read);
        let mut infos = match self.request(&region, samples.as_ref(), entities) {
            Some(request) => self.source.plan(&request).await?,
            None => Vec::new(),
        };
        let named = infos.len();
        infos.retain(|info| self.is_wanted(&region, samples.as_ref(), info));
        let narrowing = Narrowing::new(view, filters.iter().copied().zip(&pushdown));
        let narrowing = narrowing.leaving_out(named - infos.len());
        debug!(dataset = %self.dataset, chunks = infos.len(), "planned a segment stream");
        Ok(Some(Scan {
            source: Arc::clone(&self.source),
            dataset: Arc::clone(&self.dataset),
            dataset_schema,
            view: Arc::clone(&self.view),
            not_null: region.not_null().iter().copied().collect(),
            region,
            segments: order(infos, samples.as_ref()),
            narrowing,
            options,
            memory,
            span: Span::current(),
        }))
    }

    /// The components of which something must be read, as positions among those of the view.
    ///
    /// All of them, as any may make a row, unless the rows are given or must have values of some that are known; and
    /// any may have a say in the columns of other timelines.
    fn components_read(&self, projection: &[usize], not_null: &BTreeSet<usize>) -> BTreeSet<usize> {
        let columns = || projection.iter().filter_map(|&at| self.view.column(at));
        let index = self.view.index();
        let is_other = |column| match column {
            ViewColumn::Timeline(timeline) => index.is_some_and(|index| index != timeline),
            _ => false,
        };
        let rows_are_known = self.samples.is_some() || !not_null.is_empty();
        if !rows_are_known || columns().any(is_other) {
            return self.view.all_components();
        }
        let projected = columns().filter_map(|column| match column {
            ViewColumn::Component(at) => Some(at),
            _ => None,
        });
        projected.chain(not_null.iter().copied()).collect()
    }

    /// What to ask the source for; `None` if there is nothing to be had.
    fn request(
        &self,
        region: &Region,
        samples: Option<&SegmentSamples>,
        entities: Vec<EntitySelection>,
    ) -> Option<PlanRequest> {
        let range = region.index().hull()?;
        if entities.is_empty() || samples.is_some_and(|samples| samples.is_empty()) {
            return None;
        }
        let fill = self.view.fill();
        let time = match (self.view.index(), samples) {
            (None, _) => TimeSelection::Static,
            (Some(index), Some(samples)) => TimeSelection::Samples {
                index: Arc::clone(&index.name),
                values: Arc::new(samples.clone()),
                fill,
            },
            (Some(index), None) => TimeSelection::Index {
                index: Arc::clone(&index.name),
                range,
                fill,
            },
        };
        Some(PlanRequest {
            dataset: Arc::clone(&self.dataset),
            entities,
            segments: region.segments().segments(),
            time,
        })
    }

    /// Whether a chunk that the source named may have a say in the rows that are read.
    fn is_wanted(
        &self,
        region: &Region,
        samples: Option<&SegmentSamples>,
        info: &ChunkInfo,
    ) -> bool {
        let segment = &info.segment;
        let samples = samples.map(|samples| samples.get(segment).map_or(&[][..], Vec::as_slice));
        if !region.segments().contains(segment.as_str()) || samples.is_some_and(<[i64]>::is_empty) {
            return false;
        }
        let Some(start) = info.start else {
            return true;
        };
        // Where the end is not known, it may be anywhere behind the start; with fill it has no bearing.
        let end = match self.view.fill() {
            Fill::None => info.end.unwrap_or(i64::MAX),
            Fill::LatestAt => i64::MAX,
        };
        match samples {
            Some(samples) => {
                let next = samples.partition_point(|&value| value < start);
                samples.get(next).is_some_and(|&value| value <= end)
            }
            None => {
                let range = TimeRange::new(start, end);
                region
                    .index()
                    .iter()
                    .any(|wanted| wanted.intersects(&range))
            }
        }
    }

    /// Checks that the dataset still has the columns of the table, and that those are not static which were not.
    fn check_columns(&self, now: &DatasetSchema) -> Result<()> {
        let changed = self.view.components().iter().find(|column| {
            let now = now.component(&column.entity, &column.component);
            now.is_none_or(|now| {
                now.data_type != column.data_type || (now.is_static && !column.is_static)
            })
        });
        let Some(column) = changed else {
            return Ok(());
        };
        let (name, dataset) = (column.column_name(), &self.dataset);
        Err(Error::new(
            ErrorCode::SourceChanged,
            "segment_stream.plan",
            format!("column '{name}' of dataset '{dataset}' is no longer what it was"),
        )
        .with_fact("column", name))
    }
}
