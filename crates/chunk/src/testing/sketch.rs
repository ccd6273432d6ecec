//! Random datasets, small enough that a failure can be read.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, FixedSizeListArray, Int32Array, ListArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, TimeUnit};
use proptest::prelude::*;

use super::ChunkBuilder;
use crate::model::{Chunk, TimeKind};

/// The entities of a sketch, one below another.
pub const ENTITIES: [&str; 3] = ["/a", "/a/b", "/c"];

/// The component of every entity.
pub const COMPONENT: &str = "Some:values";

/// A dataset in a few numbers: segments `s0` to `s2`, the timelines `frame` (sequence) and `stamp`
/// (timestamp), and the [`ENTITIES`] with one [`COMPONENT`] each.
#[derive(Clone, Debug)]
pub struct Sketch {
    chunks: Vec<ChunkSketch>,
    /// The type of each entity's values.
    types: [usize; ENTITIES.len()],
}

/// A chunk of a [`Sketch`].
#[derive(Clone, Debug)]
struct ChunkSketch {
    segment: u8,
    entity: usize,
    kind: Kind,
    rows: Vec<RowSketch>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Temporal,
    /// Temporal, with values on the timeline `stamp`, too.
    TwoTimelines,
    /// Only on the timeline `stamp`.
    OtherTimeline,
    Static,
    Clear,
}

#[derive(Clone, Debug)]
struct RowSketch {
    frame: i64,
    age: u8,
    /// The list: null, or items that may be null.
    items: Option<Vec<Option<u8>>>,
}

/// Any sketch of up to `most` chunks, with lists of up to `items` items.
pub fn sketches(most: usize, items: usize) -> impl Strategy<Value = Sketch> {
    let kind = prop_oneof![
        6 => Just(Kind::Temporal),
        3 => Just(Kind::TwoTimelines),
        1 => Just(Kind::OtherTimeline),
        3 => Just(Kind::Static),
        2 => Just(Kind::Clear),
    ];
    let item = prop::option::weighted(0.9, 0u8..4);
    let list = prop::option::weighted(0.8, prop::collection::vec(item, 0..=items));
    let row =
        (-4i64..8, 0u8..4, list).prop_map(|(frame, age, items)| RowSketch { frame, age, items });
    let rows = prop_oneof![
        3 => prop::collection::vec(row, 0..6),
        2 => steady_rows(),
    ];
    let chunk = (0u8..3, 0..ENTITIES.len(), kind, rows);
    let chunk = chunk.prop_map(|(segment, entity, kind, rows)| ChunkSketch {
        segment,
        entity,
        kind,
        rows,
    });
    let types = prop::array::uniform3(0..TYPES);
    (prop::collection::vec(chunk, 0..most), types)
        .prop_map(|(chunks, types)| Sketch { chunks, types })
}

/// Rows as a recorder writes them: ascending, and each with one value.
fn steady_rows() -> impl Strategy<Value = Vec<RowSketch>> {
    (-4i64..8, 0i64..3, 1i64..12, 0u8..4).prop_map(|(first, step, count, age)| {
        let row = |at: i64| RowSketch {
            frame: first + step * at,
            age,
            items: Some(vec![Some(at.rem_euclid(4) as u8)]),
        };
        (0..count).map(row).collect()
    })
}

