//! Values of every type, and types that set limits to what can stand in one array.

use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::*;
use segue_error::{Error, ErrorCode, Result};

use super::super::runs::Runs;
use super::super::{Cell, SegmentChunks, assemble_static, size};
use super::Gather;
use crate::ViewOptions;
use crate::ipc::tests::samples;
use crate::model::{Chunk, SegmentId};
use crate::testing::{ChunkBuilder, schema_of};
use crate::view::View;

/// One list of all `items`.
fn listed(items: &ArrayRef) -> ListArray {
    let field = Field::new_list_field(items.data_type().clone(), true);
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    ListArray::new(field.into(), offsets, Arc::clone(items), None)
}

/// Calls `f` with one static chunk per array, all of one component.
fn with_chunks<R>(columns: &[ListArray], f: impl FnOnce(&SegmentChunks<'_>) -> R) -> R {
    let chunks = (1..).zip(columns).map(|(id, values)| {
        let chunk = ChunkBuilder::new("s", "/a").id(id);
        chunk.values("x", values.clone()).build()
    });
    let chunks: Vec<Chunk> = chunks.collect();
    let view = View::resolve(&schema_of(&chunks), None, &ViewOptions::default()).unwrap();
    let chunks: Vec<_> = chunks.into_iter().map(Arc::new).collect();
    let segment = SegmentId::from("s");
    f(&SegmentChunks::new(&view, &[1], &segment, &chunks))
}

fn cell(chunk: usize, row: usize) -> Cell {
    Cell {
        chunk,
        row,
        is_cleared: false,
    }
}

/// The given rows of the arrays, one after the other.
fn gather(
    columns: &[ListArray],
    cells: impl IntoIterator<Item = Option<Cell>>,
) -> Result<ArrayRef> {
    let mut runs = Runs::default();
    cells.into_iter().for_each(|cell| runs.push(cell));
    with_chunks(columns, |chunks| {
        Gather::new(chunks, &chunks.view.components()[0])?.lists(&runs)
    })
}

/// The first rows of all arrays.
fn gathered(columns: &[ListArray]) -> Result<ArrayRef> {
    gather(
        columns,
        (0..columns.len()).map(|chunk| Some(cell(chunk, 0))),
    )
}

#[track_caller]
fn assert_unsupported(result: Result<ArrayRef>, says: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unsupported, "{error}");
    assert!(error.message().contains("column '/a:x'"), "{error}");
    assert!(error.message().contains(says), "{error}");
}

#[test]
fn values_of_every_type_are_gathered_from_several_chunks() {
    for items in samples::all() {
        let values = samples::listed(&items);
        let columns = [values.clone(), values.clone(), values.clone()];
        let cells = [cell(2, 2), cell(0, 1), cell(1, 0), cell(0, 2)];
        let said = cells.map(|cell| values.is_valid(cell.row).then_some(cell));
        let found = gather(&columns, said);
        if matches!(items.data_type(), DataType::FixedSizeList(_, 0)) {
            assert_unsupported(found, "size 0");
            continue;
        }
        let found = found.unwrap();
        let found = found.as_list::<i32>();
        for (row, cell) in cells.iter().enumerate() {
            let what = values.data_type();
            assert_eq!(found.is_null(row), values.is_null(cell.row), "{what}");
            if found.is_valid(row) {
                assert_eq!(&found.value(row), &values.value(cell.row), "{what}");
            }
        }
    }
}

