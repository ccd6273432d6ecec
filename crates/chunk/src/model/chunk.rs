//! The chunk.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayData, AsArray, FixedSizeBinaryArray, ListArray, UInt64Array};
use arrow::buffer::ScalarBuffer;
use arrow::compute::take;
use segue_error::{Error, ErrorCode, Result};

use super::{ChunkId, EntityPath, RowId, SegmentId, Timeline};

/// Name of a component of an entity, such as `Points3D:positions`.
pub type ComponentName = Arc<str>;

/// Index values of a chunk on one timeline, one per row.
#[derive(Clone, Debug)]
pub struct TimeColumn {
    /// The timeline.
    pub timeline: Timeline,
    /// One value per row; never null.
    pub times: ScalarBuffer<i64>,
}

impl TimeColumn {
    /// Smallest and largest value; `None` without rows.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let min = self.times.iter().copied().min()?;
        let max = self.times.iter().copied().max()?;
        Some((min, max))
    }
}

/// Values of one component, one list per row. A null list is no value; an empty list is one.
#[derive(Clone, Debug)]
pub struct ComponentValues {
    /// Name of the component.
    pub component: ComponentName,
    /// One nullable list per row.
    pub values: ListArray,
}

/// What a [`Chunk`] is made of.
#[derive(Clone, Debug)]
pub struct ChunkParts {
    /// Identity.
    pub id: ChunkId,
    /// Segment that the chunk belongs to.
    pub segment: SegmentId,
    /// Entity that the values belong to.
    pub entity: EntityPath,
    /// One id per row.
    pub row_ids: FixedSizeBinaryArray,
    /// Timelines; none for static data.
    pub timelines: Vec<TimeColumn>,
    /// Component columns.
    pub components: Vec<ComponentValues>,
}

/// Rows of one entity in one segment.
///
/// Invariant, checked when it is made: row ids are 16 bytes wide and not null, every column has as many
/// rows as there are row ids, and no timeline or component stands twice.
#[derive(Clone, Debug)]
pub struct Chunk {
    parts: ChunkParts,
    /// Of each timeline, whether its values ascend.
    sorted: Vec<bool>,
}

impl Chunk {
    /// Checks the parts and makes a chunk of them; `chunk_corrupt` when they do not fit together.
    pub fn try_new(parts: ChunkParts) -> Result<Self> {
        let corrupt = |reason: String| Err(corrupt(&parts.segment, parts.id, &reason));
        let rows = parts.row_ids.len();
        if parts.row_ids.value_length() != 16 || parts.row_ids.null_count() != 0 {
            return corrupt("row ids are not 16 bytes wide and non-null".to_owned());
        }
        let mut names = HashSet::new();
        for column in &parts.timelines {
            if column.times.len() != rows {
                let (name, len) = (&column.timeline.name, column.times.len());
                return corrupt(format!(
                    "timeline '{name}' has {len} values for {rows} rows"
                ));
            }
            if !names.insert(&column.timeline.name) {
                return corrupt(format!("timeline '{}' stands twice", column.timeline.name));
            }
        }
        names.clear();
        for column in &parts.components {
            if column.values.len() != rows {
                let (name, len) = (&column.component, column.values.len());
                return corrupt(format!(
                    "component '{name}' has {len} values for {rows} rows"
                ));
            }
            if !names.insert(&column.component) {
                return corrupt(format!("component '{}' stands twice", column.component));
            }
        }
        let sorted = parts
            .timelines
            .iter()
            .map(|column| column.times.is_sorted());
        Ok(Self {
            sorted: sorted.collect(),
            parts,
        })
    }

    /// Identity.
    pub fn id(&self) -> ChunkId {
        self.parts.id
    }

    /// Segment that the chunk belongs to.
    pub fn segment(&self) -> &SegmentId {
        &self.parts.segment
    }

    /// Entity that the values belong to.
    pub fn entity(&self) -> &EntityPath {
        &self.parts.entity
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.parts.row_ids.len()
    }

    /// Whether the values hold at every time: the chunk has no timeline.
    pub fn is_static(&self) -> bool {
        self.parts.timelines.is_empty()
    }

    /// Id of row `row`, which must be less than [`Self::num_rows`].
    pub fn row_id(&self, row: usize) -> RowId {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(self.parts.row_ids.value(row));
        RowId::from_be_bytes(bytes)
    }

    /// All row ids.
    pub fn row_ids(&self) -> &FixedSizeBinaryArray {
        &self.parts.row_ids
    }

    /// All timelines.
    pub fn timelines(&self) -> &[TimeColumn] {
        &self.parts.timelines
    }

