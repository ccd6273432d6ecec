//! The rules said once more, in the plainest way: for each row and column, looking at every value there is.

use std::collections::BTreeSet;

use arrow::util::display::array_value_to_string;
use proptest::prelude::*;

use super::*;
use crate::model::{ChunkId, Fill, RowId};
use crate::schema::keys::CLEAR_COMPONENT;
use crate::testing::sketch::sketches;
use crate::view::{Duplicates, StaticColumns, ViewColumn};

/// What a row of a chunk says of a component.
struct Said<'a> {
    component: usize,
    time: i64,
    row_id: RowId,
    chunk: &'a Chunk,
    row: usize,
    is_cleared: bool,
}

impl Said<'_> {
    fn order(&self) -> (i64, RowId, ChunkId) {
        (self.time, self.row_id, self.chunk.id())
    }

    fn text(&self, table: &Table) -> String {
        if self.is_cleared {
            return "[]".to_owned();
        }
        let name = &table.view.components()[self.component].component;
        array_value_to_string(self.chunk.component(name).unwrap(), self.row).unwrap()
    }
}

fn said(table: &Table) -> Vec<Said<'_>> {
    let index = table.view.index().unwrap();
    let mut all = Vec::new();
    for chunk in &table.chunks {
        let times = chunk.timeline(&index.name).map(|column| &column.times);
        if times.is_none() && !chunk.is_static() {
            continue;
        }
        for (component, column) in table.view.components().iter().enumerate() {
            for row in 0..chunk.num_rows() {
                let has = |name: &str| chunk.component(name).filter(|values| values.is_valid(row));
                let is_own = *chunk.entity() == column.entity;
                let own = is_own && has(&column.component).is_some();
                let clear = has(CLEAR_COMPONENT).is_some_and(|flags| {
                    let flag = flags.value(row).as_boolean().value(0);
                    is_own || (flag && column.entity.is_within(chunk.entity()))
                });
                let clear = clear && !column.is_tombstone && !chunk.is_static();
                for is_cleared in [(own, false), (clear, true)].into_iter().filter(|x| x.0) {
                    all.push(Said {
                        component,
                        time: times.map_or(0, |times| times[row]),
                        row_id: chunk.row_id(row),
                        chunk,
                        row,
                        is_cleared: is_cleared.1,
                    });
                }
            }
        }
    }
    all
}

/// All rows of the table as texts, the segment left out.
fn model(table: &Table) -> Vec<Vec<String>> {
    let (view, all) = (&table.view, said(table));
    let key = |said: &Said<'_>| match view.duplicates() {
        Duplicates::Last => RowKey::at(said.time),
        Duplicates::All => RowKey {
            time: said.time,
            row_id: said.row_id,
        },
    };
    let fixed = |component: usize| {
        let own = all.iter().filter(|said| said.component == component);
        let fixed = own.filter(|said| said.chunk.is_static());
        fixed.max_by_key(|said| said.order())
    };
    let temporal: Vec<&Said<'_>> = all
        .iter()
        .filter(|said| !said.chunk.is_static() && fixed(said.component).is_none())
        .collect();
    let keys: BTreeSet<RowKey> = match &table.samples {
        Some(samples) => samples.iter().copied().map(RowKey::at).collect(),
        None => temporal.iter().map(|said| key(said)).collect(),
    };
    let has_all = |row: &RowKey| {
        table.not_null.iter().all(|&component| {
            let mut own = temporal.iter().filter(|said| said.component == component);
            fixed(component).is_some() || own.any(|said| key(said) == *row)
        })
    };
    let cell = |component: usize, row: RowKey| {
        let own = temporal.iter().filter(|said| said.component == component);
        let counts = own.filter(|said| match view.fill() {
            Fill::None => key(said) == row,
            Fill::LatestAt => key(said) <= row,
        });
        counts.max_by_key(|said| said.order())
    };
    let components = || 0..view.components().len();
    let time = |timeline: &crate::Timeline, row: RowKey| {
        if view.index() == Some(timeline) {
            return Some(row.time);
        }
        let cells = components().filter_map(|component| cell(component, row));
        let times = cells.filter_map(|said| {
            let column = said.chunk.timeline(&timeline.name)?;
            Some(column.times[said.row])
        });
        times.max()
    };
    let columns = (1..view.schema().fields().len()).map(|at| view.column(at).unwrap());
    let columns: Vec<_> = columns.collect();
    let rows = keys.into_iter().filter(has_all);
    rows.map(|row| {
        let text = |column: &ViewColumn<'_>| match *column {
            ViewColumn::Segment => unreachable!(),
            ViewColumn::Timeline(timeline) => {
                time(timeline, row).map_or(String::new(), |time| time.to_string())
            }
            ViewColumn::RowId => row.row_id.to_string(),
            ViewColumn::Component(component) => {
                let stands = fixed(component).or_else(|| cell(component, row).copied());
                stands.map_or(String::new(), |said| said.text(table))
            }
        };
        columns.iter().map(text).collect()
    })
    .collect()
}

