//! Chunks out of literals.

use std::sync::Arc;

use arrow::array::{Array, BooleanBuilder, ListArray, ListBuilder, StringBuilder};
use arrow::datatypes::Float64Type;

use crate::model::{
    Chunk, ChunkId, ChunkParts, ComponentValues, EntityPath, RowId, RowIds, SegmentId, TimeColumn,
    TimeKind, Timeline,
};
use crate::schema::{ComponentColumn, DatasetSchema, SchemaMerger, keys};

/// Makes a [`Chunk`] column by column.
///
/// A mistake in the literals is a mistake in the test that wrote them: [`build`](Self::build) panics.
#[derive(Clone, Debug)]
pub struct ChunkBuilder {
    id: u64,
    segment: SegmentId,
    entity: EntityPath,
    row_ids: Option<Vec<u64>>,
    timelines: Vec<TimeColumn>,
    components: Vec<ComponentValues>,
}

impl ChunkBuilder {
    /// A chunk of `entity` in `segment` with the id 1, no columns and no rows.
    pub fn new(segment: impl Into<SegmentId>, entity: impl Into<EntityPath>) -> Self {
        Self {
            id: 1,
            segment: segment.into(),
            entity: entity.into(),
            row_ids: None,
            timelines: Vec::new(),
            components: Vec::new(),
        }
    }

    /// Sets the id of the chunk.
    #[must_use]
    pub fn id(mut self, id: u64) -> Self {
        self.id = id;
        self
    }

    /// Sets the row ids. Without them, row `r` of the chunk `id` has the row id `id * 1_000_000 + r`.
    #[must_use]
    pub fn row_ids(mut self, ids: impl IntoIterator<Item = u64>) -> Self {
        self.row_ids = Some(ids.into_iter().collect());
        self
    }

    /// Adds a timeline with one value per row.
    #[must_use]
    pub fn index(
        mut self,
        name: &str,
        kind: TimeKind,
        values: impl IntoIterator<Item = i64>,
    ) -> Self {
        self.timelines.push(TimeColumn {
            timeline: Timeline::new(name, kind),
            times: values.into_iter().collect(),
        });
        self
    }

    /// Adds a timeline that counts.
    #[must_use]
    pub fn sequence(self, name: &str, values: impl IntoIterator<Item = i64>) -> Self {
        self.index(name, TimeKind::Sequence, values)
    }

    /// Adds a component with one number per row; `None` is a null list.
    #[must_use]
    pub fn floats(self, component: &str, rows: impl IntoIterator<Item = Option<f64>>) -> Self {
        let rows = rows.into_iter().map(|row| row.map(|value| vec![value]));
        self.lists(component, rows)
    }

    /// Adds a component with a list of numbers per row; `None` is a null list.
    #[must_use]
    pub fn lists(self, component: &str, rows: impl IntoIterator<Item = Option<Vec<f64>>>) -> Self {
        let rows = rows
            .into_iter()
            .map(|row| row.map(|list| list.into_iter().map(Some)));
        self.values(
            component,
            ListArray::from_iter_primitive::<Float64Type, _, _>(rows),
        )
    }

    /// Adds a component with one text per row; `None` is a null list.
    #[must_use]
    pub fn texts<'a>(
        self,
        component: &str,
        rows: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Self {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for row in rows {
            if let Some(text) = row {
                lists.values().append_value(text);
            }
            lists.append(row.is_some());
        }
        self.values(component, lists.finish())
    }

    /// Adds the component of a Clear per row: whether it reaches the entities below, too.
    #[must_use]
    pub fn clear(self, recursive: impl IntoIterator<Item = bool>) -> Self {
        let mut lists = ListBuilder::new(BooleanBuilder::new());
        for row in recursive {
            lists.values().append_value(row);
            lists.append(true);
        }
        self.values(keys::CLEAR_COMPONENT, lists.finish())
    }

    /// Adds a component with one list per row.
    #[must_use]
    pub fn values(mut self, component: &str, values: ListArray) -> Self {
        self.components.push(ComponentValues {
            component: component.into(),
            values,
        });
        self
    }