    /// The values on the timeline called `name`.
    pub fn timeline(&self, name: &str) -> Option<&TimeColumn> {
        self.parts
            .timelines
            .iter()
            .find(|c| &*c.timeline.name == name)
    }

    /// Whether the values on the timeline called `name` ascend.
    pub fn is_sorted_by(&self, name: &str) -> bool {
        let mut columns = self.parts.timelines.iter().zip(&self.sorted);
        columns.any(|(column, is_sorted)| *is_sorted && &*column.timeline.name == name)
    }

    /// All component columns.
    pub fn components(&self) -> &[ComponentValues] {
        &self.parts.components
    }

    /// The column of the component called `name`.
    pub fn component(&self, name: &str) -> Option<&ListArray> {
        let column = self
            .parts
            .components
            .iter()
            .find(|c| &*c.component == name)?;
        Some(&column.values)
    }

    /// The parts, to change or encode.
    pub fn into_parts(self) -> ChunkParts {
        self.parts
    }

    /// A copy of the given rows, in that order, each less than [`Self::num_rows`].
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        let indices = UInt64Array::from_iter_values(rows.iter().map(|&row| row as u64));
        let copy = |array: &dyn Array| {
            take(array, &indices, None).map_err(|error| {
                let (id, segment) = (self.id(), self.segment());
                let message = format!(
                    "arrow could not copy rows of chunk {id} of segment '{segment}': {error}"
                );
                Error::new(ErrorCode::Internal, "chunk.take", message).with_source(error)
            })
        };
        let timelines = self.parts.timelines.iter().map(|column| TimeColumn {
            timeline: column.timeline.clone(),
            times: rows.iter().map(|&row| column.times[row]).collect(),
        });
        let components = self.parts.components.iter().map(|column| {
            Ok(ComponentValues {
                component: Arc::clone(&column.component),
                values: copy(&column.values)?.as_list().clone(),
            })
        });
        Self::try_new(ChunkParts {
            id: self.parts.id,
            segment: self.parts.segment.clone(),
            entity: self.parts.entity.clone(),
            row_ids: copy(&self.parts.row_ids)?.as_fixed_size_binary().clone(),
            timelines: timelines.collect(),
            components: components.collect::<Result<_>>()?,
        })
    }

    /// Bytes of memory behind the chunk's arrays; a buffer that several columns share counts once.
    pub fn memory_size(&self) -> usize {
        fn count(data: &ArrayData, seen: &mut HashSet<*const u8>) -> usize {
            let validity = data.nulls().map(|nulls| nulls.buffer());
            let own: usize = data
                .buffers()
                .iter()
                .chain(validity)
                .filter(|buffer| seen.insert(buffer.data_ptr().as_ptr().cast_const()))
                .map(|buffer| buffer.capacity())
                .sum();
            own + data
                .child_data()
                .iter()
                .map(|child| count(child, seen))
                .sum::<usize>()
        }
        let mut seen = HashSet::new();
        let mut total = count(&self.parts.row_ids.to_data(), &mut seen);
        for column in &self.parts.timelines {
            let buffer = column.times.inner();
            if seen.insert(buffer.data_ptr().as_ptr().cast_const()) {
                total += buffer.capacity();
            }
        }
        for column in &self.parts.components {
            total += count(&column.values.to_data(), &mut seen);
        }
        total
    }
}

/// The error for a chunk whose bytes or announcement are wrong.
pub(crate) fn corrupt(segment: &SegmentId, id: ChunkId, reason: &str) -> Error {
    Error::new(
        ErrorCode::ChunkCorrupt,
        "chunk.decode",
        format!("chunk {id} of segment '{segment}' is damaged: {reason}"),
    )
    .with_fact("chunk_id", id.to_string())
    .with_fact("segment", segment.as_str())
}

/// Row ids as an Arrow array.
impl FromIterator<RowId> for RowIds {
    fn from_iter<I: IntoIterator<Item = RowId>>(iter: I) -> Self {
        let bytes: Vec<u8> = iter.into_iter().flat_map(RowId::to_be_bytes).collect();
        let rows = bytes.len() / 16;
        let data = ArrayData::builder(arrow::datatypes::DataType::FixedSizeBinary(16))
            .len(rows)
            .add_buffer(bytes.into())
            .build()
            .expect("one buffer of 16 bytes a row is a valid array");
        Self(
            arrow::array::make_array(data)
                .as_fixed_size_binary()
                .clone(),
        )
    }
}

/// Collects [`RowId`]s into the array that [`ChunkParts`] wants.
#[derive(Clone, Debug)]
pub struct RowIds(pub FixedSizeBinaryArray);
