//! What is printed.

use std::slice::from_ref;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, Float64Array, Int64Array, IntervalMonthDayNanoArray, LargeStringArray,
    ListArray, RecordBatch, StringArray, StringViewArray, TimestampNanosecondArray,
    TimestampSecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Float64Type};
use arrow::ipc::reader::StreamReader;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::encoder::encoder;
use crate::args::Format;
use crate::exit::Failure;
use crate::terminal;

fn encode(
    format: Format,
    width: Option<usize>,
    batches: &[RecordBatch],
) -> Result<Vec<u8>, Failure> {
    let mut encoder = encoder(format, batches[0].schema_ref(), width)?;
    let mut out = Vec::new();
    for batch in batches {
        encoder.write(batch, &mut out)?;
    }
    encoder.finish(&mut out)?;
    Ok(out)
}

fn print(format: Format, batches: &[RecordBatch]) -> String {
    String::from_utf8(encode(format, None, batches).unwrap()).unwrap()
}

/// A table on a terminal of `width` columns.
fn show(width: usize, batch: &RecordBatch) -> String {
    let out = encode(Format::Table, Some(width), from_ref(batch));
    String::from_utf8(out.unwrap()).unwrap()
}

fn sample() -> RecordBatch {
    let lists = ListArray::from_iter_primitive::<Float64Type, _, _>([
        Some(vec![Some(1.0), None, Some(2.5)]),
        None,
        Some(vec![]),
    ]);
    let texts = StringArray::from(vec!["a, b", "c\"d", "line\nbreak"]);
    let item = Arc::new(Field::new("item", DataType::Utf8, true));
    let offsets = OffsetBuffer::from_lengths([2, 0, 1]);
    let texts = ListArray::new(item, offsets, Arc::new(texts), None);
    let times = TimestampNanosecondArray::from(vec![Some(0), Some(-1), None]);
    RecordBatch::try_from_iter([
        (
            "frame",
            Arc::new(Int64Array::from(vec![1, 20, 3])) as ArrayRef,
        ),
        ("/a:b", Arc::new(lists)),
        ("texts", Arc::new(texts)),
        ("time", Arc::new(times)),
    ])
    .unwrap()
}

#[test]
fn a_table_is_aligned_and_has_one_line_per_row() {
    let expected = "\
frame  /a:b              texts             time
-----  ----------------  ----------------  -----------------------------
1      [1.0, null, 2.5]  [\"a, b\", \"c\\\"d\"]  1970-01-01T00:00:00
20                       []                1969-12-31T23:59:59.999999999
3      []                [\"line\\nbreak\"]
(3 rows)
";
    assert_eq!(print(Format::Table, &[sample()]), expected);
}

#[test]
fn csv_has_lists_as_text_and_nulls_as_empty_cells() {
    let expected = r#"frame,/a:b,texts,time
1,"[1.0, null, 2.5]","[""a, b"", ""c\""d""]",1970-01-01T00:00:00
20,,[],1969-12-31T23:59:59.999999999
3,[],"[""line\nbreak""]",
"#;
    assert_eq!(print(Format::Csv, &[sample()]), expected);
}

#[test]
fn no_rows_leave_the_header() {
    let empty = sample().slice(0, 0);
    let table = print(Format::Table, from_ref(&empty));
    assert_eq!(table.lines().next(), Some("frame  /a:b  texts  time"));
    assert_eq!(table.lines().last(), Some("(0 rows)"));
    assert_eq!(print(Format::Csv, &[empty]), "frame,/a:b,texts,time\n");
}

#[test]
fn every_row_is_printed_once_however_many_batches_bring_them() {
    let batch = |from: i64, to: i64| {
        let values: ArrayRef = Arc::new(Int64Array::from_iter_values(from..to));
        RecordBatch::try_from_iter([("x", values)]).unwrap()
    };
    let batches = [batch(0, 999), batch(999, 1003), batch(1003, 5000)];
    let expected: Vec<String> = (0..5000).map(|x| x.to_string()).collect();
    let table = print(Format::Table, &batches);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[2..5002], expected);
    assert_eq!(lines[5002], "(5000 rows)");
    let csv = print(Format::Csv, &batches);
    assert_eq!(csv.lines().skip(1).collect::<Vec<_>>(), expected);
}

#[test]
fn a_long_cell_is_cut_in_a_table_and_whole_in_csv() {
    let long = Float64Array::from_iter_values((0..1000).map(f64::from));
    let item = Arc::new(Field::new("item", DataType::Float64, true));
    let offsets = OffsetBuffer::from_lengths([long.len()]);
    let list: ArrayRef = Arc::new(ListArray::new(item, offsets, Arc::new(long), None));
    let batch = RecordBatch::try_from_iter([("x", list)]).unwrap();
    let table = print(Format::Table, from_ref(&batch));
    let cell = table.lines().nth(2).unwrap();
    assert!(
        cell.starts_with("[0.0, 1.0, ") && cell.ends_with('…'),
        "{cell}"
    );
    assert_eq!(cell.chars().count(), 80);
    assert!(print(Format::Csv, &[batch]).contains("998.0, 999.0]"));
}

