//! Arrays of every type that is read, with nulls and empty values.

use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::cast;
use arrow::datatypes::*;

/// Rows of every sample.
pub(crate) const ROWS: usize = 8;

/// The samples. Each has [`ROWS`] rows.
pub(crate) fn all() -> Vec<ArrayRef> {
    let mut arrays = primitives();
    arrays.extend(bytes());
    arrays.extend(lists());
    arrays.extend(nested());
    arrays
}

/// `items` as the values of a list column of three rows: five items, null, the rest.
pub(crate) fn listed(items: &ArrayRef) -> ListArray {
    let field = Field::new_list_field(items.data_type().clone(), true);
    let offsets = OffsetBuffer::new(vec![0, 5, 5, i32::try_from(items.len()).unwrap()].into());
    let nulls = NullBuffer::from(vec![true, false, true]);
    ListArray::new(field.into(), offsets, Arc::clone(items), Some(nulls))
}

fn ints() -> Int32Array {
    Int32Array::from(vec![
        Some(1),
        None,
        Some(7),
        Some(0),
        Some(3),
        None,
        Some(100),
        Some(42),
    ])
}

fn texts() -> Vec<Option<&'static str>> {
    let long = "a text that is too long to stand within a view";
    vec![
        Some("a"),
        None,
        Some(""),
        Some(long),
        Some("ünï"),
        Some(long),
        None,
        Some("end"),
    ]
}

fn primitives() -> Vec<ArrayRef> {
    use DataType::*;
    let zone = Some("Europe/Berlin".into());
    let units = [
        TimeUnit::Second,
        TimeUnit::Millisecond,
        TimeUnit::Microsecond,
        TimeUnit::Nanosecond,
    ];
    let mut types = vec![
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Boolean,
        Date32,
        Date64,
        Decimal32(9, 2),
        Decimal64(18, -2),
        Decimal128(38, 0),
        Decimal256(76, 10),
        Interval(IntervalUnit::YearMonth),
    ];
    types.extend(units.map(|unit| Timestamp(unit, None)));
    types.push(Timestamp(TimeUnit::Nanosecond, zone));
    types.extend(units.map(Duration));
    types.extend([Time32(TimeUnit::Second), Time32(TimeUnit::Millisecond)]);
    types.extend([Time64(TimeUnit::Microsecond), Time64(TimeUnit::Nanosecond)]);
    let (narrow, wide) = (ints(), cast(&ints(), &Int64).unwrap());
    let via = |to: &DataType| match cast(&narrow, to) {
        Ok(array) => array,
        Err(_) => cast(&wide, to).unwrap(),
    };
    let mut arrays: Vec<ArrayRef> = types.iter().map(via).collect();
    let day_time: IntervalDayTimeArray = ints()
        .iter()
        .map(|v| v.map(|v| IntervalDayTimeType::make_value(v, -v)))
        .collect();
    let month_day_nano: IntervalMonthDayNanoArray = ints()
        .iter()
        .map(|v| v.map(|v| IntervalMonthDayNanoType::make_value(v, -v, i64::from(v) << 40)))
        .collect();
    arrays.push(Arc::new(day_time));
    arrays.push(Arc::new(month_day_nano));
    arrays.push(Arc::new(NullArray::new(ROWS)));
    arrays.push(Arc::new(Float64Array::from_iter_values(
        (0..ROWS).map(|v| v as f64),
    )));
    arrays
}

fn bytes() -> Vec<ArrayRef> {
    let raw: Vec<Option<&[u8]>> = texts().iter().map(|t| t.map(str::as_bytes)).collect();
    let fixed = |width: i32| {
        let value = |v: Option<i32>| v.map(|v| vec![v as u8; width as usize]);
        FixedSizeBinaryArray::try_from_sparse_iter_with_size(ints().iter().map(value), width)
            .unwrap()
    };
    vec![
        Arc::new(StringArray::from(texts())),
        Arc::new(LargeStringArray::from(texts())),
        Arc::new(StringViewArray::from(texts())),
        Arc::new(BinaryArray::from(raw.clone())),
        Arc::new(LargeBinaryArray::from(raw.clone())),
        Arc::new(BinaryViewArray::from(raw)),
        Arc::new(fixed(16)),
        Arc::new(fixed(3)),
    ]
}