#[test]
fn more_dictionary_values_than_keys_are_unsupported_and_no_panic() {
    let words = |chunk: usize| -> ArrayRef {
        let values = (0..8).map(|value| format!("{chunk} {value}"));
        Arc::new(StringArray::from_iter_values(values))
    };
    let keys = || Int8Array::from_iter_values(0..8);
    let columns = |count, column: &dyn Fn(usize) -> ArrayRef| -> Vec<ListArray> {
        (0..count).map(|chunk| listed(&column(chunk))).collect()
    };
    let texts = |chunk| -> ArrayRef { Arc::new(DictionaryArray::new(keys(), words(chunk))) };
    let records = |chunk| -> ArrayRef {
        let field = Arc::new(Field::new("word", DataType::Utf8, true));
        let values = StructArray::from(vec![(field, words(chunk))]);
        Arc::new(DictionaryArray::new(keys(), Arc::new(values)))
    };
    let either = |chunk| -> ArrayRef {
        let child = texts(chunk);
        let field = Arc::new(Field::new("word", child.data_type().clone(), true));
        let fields = UnionFields::try_new([0], [field]).unwrap();
        let ids: ScalarBuffer<i8> = vec![0; 8].into();
        Arc::new(UnionArray::try_new(fields, ids, None, vec![child]).unwrap())
    };
    for (kind, column) in [
        ("texts", &texts as &dyn Fn(usize) -> ArrayRef),
        ("records", &records),
        ("either", &either),
    ] {
        let found = gathered(&columns(15, column)).unwrap();
        let last = found.as_list::<i32>().value(14);
        assert_eq!(&last.slice(7, 1), &column(14).slice(7, 1), "{kind}");
    }
    assert_unsupported(gathered(&columns(17, &texts)), "key");
    assert_unsupported(gathered(&columns(17, &records)), "keys reach to 127");
    assert_unsupported(gathered(&columns(17, &either)), "keys reach to 127");
}

#[test]
fn runs_in_a_union_are_unsupported() {
    let runs = RunArray::try_new(&Int16Array::from(vec![2]), &StringArray::from(vec!["x"]));
    let runs: ArrayRef = Arc::new(runs.unwrap());
    let field = Arc::new(Field::new("word", runs.data_type().clone(), true));
    let fields = UnionFields::try_new([0], [field]).unwrap();
    let union = UnionArray::try_new(fields, vec![0; 2].into(), None, vec![runs]).unwrap();
    assert_unsupported(gathered(&[listed(&(Arc::new(union) as ArrayRef))]), "runs");
}

/// Arrays of very many values that take next to no memory.
fn many_without_bytes() -> Vec<ArrayRef> {
    const MANY: usize = 200_000_000;
    let nulls: ArrayRef = Arc::new(NullArray::new(MANY));
    let field = Arc::new(Field::new("x", DataType::Null, true));
    let pairs = FixedSizeListArray::new(Arc::clone(&field), 2, Arc::clone(&nulls), None);
    let of_none = FixedSizeListArray::try_new_with_length(
        Field::new_list_field(DataType::Int8, true).into(),
        0,
        Arc::new(Int8Array::new_null(0)),
        None,
        MANY,
    );
    let lists = ListArray::new(
        Arc::clone(&field),
        OffsetBuffer::from_lengths([MANY]),
        Arc::clone(&nulls),
        None,
    );
    vec![
        Arc::clone(&nulls),
        Arc::new(pairs),
        Arc::new(of_none.unwrap()),
        Arc::new(StructArray::new_empty_fields(MANY, None)),
        Arc::new(StructArray::from(vec![(field, nulls)])),
        Arc::new(lists),
    ]
}

#[test]
fn items_without_bytes_count_for_what_gathering_them_takes() {
    let check = |error: Error| {
        assert_eq!(error.code(), ErrorCode::BatchTooLarge, "{error}");
        assert!(error.message().contains("segment 's'"), "{error}");
    };
    for items in many_without_bytes() {
        with_chunks(&[listed(&items)], |chunks| {
            check(assemble_static(chunks).unwrap_err());
            let mut runs = Runs::default();
            runs.push(Some(cell(0, 0)));
            let column = size::Column {
                component: 0,
                runs: &runs,
            };
            let fitting = size::rows_that_fit(chunks, &[7i64], &[column], usize::MAX);
            check(fitting.unwrap_err());
        });
    }
}
