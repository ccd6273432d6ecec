//! Filters against what DataFusion makes of them.

mod property;
mod table;

use std::collections::BTreeSet;
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
use segue_chunk::TimeKind;
use segue_chunk::schema::keys::SEGMENT_ID_COLUMN;

use super::analyse::Truth;
use super::{Component, Components, Filters};

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

/// Columns that may be null, as a scan knows them: by position.
const COMPONENTS: [&str; 2] = ["flag", "x"];

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
    /// Of each row segment, index value, and which of the components have none.
    keys: Vec<(&'static str, i64, BTreeSet<usize>)>,
    components: Components,
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
        let keys = (0..rows.len()).map(|row| {
            let nulls = COMPONENTS.iter().enumerate().filter(|(_, name)| {
                let column = columns.iter().find(|(own, _)| own == *name);
                column.unwrap().1.is_null(row)
            });
            (rows[row].0, rows[row].1, nulls.map(|(at, _)| at).collect())
        });
        let keys = keys.collect();
        let fields = columns.iter().map(|(name, array)| {
            Field::new(*name, array.data_type().clone(), array.null_count() > 0)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        assert_eq!(*schema.field(0).data_type(), DataType::Utf8);
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let all = DFSchema::try_from(Arc::clone(&schema)).unwrap();
        let components = COMPONENTS.into_iter().enumerate().map(|(position, name)| {
            let is_list = true;
            (name.to_owned(), Component { position, is_list })
        });
        Self {
            context: SessionContext::new(),
            components: Components::new(components.collect(), all.clone()),
            schema: all,
            batch: RecordBatch::try_new(schema, arrays).unwrap(),
            keys,
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

    fn filters<'a>(&'a self, index: Option<(&'a str, TimeKind)>) -> Filters<'a> {
        Filters {
            text: SEGMENT_ID_COLUMN,
            index,
            is_nullable: false,
            components: Some(&self.components),
        }
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
        let truth = self.filters(index).truth(expr);
        let values = self.evaluate(expr).map_err(|error| error.to_string())?;
        for ((segment, at, nulls), value) in self.keys.iter().zip(&values) {
            for (bound, wanted) in [(&truth.yes, true), (&truth.no, false)] {
                let holds = value == Some(wanted);
                let inside = bound.region.contains(segment, *at, nulls);
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