/// The rows of a batch as texts.
fn texts(table: &Table, batch: &RecordBatch) -> Vec<Vec<String>> {
    let columns = (1..batch.num_columns()).map(|at| (table.view.column(at), batch.column(at)));
    let columns: Vec<_> = columns.collect();
    let text = |row: usize| {
        let columns = columns.iter();
        let cells = columns.map(|(column, values)| match column {
            Some(ViewColumn::Timeline(_)) if values.is_null(row) => String::new(),
            Some(ViewColumn::Timeline(_)) => {
                let plain = arrow::compute::cast(values, &arrow::datatypes::DataType::Int64);
                plain
                    .unwrap()
                    .as_primitive::<Int64Type>()
                    .value(row)
                    .to_string()
            }
            _ => array_value_to_string(values, row).unwrap(),
        });
        cells.collect()
    };
    (0..batch.num_rows()).map(text).collect()
}

pub(super) fn options() -> impl Strategy<Value = ViewOptions> {
    let contents = prop::sample::select(vec!["/**", "/a", "/a/b", "/c"]);
    let statics = prop_oneof![
        4 => Just(StaticColumns::Both),
        1 => Just(StaticColumns::Only),
        1 => Just(StaticColumns::None),
    ];
    (contents, any::<[bool; 3]>(), statics).prop_map(|(contents, flags, static_columns)| {
        ViewOptions {
            static_columns,
            fill: [Fill::None, Fill::LatestAt][usize::from(flags[0])],
            duplicates: [Duplicates::Last, Duplicates::All][usize::from(flags[1])],
            tombstone_columns: flags[2],
            ..Contents::parse([contents]).unwrap().into()
        }
    })
}

proptest! {
    #[test]
    fn rows_are_what_the_rules_say_however_they_are_cut(
        sketch in sketches(8, 3),
        options in options(),
        index in prop::sample::select(vec!["frame", "stamp"]),
        samples in prop::option::weighted(0.3, prop::collection::btree_set(-5i64..9, 0..5)),
        not_null in prop::collection::vec(0usize..3, 0..3),
        limit in 1usize..4,
    ) {
        let chunks = sketch.chunks();
        let mut table = Table::of(Some(index), &options, chunks.clone());
        if options.duplicates == Duplicates::Last {
            let shift = if index == "stamp" { 100 } else { 0 };
            table.samples = samples.map(|samples| samples.iter().map(|x| x + shift).collect());
        }
        let components = table.view.components().len();
        table.not_null = not_null.into_iter().filter(|&at| at < components).collect();
        for segment in ["s0", "s1", "s2"] {
            let own = chunks.iter().filter(|chunk| chunk.segment().as_str() == segment);
            table.chunks = own.cloned().map(Arc::new).collect();
            let expected = model(&table);
            let whole = table.rows(&[]);
            prop_assert_eq!(&texts(&table, &whole), &expected);
            let limits = Limits { rows: limit, ..NO_LIMITS };
            let pieces = table.pieces(&[], &[TimeRange::ALL], limits);
            let pieces: Vec<_> = pieces.iter().flat_map(|piece| texts(&table, piece)).collect();
            prop_assert_eq!(&pieces, &expected);
        }
    }
}
