//! Random options, and what they mean for rows that are assembled at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use proptest::prelude::*;
use proptest::sample::select;
use segue_chunk::assemble::{Limits, RowKey, SegmentChunks, assemble, assemble_static};
use segue_chunk::testing::schema_of;
use segue_chunk::view::{Duplicates, StaticColumns};
use segue_chunk::{Chunk, ChunkSource, Contents, Fill, SegmentId, TimeRange, View, ViewOptions};
use segue_segment_stream::{IndexValues, SegmentStreamTable};

/// What is asked of a dataset.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) index: Option<&'static str>,
    pub(crate) options: ViewOptions,
    pub(crate) segments: Option<BTreeSet<&'static str>>,
    pub(crate) samples: Option<Samples>,
}

/// Index values for rows.
#[derive(Clone, Debug)]
pub(crate) enum Samples {
    Everywhere(BTreeSet<i64>),
    BySegment(BTreeMap<&'static str, BTreeSet<i64>>),
}

impl Asked {
    /// All rows by `index`.
    pub(crate) fn by(index: Option<&'static str>) -> Self {
        Self {
            index,
            options: ViewOptions::default(),
            segments: None,
            samples: None,
        }
    }

    /// The table that streams the answer.
    pub(crate) async fn table(&self, source: Arc<dyn ChunkSource>) -> SegmentStreamTable {
        let options = self.options.clone();
        let mut builder = SegmentStreamTable::builder(source, "d")
            .contents(options.contents)
            .fill(options.fill)
            .static_columns(options.static_columns)
            .duplicates(options.duplicates)
            .tombstone_columns(options.tombstone_columns)
            .unnest(options.unnest);
        if let Some(index) = self.index {
            builder = builder.index(index);
        }
        if let Some(segments) = &self.segments {
            builder = builder.segments(segments.iter().map(|&id| SegmentId::from(id)));
        }
        let scalars = |values: &BTreeSet<i64>| -> Vec<ScalarValue> {
            // Any order will do.
            values.iter().rev().map(|&value| value.into()).collect()
        };
        if let Some(samples) = &self.samples {
            builder = builder.index_values(match samples {
                Samples::Everywhere(values) => IndexValues::Everywhere(scalars(values)),
                Samples::BySegment(segments) => {
                    let segments = segments.iter();
                    let segments = segments.map(|(&id, values)| (id.into(), scalars(values)));
                    IndexValues::BySegment(segments.collect())
                }
            });
        }
        builder.build().await.unwrap()
    }

    /// The index values of a segment of which `chunks` are all chunks.
    fn samples_of(&self, segment: &SegmentId, chunks: &[Arc<Chunk>]) -> Option<Vec<i64>> {
        match self.samples.as_ref()? {
            Samples::BySegment(segments) => {
                let own = segments.get(segment.as_str()).into_iter().flatten();
                Some(own.copied().collect())
            }
            Samples::Everywhere(values) => {
                let times = || {
                    let columns = chunks
                        .iter()
                        .filter_map(|chunk| chunk.timeline(self.index?));
                    columns.flat_map(|column| column.times.iter().copied())
                };
                let range = times().min().zip(times().max());
                let is_inside = |value: &i64| {
                    range.is_some_and(|(first, last)| TimeRange::new(first, last).contains(*value))
                };
                Some(values.iter().copied().filter(is_inside).collect())
            }
        }
    }

