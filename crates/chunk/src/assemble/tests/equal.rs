//! The rows are those of the reference, to the byte, however they are asked for.

use proptest::prelude::*;

use super::model::options;
use super::*;
use crate::testing::sketch::{Sketch, sketches};
use crate::view::{Duplicates, ViewOptions};

/// How rows are asked for.
#[derive(Clone, Debug)]
struct Wanted {
    options: ViewOptions,
    index: &'static str,
    /// Bounds of windows, some of which do not hold anything.
    bounds: Vec<i64>,
    from: RowKey,
    limits: Limits,
    columns: Vec<prop::sample::Index>,
    samples: Option<Vec<i64>>,
    not_null: Vec<usize>,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let index = prop::sample::select(vec!["frame", "stamp"]);
    let bounds = prop::collection::btree_set(-6i64..20, 0..6);
    let from = prop_oneof![3 => Just(RowKey::MIN), 1 => (-6i64..20).prop_map(RowKey::at)];
    let rows = prop_oneof![1 => Just(usize::MAX), 2 => 1usize..12];
    let bytes = prop_oneof![1 => Just(usize::MAX), 1 => 1usize..200];
    let columns = prop::collection::vec(any::<prop::sample::Index>(), 0..6);
    let samples = prop::option::weighted(0.3, prop::collection::btree_set(-6i64..20, 0..8));
    let not_null = prop::collection::vec(0usize..3, 0..2);
    let how = (options(), index, bounds, from, (rows, bytes));
    (how, columns, samples, not_null).prop_map(|(how, columns, samples, not_null)| {
        let (options, index, bounds, from, (rows, bytes)) = how;
        // The other timeline counts down from 100.
        let place = |at: i64| if index == "stamp" { 100 - at } else { at };
        let ascending = |all: std::collections::BTreeSet<i64>| {
            let mut all: Vec<i64> = all.into_iter().map(place).collect();
            all.sort_unstable();
            all
        };
        Wanted {
            bounds: ascending(bounds),
            from: if from == RowKey::MIN {
                from
            } else {
                RowKey::at(place(from.time))
            },
            limits: Limits { rows, bytes },
            samples: samples.map(ascending),
            options,
            index,
            columns,
            not_null,
        }
    })
}

impl Wanted {
    fn windows(&self) -> Vec<TimeRange> {
        if self.bounds.len() < 2 {
            return vec![TimeRange::ALL];
        }
        let pairs = self.bounds.chunks_exact(2);
        pairs.map(|pair| TimeRange::new(pair[0], pair[1])).collect()
    }

    /// Compares what is assembled of `chunks` with what the reference says.
    fn check(&self, chunks: &[Chunk]) -> Result<(), TestCaseError> {
        let mut table = Table::of(Some(self.index), &self.options, chunks.to_vec());
        let options = ViewOptions {
            duplicates: Duplicates::Last,
            ..self.options.clone()
        };
        let mut fixed = Table::of(None, &options, chunks.to_vec());
        let components = table.view.components().len();
        table
            .not_null
            .extend(self.not_null.iter().filter(|&&at| at < components));
        if table.view.duplicates() == Duplicates::Last {
            table.samples.clone_from(&self.samples);
        }
        let schema = Arc::clone(table.view.schema());
        let columns = self
            .columns
            .iter()
            .map(|at| at.get(schema.fields()).name().as_str());
        let columns: Vec<&str> = columns.collect();
        let windows = self.windows();
        for segment in ["s0", "s1", "s2"] {
            let own = chunks
                .iter()
                .filter(|chunk| chunk.segment().as_str() == segment);
            table.chunks = own.cloned().map(Arc::new).collect();
            let mut from = Some(self.from);
            while let Some(at) = from {
                let (found, expected) = table.with(&columns, |chunks| {
                    let found = assemble(chunks, &windows, at, self.limits);
                    (
                        found,
                        reference::assemble(chunks, &windows, at, self.limits),
                    )
                });
                let (found, expected) = (found.unwrap(), expected.unwrap());
                found
                    .batch
                    .columns()
                    .iter()
                    .for_each(|column| column.to_data().validate_full().unwrap());
                prop_assert_eq!(&found.batch, &expected.batch);
                prop_assert_eq!(found.next, expected.next);
                prop_assert!(found.next.is_none_or(|next| next > at));
                from = found.next;
            }
            fixed.chunks.clone_from(&table.chunks);
            let (found, expected) = fixed.with(&[], |chunks| {
                (assemble_static(chunks), reference::assemble_static(chunks))
            });
            prop_assert_eq!(found.unwrap(), expected.unwrap());
        }
        Ok(())
    }
}

/// The chunks again, with rows in their order by `timeline`.
fn sorted(sketch: &Sketch, timeline: &str) -> Vec<Chunk> {
    let sorted = sketch.chunks().into_iter().map(|chunk| {
        let Some(column) = chunk.timeline(timeline) else {
            return chunk;
        };
        let mut rows: Vec<usize> = (0..chunk.num_rows()).collect();
        rows.sort_by_key(|&row| (column.times[row], chunk.row_id(row)));
        chunk.take(&rows).unwrap()
    });
    sorted.collect()
}

proptest! {
    #[test]
    fn rows_are_those_of_the_reference(sketch in sketches(8, 3), wanted in wanted()) {
        wanted.check(&sketch.chunks())?;
        wanted.check(&sorted(&sketch, wanted.index))?;
    }
}
