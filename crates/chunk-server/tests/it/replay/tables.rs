//! Tables in a form that can be compared.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use arrow::datatypes::{DataType, Int64Type, Schema};
use arrow::util::display::array_value_to_string;
use segue_chunk::Chunk;
use segue_chunk::wire::decode_table;
use segue_proto::common::DataframePart;

/// Type, nullability and metadata of each field.
pub(crate) type Fields = BTreeMap<String, (DataType, bool, BTreeMap<String, String>)>;

pub(crate) fn by_name(schema: &Schema) -> Fields {
    let fields = schema.fields().iter();
    fields
        .map(|field| {
            let metadata = field.metadata().clone().into_iter().collect();
            let rest = (field.data_type().clone(), field.is_nullable(), metadata);
            (field.name().clone(), rest)
        })
        .collect()
}

/// The rows of `table` by their value in `key`, each with its values by column but for those in `without`.
pub(crate) fn cells(
    table: &RecordBatch,
    key: &str,
    without: &[&str],
) -> BTreeMap<String, BTreeMap<String, Option<String>>> {
    let key = table.column_by_name(key).unwrap();
    let rows = (0..table.num_rows()).map(|row| {
        let fields = table.schema_ref().fields().iter().zip(table.columns());
        let fields = fields.filter(|(field, _)| !without.contains(&field.name().as_str()));
        let values = fields.map(|(field, array)| {
            let value = array
                .is_valid(row)
                .then(|| array_value_to_string(array, row).unwrap());
            (field.name().clone(), value)
        });
        (array_value_to_string(key, row).unwrap(), values.collect())
    });
    rows.collect()
}

/// Segment and id of the chunk in each row of a plan.
pub(crate) fn ids(table: &RecordBatch) -> Vec<(String, Vec<u8>)> {
    let segments = table
        .column_by_name("chunk_segment_id")
        .unwrap()
        .as_string::<i32>();
    let ids = table
        .column_by_name("chunk_id")
        .unwrap()
        .as_fixed_size_binary();
    let rows = segments.iter().zip(ids.iter());
    rows.map(|(segment, id)| (segment.unwrap().to_owned(), id.unwrap().to_vec()))
        .collect()
}

/// A plan, row by row.
pub(crate) struct Plan {
    pub(crate) columns: BTreeSet<String>,
    pub(crate) rows: BTreeMap<(String, Vec<u8>), Row>,
}

/// What is planned of a chunk.
pub(crate) struct Row {
    pub(crate) entity: String,
    pub(crate) is_static: bool,
    /// First values by column, where there are some.
    pub(crate) starts: BTreeMap<String, i64>,
}

/// The columns that do not tell first values: name, type and nullability, in order.
fn fixed() -> [(&'static str, DataType, bool); 10] {
    let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
    [
        ("chunk_id", DataType::FixedSizeBinary(16), false),
        ("chunk_segment_id", DataType::Utf8, false),
        ("rerun_segment_layer", DataType::Utf8, false),
        ("chunk_key", DataType::Binary, false),
        ("chunk_entity_path", DataType::Utf8, false),
        ("chunk_is_static", DataType::Boolean, false),
        ("chunk_byte_len", DataType::UInt64, false),
        ("chunk_byte_size_uncompressed", DataType::UInt64, true),
        ("rerun_layer_direct_url", dictionary(DataType::Utf8), true),
        (
            "rerun_layer_direct_url_expires_at",
            dictionary(DataType::Int64),
            true,
        ),
    ]
}

impl Plan {
    /// Reads a plan, and checks in passing what is the same in all of them.
    pub(crate) fn of(parts: &[DataframePart]) -> Self {
        let (mut columns, mut rows) = (BTreeSet::new(), BTreeMap::new());
        for part in parts {
            let table = decode_table(part).unwrap();
            let schema = table.schema();
            let own = schema
                .fields()
                .iter()
                .filter(|f| !f.name().ends_with("start"));
            let own: Vec<_> = own
                .map(|f| (f.name().as_str(), f.data_type().clone(), f.is_nullable()))
                .collect();
            assert_eq!(own, fixed());
            // Theirs differ from message to message.
            columns.extend(
                by_name(&schema)
                    .into_iter()
                    .map(|(name, rest)| format!("{name} {rest:?}")),
            );
            let segments: BTreeSet<String> = ids(&table).into_iter().map(|(id, _)| id).collect();
            assert!(segments.len() <= 1, "a message is about one layer");
            for url in [
                "rerun_layer_direct_url",
                "rerun_layer_direct_url_expires_at",
            ] {
                let column = table.column_by_name(url).unwrap();
                assert_eq!(column.logical_null_count(), table.num_rows());
            }
            for (row, id) in ids(&table).into_iter().enumerate() {
                assert!(
                    rows.insert(id, Row::of(&table, row)).is_none(),
                    "a chunk comes once"
                );
            }
        }
        let columns = columns.into_iter();
        // Only the names of columns of first values matter to who compares.
        let columns = columns.map(|text: String| text.split(' ').next().unwrap_or("").to_owned());
        Self {
            columns: columns.collect(),
            rows,
        }
    }
}

impl Row {
    fn of(table: &RecordBatch, row: usize) -> Self {
        let column = |name: &str| table.column_by_name(name).unwrap();
        let names = table.schema();
        let starts = names
            .fields()
            .iter()
            .filter(|f| f.name().ends_with("start"));
        let starts = starts.filter_map(|field| {
            let times = column(field.name()).as_primitive::<Int64Type>();
            let time = times.is_valid(row).then(|| times.value(row))?;
            Some((field.name().clone(), time))
        });
        let (len, size) = (
            column("chunk_byte_len"),
            column("chunk_byte_size_uncompressed"),
        );
        let number = |array: &dyn arrow::array::Array| {
            array
                .as_primitive::<arrow::datatypes::UInt64Type>()
                .value(row)
        };
        assert!(number(len) > 0 && number(size) > 0);
        Self {
            entity: column("chunk_entity_path")
                .as_string::<i32>()
                .value(row)
                .to_owned(),
            is_static: column("chunk_is_static").as_boolean().value(row),
            starts: starts.collect(),
        }
    }
}

/// Row ids, times and values of a chunk, by column.
pub(crate) fn values(chunk: &Chunk) -> BTreeMap<String, String> {
    let times = chunk.timelines().iter().map(|column| {
        (
            format!("{:?}", column.timeline),
            format!("{:?}", column.times),
        )
    });
    let components = chunk
        .components()
        .iter()
        .map(|column| (column.component.to_string(), format!("{:?}", column.values)));
    let ids = ("row ids".to_owned(), format!("{:?}", chunk.row_ids()));
    let entity = ("entity".to_owned(), chunk.entity().to_string());
    times.chain(components).chain([ids, entity]).collect()
}