    /// All rows of `chunks`, assembled at once, as a plain table.
    pub(crate) fn reference(&self, chunks: &[Chunk]) -> MemTable {
        let view = View::resolve(&schema_of(chunks), self.index, &self.options).unwrap();
        let projection: Vec<usize> = (0..view.schema().fields().len()).collect();
        let segments: BTreeSet<&SegmentId> = chunks.iter().map(Chunk::segment).collect();
        let segments = segments.into_iter().filter(|segment| {
            let wanted = self.segments.as_ref();
            wanted.is_none_or(|wanted| wanted.contains(segment.as_str()))
        });
        let all = segments.map(|segment| {
            let own = chunks.iter().filter(|chunk| chunk.segment() == segment);
            let own: Vec<Arc<Chunk>> = own.cloned().map(Arc::new).collect();
            let samples = self.samples_of(segment, &own);
            let chunks = SegmentChunks {
                samples: samples.as_deref(),
                ..SegmentChunks::new(&view, &projection, segment, &own)
            };
            let limits = Limits {
                rows: usize::MAX,
                bytes: usize::MAX,
            };
            let all = [TimeRange::ALL];
            match self.index {
                Some(_) => assemble(&chunks, &all, RowKey::MIN, limits).unwrap().batch,
                None => assemble_static(&chunks).unwrap(),
            }
        });
        MemTable::try_new(Arc::clone(view.schema()), vec![all.collect()]).unwrap()
    }
}

/// Any options that do not contradict each other.
pub(super) fn asked() -> impl Strategy<Value = Asked> {
    let contents = prop_oneof![
        4 => Just(vec!["/**"]),
        1 => Just(vec!["/a/**"]),
        1 => Just(vec!["/a", "/c"]),
        1 => Just(vec!["/**", "-/a/b:Some:values"]),
    ];
    let segments = prop::option::weighted(
        0.3,
        prop::collection::btree_set(select(NAMES.to_vec()), 0..3),
    );
    let statics = prop_oneof![
        6 => Just(StaticColumns::Both),
        1 => Just(StaticColumns::Only),
        1 => Just(StaticColumns::None),
    ];
    let options = (
        contents,
        any::<[bool; 2]>(),
        statics,
        prop::bool::weighted(0.2),
    );
    let options = options.prop_map(|(contents, flags, static_columns, all)| ViewOptions {
        static_columns,
        fill: [Fill::None, Fill::LatestAt][usize::from(flags[0])],
        duplicates: [Duplicates::Last, Duplicates::All][usize::from(all)],
        tombstone_columns: flags[1],
        ..Contents::parse(contents).unwrap().into()
    });
    let index = select(vec![Some("frame"), Some("frame"), Some("stamp"), None]);
    (index, options, segments, samples()).prop_map(|(index, mut options, segments, samples)| {
        if index.is_none() {
            options.duplicates = Duplicates::Last;
        }
        let shift = if index == Some("stamp") { 100 } else { 0 };
        let is_sampled = index.is_some() && options.duplicates == Duplicates::Last;
        Asked {
            index,
            options,
            segments,
            samples: samples
                .filter(|_| is_sampled)
                .map(|samples| samples.shifted(shift)),
        }
    })
}

const NAMES: [&str; 4] = ["s0", "s1", "s2", "nope"];

fn samples() -> impl Strategy<Value = Option<Samples>> {
    let values = || prop::collection::btree_set(-6i64..10, 0..5);
    let by_segment = prop::collection::btree_map(select(NAMES.to_vec()), values(), 0..4);
    prop_oneof![
        3 => Just(None),
        1 => values().prop_map(|values| Some(Samples::Everywhere(values))),
        1 => by_segment.prop_map(|segments| Some(Samples::BySegment(segments))),
    ]
}

impl Samples {
    fn shifted(self, by: i64) -> Self {
        let shift = |values: BTreeSet<i64>| values.into_iter().map(|value| value + by).collect();
        match self {
            Self::Everywhere(values) => Self::Everywhere(shift(values)),
            Self::BySegment(segments) => {
                let segments = segments.into_iter();
                Self::BySegment(segments.map(|(id, values)| (id, shift(values))).collect())
            }
        }
    }
}

/// A table that is told of no filter.
#[derive(Debug)]
pub(super) struct Unpushed(pub(super) Arc<SegmentStreamTable>);

#[async_trait]
impl TableProvider for Unpushed {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![
            TableProviderFilterPushDown::Unsupported;
            filters.len()
        ])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        assert!(filters.is_empty());
        self.0.scan(state, projection, filters, limit).await
    }
}