    /// The chunk. It has as many rows as there are row ids, or else as its first column has values.
    ///
    /// # Panics
    ///
    /// When the columns do not fit together.
    pub fn build(self) -> Chunk {
        let first_timeline = self.timelines.first().map(|column| column.times.len());
        let first_component = self.components.first().map(|column| column.values.len());
        let rows = first_timeline.or(first_component).unwrap_or(0);
        let default_ids = || {
            (0..rows as u64)
                .map(|row| self.id * 1_000_000 + row)
                .collect()
        };
        let row_ids = self.row_ids.unwrap_or_else(default_ids);
        let row_ids: RowIds = row_ids
            .into_iter()
            .map(|id| RowId::from(u128::from(id)))
            .collect();
        Chunk::try_new(ChunkParts {
            id: ChunkId::from(u128::from(self.id)),
            segment: self.segment,
            entity: self.entity,
            row_ids: row_ids.0,
            timelines: self.timelines,
            components: self.components,
        })
        .expect("the columns of a chunk in a test fit together")
    }
}

/// The schema of a dataset that consists of `chunks`: columns with their types and whether they are static.
///
/// # Panics
///
/// When two chunks give one column types that cannot be reconciled.
pub fn schema_of(chunks: &[Chunk]) -> DatasetSchema {
    let mut merger = SchemaMerger::default();
    let consistent = "the chunks of a dataset in a test agree on their columns";
    for chunk in chunks {
        for column in chunk.timelines() {
            merger
                .add_timeline(column.timeline.clone())
                .expect(consistent);
        }
        for column in chunk.components() {
            let column = ComponentColumn {
                entity: chunk.entity().clone(),
                component: Arc::clone(&column.component),
                archetype: None,
                component_type: None,
                data_type: column.values.data_type().clone(),
                is_static: chunk.is_static(),
                is_tombstone: &*column.component == keys::CLEAR_COMPONENT,
                is_semantically_empty: false,
            };
            merger.add_component(column).expect(consistent);
        }
    }
    merger.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_has_the_columns_and_row_ids_that_were_asked_for() {
        let chunk = ChunkBuilder::new("seg", "a/b")
            .id(7)
            .sequence("frame", [3, 4])
            .floats("Scalars:scalars", [Some(1.5), None])
            .texts("Text:text", [None, Some("x")])
            .build();
        assert_eq!(chunk.num_rows(), 2);
        assert_eq!(chunk.entity().as_str(), "/a/b");
        assert_eq!(chunk.row_id(1), RowId::from(7_000_001));
        assert_eq!(chunk.timeline("frame").unwrap().bounds(), Some((3, 4)));
        let scalars = chunk.component("Scalars:scalars").unwrap();
        assert_eq!((scalars.value(0).len(), scalars.is_null(1)), (1, true));
        let texts = chunk.component("Text:text").unwrap();
        assert_eq!((texts.is_null(0), texts.value(1).len()), (true, 1));
    }

    #[test]
    fn the_schema_of_chunks_says_which_columns_are_static_and_which_clear() {
        let chunks = [
            ChunkBuilder::new("s", "/a")
                .sequence("frame", [1])
                .floats("x", [None])
                .build(),
            ChunkBuilder::new("s", "/a")
                .id(2)
                .floats("x", [Some(1.0)])
                .build(),
            ChunkBuilder::new("s", "/b")
                .id(3)
                .sequence("frame", [1])
                .clear([true])
                .build(),
        ];
        let schema = schema_of(&chunks);
        assert_eq!(
            schema.timelines,
            [Timeline::new("frame", TimeKind::Sequence)]
        );
        let flags: Vec<_> = schema
            .components
            .iter()
            .map(|c| (c.column_name(), c.is_static, c.is_tombstone))
            .collect();
        let name = format!("/b:{}", keys::CLEAR_COMPONENT);
        assert_eq!(
            flags,
            [("/a:x".to_owned(), true, false), (name, false, true)]
        );
    }
}
