//! Plans as tables: one row per chunk.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array as _, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryBuilder, Int64Array,
    RecordBatch, StringArray, UInt64Array, new_null_array,
};
use arrow::datatypes::{DataType, Field, Schema};
use segue_chunk::local::{DatasetContents, Layer};
use segue_chunk::rrd::ChunkEntry;
use segue_chunk::schema::keys;
use segue_error::{Error, ErrorCode, Result};

use crate::entry::EntryId;
use crate::key::ChunkKey;
use crate::plan::LayerPlan;

/// Most rows of a table.
const MAX_ROWS: usize = 1 << 16;

/// Which first values a table tells, and where.
#[derive(Clone, Debug)]
pub(crate) enum Starts {
    /// Of each of these timelines, in columns called after it, at the end.
    Named(Vec<Arc<str>>),
    /// Of this timeline, where there is one, in a column that is always there.
    Fixed(Option<Arc<str>>),
}

impl Starts {
    /// Columns for the timelines of the layers that `plans` are about.
    pub(crate) fn of(contents: &DatasetContents, plans: &[LayerPlan]) -> Self {
        let layers = plans
            .iter()
            .filter_map(|plan| contents.layers().get(plan.layer));
        let timelines = layers.flat_map(|layer| &layer.store().schema.timelines);
        let names: BTreeSet<&Arc<str>> = timelines.map(|timeline| &timeline.name).collect();
        Self::Named(names.into_iter().cloned().collect())
    }
}

/// The tables of `plans`: one per layer, and more for a layer of many chunks. One without rows when there are
/// no plans.
pub(crate) fn tables(
    contents: Arc<DatasetContents>,
    entry: EntryId,
    plans: Vec<LayerPlan>,
    starts: Starts,
) -> impl Iterator<Item = Result<RecordBatch>> {
    pieces(&plans, MAX_ROWS).into_iter().map(move |piece| {
        let found = piece.and_then(|(number, range)| {
            let plan = plans.get(number)?;
            let layer = contents.layers().get(plan.layer)?;
            Some((layer, plan.chunks.get(range)?))
        });
        table(found, entry, &starts)
    })
}

/// A plan by its position, and some of its chunks.
type Piece = (usize, Range<usize>);

/// Cuts `plans` into pieces of at most `max_rows` chunks: at least one per plan, and one of nothing when there are
/// no plans.
fn pieces(plans: &[LayerPlan], max_rows: usize) -> Vec<Option<Piece>> {
    let mut pieces = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        let len = plan.chunks.len();
        let cuts = (0..len.max(1)).step_by(max_rows.max(1));
        pieces.extend(cuts.map(|cut| Some((number, cut..len.min(cut + max_rows)))));
    }
    if pieces.is_empty() {
        pieces.push(None);
    }
    pieces
}

/// The table of some chunks of a layer.
fn table(
    found: Option<(&Layer, &[usize])>,
    entry: EntryId,
    starts: &Starts,
) -> Result<RecordBatch> {
    let mut rows: Vec<(&Layer, &ChunkEntry)> = Vec::new();
    if let Some((layer, chunks)) = found {
        let all = &layer.store().chunks;
        rows.extend(chunks.iter().filter_map(|at| Some((layer, all.get(*at)?))));
    }
    let mut columns = own_columns(&rows, entry)?;
    let urls = vec![
        null("rerun_layer_direct_url", DataType::Utf8, rows.len()),
        null(
            "rerun_layer_direct_url_expires_at",
            DataType::Int64,
            rows.len(),
        ),
    ];
    match starts {
        Starts::Fixed(timeline) => {
            let metadata = [(keys::KIND, "index")];
            let times = self::starts(&rows, timeline.as_deref());
            columns.push(column("chunk_timeline_start", times, true, &metadata));
            columns.extend(urls);
        }
        Starts::Named(timelines) => {
            columns.extend(urls);
            columns.extend(timelines.iter().map(|timeline| {
                let metadata = [
                    (keys::INDEX, &**timeline),
                    (keys::INDEX_MARKER, "start"),
                    (keys::KIND, "index"),
                ];
                let times = self::starts(&rows, Some(timeline));
                column(&format!("{timeline}:start"), times, true, &metadata)
            }));
        }
    }
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(internal)
}

type Column = (Field, ArrayRef);

