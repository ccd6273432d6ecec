//! Random queries over a table `t`, whatever its columns.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A query.
#[derive(Clone, Debug)]
pub(super) struct Query {
    projection: Projection,
    filter: Predicate,
}

#[derive(Clone, Debug)]
enum Projection {
    All,
    Columns(Vec<Index>),
    Count,
    Counts(Index),
}

/// A condition with `{0}`, `{1}` in the place of columns.
#[derive(Clone, Debug)]
struct Predicate {
    text: String,
    columns: Vec<Index>,
}

/// Some queries.
pub(super) fn queries() -> impl Strategy<Value = Vec<Query>> {
    let projection = prop_oneof![
        2 => Just(Projection::All),
        4 => prop::collection::vec(any::<Index>(), 1..4).prop_map(Projection::Columns),
        1 => Just(Projection::Count),
        2 => any::<Index>().prop_map(Projection::Counts),
    ];
    let query = (projection, predicate());
    let query = query.prop_map(|(projection, filter)| Query { projection, filter });
    prop::collection::vec(query, 6)
}

/// Conditions on component columns `{0}` and `{1}`.
const ON_COMPONENTS: [&str; 9] = [
    "{0} IS NULL",
    "{0} IS NOT NULL",
    "NOT ({0} IS NULL)",
    "array_length({0}) > 0",
    "NOT (array_length({0}) = 1)",
    "array_length({0}) = array_length({1})",
    "coalesce(array_length({0}), 7) = 7",
    "{0} IS NOT NULL OR {1} IS NOT NULL",
    "CASE WHEN {0} IS NULL THEN {1} IS NULL ELSE {1} IS NOT NULL END",
];

/// Conditions on columns that every table has.
const ON_OTHERS: [&str; 12] = [
    "stamp IS NOT NULL",
    "stamp >= to_timestamp_nanos(99)",
    "frame IS NULL",
    "rerun_segment_id = 's1'",
    "'s1' <> rerun_segment_id",
    "rerun_segment_id LIKE 's%'",
    "rerun_segment_id NOT LIKE '%1'",
    "rerun_segment_id NOT IN ('s0', 's2', 'x', 'y')",
    "rerun_segment_id > 's0'",
    "NULL",
    "true",
    "frame + 1 > 2",
];

fn predicate() -> impl Strategy<Value = Predicate> {
    let fixed = |text: &str, columns| Predicate {
        text: text.to_owned(),
        columns,
    };
    let frame = prop_oneof![
        (select(vec!["<", "<=", "=", "<>", ">", ">="]), -5i64..9)
            .prop_map(|(op, x)| format!("frame {op} {x}")),
        (any::<bool>(), -5i64..9, 0i64..6).prop_map(|(negated, x, n)| {
            let not = if negated { "NOT " } else { "" };
            format!("frame {not}BETWEEN {x} AND {}", x + n)
        }),
        (any::<bool>(), prop::collection::vec(-5i64..9, 1..6)).prop_map(|(negated, list)| {
            let not = if negated { "NOT " } else { "" };
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            format!("frame {not}IN ({})", list.join(", "))
        }),
    ];
    let leaf = prop_oneof![
        3 => frame.prop_map(move |text| fixed(&text, Vec::new())),
        2 => select(ON_OTHERS.to_vec()).prop_map(move |text| fixed(text, Vec::new())),
        3 => (select(ON_COMPONENTS.to_vec()), any::<[Index; 2]>())
            .prop_map(move |(text, columns)| fixed(text, columns.to_vec())),
    ];
    let leaf = leaf.boxed();
    let both = (leaf.clone(), leaf.clone()).prop_map(|(a, b)| a.join("AND", b));
    // What is pushed down is mostly simple.
    let simple = prop_oneof![leaf.clone(), both];
    let nested = leaf.prop_recursive(3, 8, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair, select(vec!["AND", "AND", "OR"])).prop_map(|((a, b), op)| a.join(op, b)),
            inner.prop_map(|a| Predicate {
                text: format!("NOT ({})", a.text),
                ..a
            }),
        ]
    });
    prop_oneof![simple, nested]
}

impl Predicate {
    fn join(self, op: &str, other: Self) -> Self {
        let (mut text, own) = (other.text, self.columns.len());
        for at in (0..other.columns.len()).rev() {
            text = text.replace(&format!("{{{at}}}"), &format!("{{{}}}", at + own));
        }
        Self {
            text: format!("({}) {op} ({text})", self.text),
            columns: [self.columns, other.columns].concat(),
        }
    }
}

impl Query {
    /// The query over a table with `columns`.
    pub(super) fn sql(&self, columns: &[String]) -> String {
        let quoted = |name: &String| format!("\"{name}\"");
        let lists = columns.iter().filter(|column| column.starts_with('/'));
        let lists: Vec<String> = lists.map(quoted).collect();
        let list = |at: &Index| match lists.as_slice() {
            [] => "make_array(frame)".to_owned(),
            lists => at.get(lists).clone(),
        };
        let projection = match &self.projection {
            Projection::All => "*".to_owned(),
            Projection::Columns(picked) => {
                let names: std::collections::BTreeSet<String> =
                    picked.iter().map(|at| quoted(at.get(columns))).collect();
                names.into_iter().collect::<Vec<_>>().join(", ")
            }
            Projection::Count => "count(*)".to_owned(),
            Projection::Counts(at) => format!("count({}), count(*), count(frame)", list(at)),
        };
        let mut filter = self.filter.text.clone();
        for (at, column) in self.filter.columns.iter().enumerate() {
            filter = filter.replace(&format!("{{{at}}}"), &list(column));
        }
        format!("SELECT {projection} FROM t WHERE {filter}")
    }
}