#[test]
fn a_cell_cannot_talk_to_the_terminal() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a\u{1b}[31m\nb"]));
    let batch = RecordBatch::try_from_iter([("x", text)]).unwrap();
    let table = print(Format::Table, &[batch]);
    assert_eq!(table.lines().nth(2), Some("a\u{fffd}[31m\u{fffd}b"));
}

#[test]
fn a_long_text_of_any_type_is_one_short_line_of_a_table() {
    let text = format!("first\n{}", "x".repeat(200));
    let columns: [(&str, ArrayRef); 3] = [
        ("a", Arc::new(StringArray::from(vec![text.as_str()]))),
        ("b", Arc::new(LargeStringArray::from(vec![text.as_str()]))),
        ("c", Arc::new(StringViewArray::from(vec![text.as_str()]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let table = print(Format::Table, &[batch]);
    let cell = format!("first\u{fffd}{}…", "x".repeat(73));
    assert_eq!(
        table.lines().skip(2).collect::<Vec<_>>(),
        [[cell.as_str(); 3].join("  ").as_str(), "(1 row)"]
    );
}

#[test]
fn a_name_cannot_talk_to_the_terminal() {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let batch = RecordBatch::try_from_iter([("/a\u{1b}[2J\n:x", values)]).unwrap();
    let table = print(Format::Table, &[batch]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines,
        ["/a\u{fffd}[2J\u{fffd}:x", "---------", "1", "(1 row)"]
    );
}

fn plans(plans: &[(&str, &str)]) -> RecordBatch {
    let column = |of: fn(&(&str, &str)) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(plans.iter().map(of)))
    };
    let types = column(|(plan_type, _)| (*plan_type).to_owned());
    let texts = column(|(_, plan)| (*plan).to_owned());
    RecordBatch::try_from_iter([("plan_type", types), ("plan", texts)]).unwrap()
}

#[test]
fn a_plan_is_printed_whole_below_its_kind() {
    let long = "x".repeat(200);
    let logical = format!("Sort\n  {long}\n");
    let first = plans(&[("logical_plan", logical.as_str())]);
    let second = plans(&[("physical_plan", "SortExec\n\n  a\u{1b}[2Jb\r\n")]);
    let shown = '\u{fffd}';
    let expected =
        format!("logical_plan:\nSort\n  {long}\n\nphysical_plan:\nSortExec\n\n  a{shown}[2Jb\n");
    assert_eq!(print(Format::Table, &[first.clone(), second]), expected);
    let csv = format!("plan_type,plan\nlogical_plan,\"{logical}\"\n");
    assert_eq!(print(Format::Csv, &[first]), csv);
}

#[test]
fn json_has_an_object_per_row_with_all_columns() {
    let expected = r#"{"frame":1,"/a:b":[1.0,null,2.5],"texts":["a, b","c\"d"],"time":"1970-01-01T00:00:00"}
{"frame":20,"/a:b":null,"texts":[],"time":"1969-12-31T23:59:59.999999999"}
{"frame":3,"/a:b":[],"texts":["line\nbreak"],"time":null}
"#;
    assert_eq!(print(Format::Json, &[sample()]), expected);
    assert_eq!(print(Format::Json, &[sample().slice(0, 0)]), "");
    let batches = [sample(), sample()];
    assert_eq!(print(Format::Json, &batches), expected.repeat(2));
}

#[test]
fn a_table_is_cut_to_the_terminal_and_says_so() {
    let texts = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text; 2])) };
    let batch = RecordBatch::try_from_iter([
        ("id", texts("1")),
        ("text", texts("a text that is rather long")),
        ("/some/entity:Archetype:component", texts("[1.0]")),
    ])
    .unwrap();
    let whole = show(64, &batch);
    assert_eq!(whole, print(Format::Table, from_ref(&batch)));
    let shortened = "\
id  text                       /some/entity:Archetype:c…
--  -------------------------  -------------------------
1   a text that is rather lo…  [1.0]
1   a text that is rather lo…  [1.0]
(2 rows; values are shortened to fit the terminal)
";
    assert_eq!(show(56, &batch), shortened);
    let left_out = "\
id  text
--  --------------------------
1   a text that is rather long
1   a text that is rather long
(2 rows; 1 more column does not fit the terminal)
";
    assert_eq!(show(33, &batch), left_out);
    for width in 4..70 {
        let table = show(width, &batch);
        let mut lines: Vec<&str> = table.lines().collect();
        lines.pop();
        let widest = lines.iter().map(|line| terminal::width(line)).max();
        assert!(widest.unwrap() <= width, "{width}: {table}");
    }
}

