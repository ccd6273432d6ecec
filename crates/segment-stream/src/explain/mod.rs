//! What `EXPLAIN VERBOSE` says of a scan beyond `EXPLAIN`: how it came to read what it reads.

mod rows_only;
mod text;

use std::fmt;

use datafusion::config::ExtensionOptions;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};

use crate::counters::Planned;
use crate::executor::QueryLimits;
use crate::filter::Region;
use crate::plan::Scan;
use rows_only::RowsOnly;
use text::list;
pub(crate) use text::short;

/// What a scan was narrowed by when it was planned. It changes nothing of what is read.
#[derive(Debug)]
pub(crate) struct Narrowing {
    /// The region of the view alone.
    view: Region,
    /// The filters that reached the table, with what is made of each.
    filters: Vec<String>,
    /// Chunks that the source named and that lie outside of what is read.
    outside: usize,
}

impl Narrowing {
    /// Takes note of `view` and of `filters`, each with how far it is answered.
    pub(crate) fn new<'a>(
        view: Region,
        filters: impl IntoIterator<Item = (&'a Expr, &'a TableProviderFilterPushDown)>,
    ) -> Self {
        let filters = filters.into_iter().map(|(filter, support)| {
            let support = match support {
                TableProviderFilterPushDown::Exact => "exact",
                TableProviderFilterPushDown::Inexact => "inexact",
                TableProviderFilterPushDown::Unsupported => "unsupported",
            };
            format!("{} ({support})", short(filter.human_display()))
        });
        Self {
            view,
            filters: filters.collect(),
            outside: 0,
        }
    }

    /// Takes note of how many chunks the source named that lie outside.
    pub(crate) fn leaving_out(mut self, chunks: usize) -> Self {
        self.outside = chunks;
        self
    }
}

/// The summary, as the end of the line of the plan node.
pub(crate) struct Summary<'a> {
    pub(crate) scan: &'a Scan,
    /// Columns that are given out, as positions in the schema of the view.
    pub(crate) projection: &'a [usize],
    pub(crate) planned: Planned,
    pub(crate) partitions: usize,
    /// Filters that are left to the nodes above.
    pub(crate) residual: &'a [String],
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scan, planned, .. } = *self;
        let Narrowing {
            view,
            filters,
            outside,
        } = &scan.narrowing;
        let index = scan.view.index();
        let kind = if index.is_some() { "index" } else { "static" };
        let index = index.map_or("none", |index| &index.name);
        write!(f, ", query={kind}, bytes={}", planned.bytes)?;
        write!(f, ", view=[{}]", view.display(index))?;
        list(f, ", filters=[", filters)?;
        list(f, ", residual=[", self.residual)?;
        write!(f, ", chunks_outside={outside}")?;
        RowsOnly::of(scan, self.projection).write(scan, f)?;
        let QueryLimits { share, unit, batch } =
            QueryLimits::new(&scan.options, &scan.memory, self.partitions);
        let window = scan.memory.window.capacity();
        write!(
            f,
            ", window=[bytes={window}, share={share}, unit={unit}, batch_room={batch}]"
        )?;
        let mut options = scan.options.entries();
        options.sort_by(|a, b| a.key.cmp(&b.key));
        let options = options.into_iter();
        let options: Vec<String> = options
            .map(|option| format!("{}={}", option.key, option.value.unwrap_or_default()))
            .collect();
        write!(f, ", options=[{}]", options.join(", "))
    }
}
