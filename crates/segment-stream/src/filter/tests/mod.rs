//! Filters against what DataFusion makes of them.

mod property;
mod table;

use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::array::{DurationNanosecondArray, TimestampNanosecondArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{DFSchema, cast::as_boolean_array};
use datafusion::logical_expr::{Expr, simplify::SimplifyContext};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::prelude::SessionContext;
use segue_chunk::schema::keys::SEGMENT_ID_COLUMN;
use segue_chunk::{SegmentId, TimeKind};

use super::Filters;
use super::analyse::Truth;

/// One past the integers that a float tells apart.
const BIG: i64 = 1 << 53;

const SEGMENTS: [&str; 4] = ["", "a", "b", "ü"];

const INDEX: [i64; 16] = [
    i64::MIN,
    i64::MIN + 1,
    -2_000_000_000,
    -1,
    0,
    1,
    2,
    3,
    1000,
    2_000_000_000,
    BIG - 1,
    BIG,
    BIG + 1,
    BIG + 2,
    i64::MAX - 1,
    i64::MAX,
];

const FLAGS: [Option<bool>; 3] = [Some(true), Some(false), None];

/// The index columns of the rows; each holds the same numbers.
const COLUMNS: [(&str, TimeKind); 3] = [
    ("span", TimeKind::Duration),
    ("log_time", TimeKind::Timestamp),
    ("frame_nr", TimeKind::Sequence),
];

/// Every segment at every index value with every flag.
struct Rows {
    context: SessionContext,
    schema: DFSchema,
    batch: RecordBatch,
    keys: Vec<(SegmentId, i64)>,
}

static ROWS: LazyLock<Rows> = LazyLock::new(Rows::new);

impl Rows {
    fn new() -> Self {
        let mut rows = Vec::new();
        for segment in SEGMENTS {
            for value in INDEX {
                rows.extend(FLAGS.map(|flag| (segment, value, flag)));
            }
        }
        let numbers = Int64Array::from_iter_values(rows.iter().map(|row| row.1));
        let numbers = numbers.values();
        let flags: BooleanArray = rows.iter().map(|row| row.2).collect();
        let columns: [(&str, ArrayRef); 6] = [
            (
                SEGMENT_ID_COLUMN,
                Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0))),
            ),
            (
                "span",
                Arc::new(DurationNanosecondArray::new(numbers.clone(), None)),
            ),
            (
                "log_time",
                Arc::new(TimestampNanosecondArray::new(numbers.clone(), None)),
            ),
            ("frame_nr", Arc::new(Int64Array::new(numbers.clone(), None))),
            ("flag", Arc::new(flags)),
            (
                "x",
                Arc::new(
                    (0..rows.len() as i64)
                        .map(|i| (i % 5 > 0).then_some(i))
                        .collect::<Int64Array>(),
                ),
            ),
        ];
        let fields = columns.iter().map(|(name, array)| {
            Field::new(*name, array.data_type().clone(), array.null_count() > 0)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        assert_eq!(*schema.field(0).data_type(), DataType::Utf8);
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        Self {
            context: SessionContext::new(),
            schema: DFSchema::try_from(Arc::clone(&schema)).unwrap(),
            batch: RecordBatch::try_new(schema, arrays).unwrap(),
            keys: rows
                .into_iter()
                .map(|(segment, value, _)| (segment.into(), value))
                .collect(),
        }
    }

    fn parse(&self, sql: &str) -> Expr {
        self.context.parse_sql_expr(sql, &self.schema).unwrap()
    }

    /// The expression as it is once types are made to agree and constants are folded.
    fn optimised(&self, expr: &Expr) -> datafusion::error::Result<Expr> {
        let schema = Arc::new(self.schema.clone());
        let simplifier =
            ExprSimplifier::new(SimplifyContext::builder().with_schema(schema).build());
        simplifier.simplify(simplifier.coerce(expr.clone(), &self.schema)?)
    }

    /// What `expr` is on each row.
    fn evaluate(&self, expr: &Expr) -> datafusion::error::Result<BooleanArray> {
        let expr = self
            .context
            .create_physical_expr(expr.clone(), &self.schema)?;
        let values = expr
            .evaluate(&self.batch)?
            .into_array(self.batch.num_rows())?;
        Ok(as_boolean_array(&values)?.clone())
    }

    /// Fails with a sentence if the analysis of `expr` contradicts what it is on some row.
    fn check(&self, index: Option<(&str, TimeKind)>, expr: &Expr) -> Result<Truth, String> {
        let truth = Filters { index }.truth(expr);
        let values = self.evaluate(expr).map_err(|error| error.to_string())?;
        for ((segment, at), value) in self.keys.iter().zip(&values) {
            for (bound, wanted) in [(&truth.yes, true), (&truth.no, false)] {
                let holds = value == Some(wanted);
                let inside = bound.region.contains(segment, *at);
                if (holds && !inside) || (bound.exact && inside != holds) {
                    return Err(format!(
                        "{expr} is {value:?} in {segment:?} at {at}, yet {wanted} within {bound:?}"
                    ));
                }
            }
        }
        Ok(truth)
    }
}
