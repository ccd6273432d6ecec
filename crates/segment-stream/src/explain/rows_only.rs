//! Which entities are read only because they may make rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use segue_chunk::schema::keys::CLEAR_COMPONENT;
use segue_chunk::view::ViewColumn;
use segue_chunk::{Contents, EntityPath, View};

use super::text::list;
use crate::counters::Planned;
use crate::plan::Scan;

/// Most entities that a hint names.
const NAMED: usize = 8;

/// Entities that are read, although nothing of them is given out but the rows that they make.
#[derive(Debug)]
pub(super) struct RowsOnly {
    /// The entities, with what is read of each.
    entities: BTreeMap<EntityPath, Planned>,
    /// Entities of which values are given out, or must be there.
    kept: BTreeSet<EntityPath>,
}

impl RowsOnly {
    /// Those of `scan`, if the columns `projection` are given out.
    pub(super) fn of(scan: &Scan, projection: &[usize]) -> Self {
        let mut found = Self {
            entities: BTreeMap::new(),
            kept: kept(scan, projection),
        };
        if has_other_timeline(&scan.view, projection) {
            // Every entity may have a say in the values of such a column.
            return found;
        }
        let needed = found.needed(&scan.view);
        for chunk in scan
            .segments
            .iter()
            .flat_map(|segment| segment.chunks.iter())
        {
            if !needed.contains(&chunk.entity) {
                let read = found.entities.entry(chunk.entity.clone()).or_default();
                read.add_chunk(chunk.byte_len);
            }
        }
        found
    }

    /// Entities of which values are given out, and those whose Clear may end such a value.
    fn needed(&self, view: &View) -> BTreeSet<EntityPath> {
        let clears = view.entities().into_iter().filter(|selection| {
            let mut kept = self.kept.iter();
            selection.components.contains(CLEAR_COMPONENT)
                && kept.any(|kept| kept.is_within(&selection.entity))
        });
        let clears = clears.map(|selection| selection.entity);
        self.kept.iter().cloned().chain(clears).collect()
    }

    /// The contents that leave the entities out of `scan`, as an option; `None` if no such option can be given.
    fn contents(&self, scan: &Scan) -> Option<String> {
        if self.entities.is_empty() || self.kept.is_empty() || self.kept.len() > NAMED {
            return None;
        }
        let contents = Contents::parse(self.kept.iter().map(EntityPath::as_str)).ok()?;
        let index = scan.view.index().map(|index| &*index.name);
        let narrow = View::resolve(&scan.dataset_schema, index, &contents.into()).ok()?;
        // The present contents may leave out components of the entities that are kept.
        let mut columns = narrow.components().iter();
        if !columns.all(|column| scan.view.components().contains(column)) {
            return None;
        }
        let names = self.kept.iter();
        let names = names.map(|entity| format!("'{}'", entity.as_str().replace('\'', "''")));
        let names: Vec<String> = names.collect();
        Some(format!("contents => [{}]", names.join(", ")))
    }

    /// The entities, and the contents that leave them out of `scan`, as entries of the line of the plan node.
    pub(super) fn write(&self, scan: &Scan, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entities = self.entities.iter();
        let entities: Vec<String> = entities
            .map(|(entity, read)| format!("{entity} ({})", amount(*read)))
            .collect();
        list(f, ", rows_only=[", &entities)?;
        let Some(contents) = self.contents(scan) else {
            return Ok(());
        };
        let mut all = Planned::default();
        for read in self.entities.values() {
            all.chunks += read.chunks;
            all.bytes = all.bytes.saturating_add(read.bytes);
        }
        let all = amount(all);
        write!(
            f,
            ", hint=[{contents} would save at least {all}, and drop the rows that only those make]"
        )
    }
}

fn amount(read: Planned) -> String {
    let plural = if read.chunks == 1 { "" } else { "s" };
    format!("{} chunk{plural}, {} bytes", read.chunks, read.bytes)
}

/// The entities of the component columns in `projection`, and of those that must have a value.
fn kept(scan: &Scan, projection: &[usize]) -> BTreeSet<EntityPath> {
    let columns = projection.iter().filter_map(|&at| scan.view.column(at));
    let components = columns.filter_map(|column| match column {
        ViewColumn::Component(at) => Some(at),
        _ => None,
    });
    let components = components.chain(scan.not_null.iter().copied());
    let components = components.filter_map(|at| scan.view.components().get(at));
    components.map(|column| column.entity.clone()).collect()
}

/// Whether a timeline other than the index is in `projection`.
fn has_other_timeline(view: &View, projection: &[usize]) -> bool {
    let mut columns = projection.iter().filter_map(|&at| view.column(at));
    columns.any(|column| match column {
        ViewColumn::Timeline(timeline) => Some(timeline) != view.index(),
        _ => false,
    })
}