impl Sketch {
    /// The chunks, and one of each entity that makes its columns known.
    pub fn chunks(&self) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        for (id, sketch) in (1..).zip(&self.chunks) {
            chunks.push(self.chunk(id, sketch));
        }
        for entity in 0..ENTITIES.len() {
            let sketch = ChunkSketch {
                segment: 0,
                entity,
                kind: Kind::TwoTimelines,
                rows: vec![RowSketch {
                    frame: 0,
                    age: 0,
                    items: Some(vec![Some(1)]),
                }],
            };
            chunks.push(self.chunk(100 + entity as u64, &sketch));
        }
        chunks
    }

    fn chunk(&self, id: u64, sketch: &ChunkSketch) -> Chunk {
        let rows = &sketch.rows;
        let chunk = ChunkBuilder::new(format!("s{}", sketch.segment), ENTITIES[sketch.entity])
            .id(id)
            // Unique in a chunk, as they are when they are logged, and not among chunks.
            .row_ids(
                (0..)
                    .zip(rows)
                    .map(|(at, row)| u64::from(row.age) * 10 + at),
            );
        let lists = || lists(rows, self.types[sketch.entity]);
        let frames = rows.iter().map(|row| row.frame);
        let stamps = rows.iter().map(|row| 100 - row.frame);
        match sketch.kind {
            Kind::Temporal => chunk.sequence("frame", frames).values(COMPONENT, lists()),
            Kind::TwoTimelines => chunk
                .sequence("frame", frames)
                .index("stamp", TimeKind::Timestamp, stamps)
                .values(COMPONENT, lists()),
            Kind::OtherTimeline => chunk
                .index("stamp", TimeKind::Timestamp, stamps)
                .values(COMPONENT, lists()),
            Kind::Static => chunk.values(COMPONENT, lists()),
            Kind::Clear => {
                let flags: Vec<bool> = rows.iter().map(|row| row.items.is_some()).collect();
                chunk.sequence("frame", frames).clear(flags)
            }
        }
        .build()
    }
}

fn lists(rows: &[RowSketch], kind: usize) -> ListArray {
    let items = rows.iter().flat_map(|row| row.items.iter().flatten());
    let items: Int32Array = items.map(|item| item.map(i32::from)).collect();
    let items = values(&items, kind);
    let lengths = rows
        .iter()
        .map(|row| row.items.as_ref().map_or(0, Vec::len));
    let valid: NullBuffer = rows.iter().map(|row| row.items.is_some()).collect();
    let field = Field::new_list_field(items.data_type().clone(), true);
    let offsets = OffsetBuffer::from_lengths(lengths);
    ListArray::new(field.into(), offsets, items, Some(valid))
}

/// How many types of values there are.
const TYPES: usize = 16;

/// The numbers as values of another type.
fn values(numbers: &Int32Array, kind: usize) -> ArrayRef {
    let to = |to: &DataType| cast(numbers, to).expect("small numbers can be anything");
    let text = || to(&DataType::Utf8);
    let via_text = |to: &DataType| cast(&text(), to).expect("texts can be held in many ways");
    let field = |array: &ArrayRef| Field::new("item", array.data_type().clone(), true);
    match kind {
        0 => to(&DataType::Float64),
        1 => to(&DataType::Int64),
        2 => text(),
        3 => to(&DataType::Boolean),
        4 => to(&DataType::UInt32),
        5 => to(&DataType::Float32),
        6 => to(&DataType::UInt8),
        7 => to(&DataType::Decimal128(12, 2)),
        8 => {
            let wide = to(&DataType::Int64);
            let unit = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
            cast(&wide, &unit).expect("a number is a time")
        }
        9 => via_text(&DataType::Utf8View),
        10 => via_text(&DataType::LargeUtf8),
        11 => via_text(&DataType::Dictionary(
            DataType::Int32.into(),
            DataType::Utf8.into(),
        )),
        12 => via_text(&DataType::Binary),
        13 => {
            let (x, y) = (to(&DataType::Float32), text());
            let fields = vec![
                Arc::new(Field::new("x", DataType::Float32, true)),
                Arc::new(Field::new("y", DataType::Utf8, true)),
            ];
            let nulls = numbers.nulls().cloned();
            Arc::new(StructArray::new(fields.into(), vec![x, y], nulls))
        }
        14 => {
            let items = text();
            let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(1, numbers.len()));
            let nulls = numbers.nulls().cloned();
            Arc::new(ListArray::new(field(&items).into(), offsets, items, nulls))
        }
        _ => {
            let items = to(&DataType::Float32);
            let nulls = numbers.nulls().cloned();
            Arc::new(FixedSizeListArray::new(
                field(&items).into(),
                1,
                items,
                nulls,
            ))
        }
    }
}