#[test]
fn a_value_that_was_cut_before_is_told_of_on_a_terminal_too() {
    let long: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(100)]));
    let batch = RecordBatch::try_from_iter([("x", long)]).unwrap();
    let table = show(200, &batch);
    assert!(table.ends_with("(1 row; values are shortened to fit the terminal)\n"));
    assert!(print(Format::Table, &[batch]).ends_with("\n(1 row)\n"));
}

#[test]
fn wide_characters_keep_columns_aligned() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["日本語", "ab"]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_from_iter([("text", texts), ("n", numbers)]).unwrap();
    let expected = "text    n\n------  -\n日本語  1\nab      2\n(2 rows)\n";
    assert_eq!(print(Format::Table, from_ref(&batch)), expected);
    let narrow = show(6, &batch);
    assert_eq!(narrow.lines().nth(2), Some("日本語"), "{narrow}");
    let narrower = show(5, &batch);
    assert_eq!(narrower.lines().nth(2), Some("日本…"), "{narrower}");
}

#[test]
fn a_value_without_text_is_an_error_that_names_its_column() {
    let fine: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let times: ArrayRef = Arc::new(TimestampSecondArray::from(vec![0, 9_000_000_000_000]));
    let item = Arc::new(Field::new("item", times.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([1, 1]);
    let list: ArrayRef = Arc::new(ListArray::new(item, offsets, Arc::clone(&times), None));
    for column in [times, list] {
        let columns = [("a", Arc::clone(&fine)), ("when", column)];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        for format in [Format::Table, Format::Csv, Format::Json] {
            let Err(Failure::Message(message)) = encode(format, None, from_ref(&batch)) else {
                panic!("{format:?} has text for it");
            };
            assert!(
                message.starts_with("column 'when' has a value"),
                "{message}"
            );
        }
        for format in [Format::Parquet, Format::Arrow] {
            encode(format, None, from_ref(&batch)).unwrap();
        }
    }
}

#[test]
fn parquet_and_arrow_hold_what_was_written() {
    let batches = [sample(), sample().slice(1, 2), sample().slice(0, 0)];
    let whole = concat_batches(batches[0].schema_ref(), &batches).unwrap();

    let arrow = encode(Format::Arrow, None, &batches).unwrap();
    let read = StreamReader::try_new(arrow.as_slice(), None).unwrap();
    let read: Vec<RecordBatch> = read.collect::<Result<_, _>>().unwrap();
    assert_eq!(concat_batches(whole.schema_ref(), &read).unwrap(), whole);

    let parquet = Bytes::from(encode(Format::Parquet, None, &batches).unwrap());
    let read = ParquetRecordBatchReaderBuilder::try_new(parquet).unwrap();
    let read = read.build().unwrap();
    let read: Vec<RecordBatch> = read.collect::<Result<_, _>>().unwrap();
    assert_eq!(concat_batches(whole.schema_ref(), &read).unwrap(), whole);
}

#[test]
fn a_parquet_file_is_written_in_row_groups_that_are_not_held_until_the_end() {
    let batch = |seed: u64| {
        // Too irregular for any encoding to shrink, and large rather than many.
        let mut state = seed + 1;
        let bytes = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        });
        let bytes: Vec<u8> = bytes.take(1 << 20).flatten().collect();
        let values: ArrayRef = Arc::new(BinaryArray::from_iter_values(bytes.chunks(1 << 20)));
        RecordBatch::try_from_iter([("x", values)]).unwrap()
    };
    let first = batch(0);
    let mut encoder = encoder(Format::Parquet, first.schema_ref(), None).unwrap();
    let mut out = Vec::new();
    for seed in 0..9 {
        encoder.write(&batch(seed), &mut out).unwrap();
    }
    // Nine times eight mebibytes, of which no more than sixty-four are held back.
    assert!(out.len() > 8 << 20, "{}", out.len());
    encoder.finish(&mut out).unwrap();
    let read = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(out)).unwrap();
    assert!(read.metadata().num_row_groups() > 1);
    assert_eq!(read.metadata().file_metadata().num_rows(), 9 * 8);
}

#[test]
fn a_type_that_parquet_has_not_is_refused_by_the_name_of_its_column() {
    let interval: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![None]));
    let batch = RecordBatch::try_from_iter([("how long", interval)]).unwrap();
    let Err(Failure::Message(message)) = encode(Format::Parquet, None, &[batch]) else {
        panic!("it is written");
    };
    assert!(
        message.starts_with("column 'how long' has the type Interval"),
        "{message}"
    );
}

#[test]
fn two_columns_of_one_name_are_refused_where_one_would_hide_the_other() {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let columns = [("x", Arc::clone(&values)), ("x", values)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for format in [Format::Json, Format::Parquet] {
        let Err(Failure::Message(message)) = encode(format, None, from_ref(&batch)) else {
            panic!("{format:?} takes both");
        };
        assert!(
            message.starts_with("two columns are called 'x'"),
            "{message}"
        );
    }
    assert_eq!(print(Format::Csv, from_ref(&batch)), "x,x\n1,1\n");
    encode(Format::Arrow, None, &[batch]).unwrap();
}
