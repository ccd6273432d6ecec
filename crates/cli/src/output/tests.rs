//! What is printed.

use std::slice::from_ref;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Array, Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray,
    StringViewArray, TimestampNanosecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Float64Type};

use super::Output;
use crate::args::Format;

fn print(format: Format, batches: &[RecordBatch]) -> String {
    let mut output = Output::new(format, batches[0].schema(), Vec::new());
    for batch in batches {
        output.write(batch).unwrap();
    }
    String::from_utf8(output.finish().unwrap()).unwrap()
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
fn a_result_without_columns_prints_nothing() {
    let nothing = RecordBatch::new_empty(Arc::new(arrow::datatypes::Schema::empty()));
    assert_eq!(print(Format::Table, from_ref(&nothing)), "");
    assert_eq!(print(Format::Csv, &[nothing]), "");
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
fn a_closed_pipe_is_told_from_other_failures_in_every_format() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in [Format::Table, Format::Csv] {
        let mut output = Output::new(format, sample().schema(), Closed);
        let written = output.write(&sample());
        let error = written
            .and_then(|()| output.finish().map(|_| ()))
            .unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
}