fn lists() -> Vec<ArrayRef> {
    let row = |v: Option<i32>| {
        v.map(|v| {
            (0..v % 4)
                .map(|i| (i != 2).then_some(i))
                .collect::<Vec<_>>()
        })
    };
    let fixed = |v: Option<i32>| v.map(|v| [Some(v), None, Some(-v)]);
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(ints().iter().map(row));
    let large = LargeListArray::from_iter_primitive::<Int16Type, _, _>(
        ints()
            .iter()
            .map(|v| row(v).map(|v| v.into_iter().map(|v| v.map(|v| v as i16)))),
    );
    let fixed =
        FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(ints().iter().map(fixed), 3);
    let texts: ArrayRef = Arc::new(StringArray::from(texts()));
    let offsets = OffsetBuffer::from_lengths([0, 2, 3, 0, 0, 1, 2, 0]);
    let outer = Field::new_list_field(texts.data_type().clone(), true);
    let of_texts = ListArray::new(outer.into(), offsets, texts, None);
    let strict = Field::new("x", DataType::Float32, false).into();
    let floats = Arc::new(Float32Array::from_iter_values(
        (0..2 * ROWS).map(|v| v as f32),
    ));
    let nulls = NullBuffer::from(vec![true, true, false, true, true, true, false, true]);
    let strict = FixedSizeListArray::new(strict, 2, floats, Some(nulls));
    let empty = FixedSizeListArray::try_new_with_length(
        Field::new_list_field(DataType::Int8, true).into(),
        0,
        Arc::new(Int8Array::new_null(0)),
        None,
        ROWS,
    );
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for value in &ints() {
        for entry in 0..value.unwrap_or(0) % 3 {
            map.keys().append_value(format!("key {entry}"));
            map.values().append_option(value.filter(|v| *v != 7));
        }
        map.append(value.is_some()).unwrap();
    }
    let map = map.finish();
    vec![
        Arc::new(list),
        Arc::new(large),
        Arc::new(fixed),
        Arc::new(of_texts),
        Arc::new(strict),
        Arc::new(empty.unwrap()),
        Arc::new(map),
    ]
}

fn nested() -> Vec<ArrayRef> {
    let field = |name: &str, array: &ArrayRef, nullable: bool| {
        let metadata = [("unit".to_owned(), "m".to_owned())].into();
        Arc::new(Field::new(name, array.data_type().clone(), nullable).with_metadata(metadata))
    };
    let numbers: ArrayRef = Arc::new(ints());
    let texts_array: ArrayRef = Arc::new(StringArray::from(texts()));
    let full: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS as i64));
    let fields: Vec<FieldRef> = vec![
        field("a", &numbers, true),
        field("b", &texts_array, true),
        field("c", &full, false),
    ];
    let nulls = NullBuffer::from(vec![true, true, true, false, true, false, true, true]);
    let columns = vec![
        Arc::clone(&numbers),
        Arc::clone(&texts_array),
        Arc::clone(&full),
    ];
    let record = StructArray::new(fields.clone().into(), columns.clone(), Some(nulls));
    let none = StructArray::new_empty_fields(ROWS, None);

    let dictionary: DictionaryArray<Int32Type> = texts().into_iter().collect();
    let small: DictionaryArray<UInt8Type> = texts().into_iter().collect();
    let keys = UInt16Array::from(vec![
        Some(0),
        None,
        Some(7),
        Some(7),
        Some(2),
        Some(5),
        Some(1),
        None,
    ]);
    let of_lists = DictionaryArray::new(keys, lists().swap_remove(3));
    let keys = Int8Array::from(vec![0, 1, 2, 3, 4, 5, 6, 7]);
    let inner = Field::new("word", dictionary.data_type().clone(), true);
    let inner = StructArray::from(vec![(
        Arc::new(inner),
        Arc::new(dictionary.clone()) as ArrayRef,
    )]);
    let of_dictionaries = DictionaryArray::new(keys, Arc::new(inner));
    let all_null = DictionaryArray::new(
        Int8Array::new_null(ROWS),
        Arc::new(StringArray::new_null(0)),
    );

    let types = UnionFields::try_new([0, 5], fields.iter().take(2).cloned()).unwrap();
    let ids: ScalarBuffer<i8> = vec![0, 5, 0, 5, 5, 0, 0, 5].into();
    let children = columns[..2].to_vec();
    let sparse = UnionArray::try_new(types.clone(), ids.clone(), None, children.clone()).unwrap();
    let offsets: ScalarBuffer<i32> = vec![0, 0, 1, 1, 2, 2, 3, 3].into();
    let dense = UnionArray::try_new(types, ids, Some(offsets), children).unwrap();

    let values = StringArray::from(vec![Some("x"), None, Some("z")]);
    let runs = RunArray::try_new(&Int32Array::from(vec![2, 3, ROWS as i32]), &values).unwrap();
    vec![
        Arc::new(record),
        Arc::new(none),
        Arc::new(dictionary),
        Arc::new(small),
        Arc::new(of_lists),
        Arc::new(of_dictionaries),
        Arc::new(all_null),
        Arc::new(sparse),
        Arc::new(dense),
        Arc::new(runs),
    ]
}