fn own_columns(rows: &[(&Layer, &ChunkEntry)], entry: EntryId) -> Result<Vec<Column>> {
    let mut ids = FixedSizeBinaryBuilder::with_capacity(rows.len(), 16);
    for (_, chunk) in rows {
        ids.append_value(chunk.id.to_be_bytes()).map_err(internal)?;
    }
    let keys = rows.iter().map(|(layer, chunk)| {
        let info = layer.chunk_info(chunk, None);
        ChunkKey::new(entry, &info).encode()
    });
    let segments = rows.iter().map(|(layer, _)| layer.segment().as_str());
    let layers = rows.iter().map(|(layer, _)| &**layer.name());
    let entities = rows.iter().map(|(_, chunk)| chunk.entity.as_str());
    let statics = rows.iter().map(|(_, chunk)| Some(chunk.is_static));
    let lengths = rows.iter().map(|(_, chunk)| chunk.len);
    let sizes = rows.iter().map(|(_, chunk)| chunk.uncompressed_len);
    let control = [(keys::KIND, "control")];
    Ok(vec![
        column("chunk_id", Arc::new(ids.finish()), false, &control),
        column(
            "chunk_segment_id",
            Arc::new(StringArray::from_iter_values(segments)),
            false,
            &control,
        ),
        column(
            "rerun_segment_layer",
            Arc::new(StringArray::from_iter_values(layers)),
            false,
            &[],
        ),
        column(
            "chunk_key",
            Arc::new(BinaryArray::from_iter_values(keys)),
            false,
            &[],
        ),
        column(
            "chunk_entity_path",
            Arc::new(StringArray::from_iter_values(entities)),
            false,
            &control,
        ),
        column(
            "chunk_is_static",
            Arc::new(statics.collect::<BooleanArray>()),
            false,
            &control,
        ),
        column(
            "chunk_byte_len",
            Arc::new(UInt64Array::from_iter_values(lengths)),
            false,
            &[],
        ),
        column(
            "chunk_byte_size_uncompressed",
            Arc::new(UInt64Array::from_iter_values(sizes)),
            true,
            &[],
        ),
    ])
}

/// The first values on `timeline`; null where there is none or it is not known.
fn starts(rows: &[(&Layer, &ChunkEntry)], timeline: Option<&str>) -> ArrayRef {
    let starts = rows.iter().map(|(_, chunk)| {
        let span = chunk.span(timeline?)?;
        span.range.map(|range| range.start)
    });
    Arc::new(starts.collect::<Int64Array>())
}

/// A column of a dictionary of `values` in which every row is null.
fn null(name: &str, values: DataType, rows: usize) -> Column {
    let data_type = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
    column(name, new_null_array(&data_type, rows), true, &[])
}

fn column(name: &str, array: ArrayRef, nullable: bool, metadata: &[(&str, &str)]) -> Column {
    let metadata = metadata
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    let field = Field::new(name, array.data_type().clone(), nullable);
    (field.with_metadata(metadata.collect()), array)
}

fn internal(error: arrow::error::ArrowError) -> Error {
    let message = format!("arrow could not build a plan: {error}");
    Error::new(ErrorCode::Internal, "server.plan", message).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(layer: usize, chunks: usize) -> LayerPlan {
        LayerPlan {
            layer,
            chunks: (0..chunks).collect(),
        }
    }

    #[test]
    fn long_plans_are_cut_and_empty_ones_kept() {
        let plans = [plan(0, 5), plan(3, 0), plan(4, 2)];
        let wanted = [(0, 0..2), (0, 2..4), (0, 4..5), (1, 0..0), (2, 0..2)];
        assert_eq!(pieces(&plans, 2), wanted.map(Some));
        assert_eq!(pieces(&[], 2), [None]);
    }

    #[tokio::test]
    async fn a_table_of_nothing_has_all_its_columns() {
        let dir = tempfile::tempdir().unwrap();
        let chunk = segue_chunk::testing::ChunkBuilder::new("s", "/a")
            .sequence("frame", [1])
            .floats("x", [Some(1.0)])
            .build();
        segue_chunk::testing::RecordingWriter::new()
            .chunk(&chunk)
            .write(dir.path().join("a.rrd"));
        let source = segue_chunk::LocalSource::builder().dataset("d", dir.path());
        let contents = source.build().unwrap().contents("d").await.unwrap();
        let columns = |plans: Vec<LayerPlan>, starts| {
            let tables = tables(Arc::clone(&contents), EntryId::of("d"), plans, starts);
            let tables: Vec<RecordBatch> = tables.map(Result::unwrap).collect();
            let [table] = &*tables else {
                panic!("one table, not {}", tables.len())
            };
            let fields = table.schema();
            let last = fields.fields().last().unwrap().name().clone();
            (table.num_rows(), table.num_columns(), last)
        };
        let url = "rerun_layer_direct_url_expires_at".to_owned();
        let fixed = || Starts::Fixed(None);
        assert_eq!(columns(Vec::new(), fixed()), (0, 11, url.clone()));
        assert_eq!(columns(vec![plan(0, 1)], fixed()), (1, 11, url.clone()));
        let named = |plans: &[LayerPlan]| Starts::of(&contents, plans);
        assert_eq!(columns(Vec::new(), named(&[])), (0, 10, url));
        let plans = vec![plan(0, 0)];
        let starts = named(&plans);
        assert_eq!(columns(plans, starts), (0, 11, "frame:start".to_owned()));
    }
}
