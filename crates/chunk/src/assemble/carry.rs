//! What outlives its chunk.

use std::collections::HashMap;
use std::sync::Arc;

use segue_error::Result;

use super::order::Rank;
use super::sources::Sources;
use crate::model::Chunk;
use crate::view::View;

/// The last value of each component before the rows to come: what fills them once the chunks that had it are gone.
///
/// Holds copies of single rows, whatever the size of the chunks they come from.
#[derive(Clone, Debug, Default)]
pub struct Carry {
    /// Per component of the view.
    last: Vec<Option<Last>>,
}

/// A row and where it stands among others.
type Last = ((i64, Rank), Arc<Chunk>);

impl Carry {
    /// Takes over what later rows of `view` may need of `chunk`, all of whose values stand before them.
    pub fn add(&mut self, view: &View, chunk: &Arc<Chunk>) -> Result<()> {
        self.last.resize(view.components().len(), None);
        let sources = Sources::new(view, std::slice::from_ref(chunk), &[]);
        let components = 0..view.components().len();
        let found = components.filter_map(|component| {
            let last = sources.last_before::<i64>(component, None)?;
            Some((component, last))
        });
        let mut rows: HashMap<usize, Arc<Chunk>> = HashMap::new();
        for (component, (place, cell)) in found {
            let known = &mut self.last[component];
            if known.as_ref().is_some_and(|(known, _)| *known > place) {
                continue;
            }
            let row = match rows.get(&cell.row) {
                Some(row) => Arc::clone(row),
                None => Arc::new(chunk.take(&[cell.row])?),
            };
            rows.insert(cell.row, Arc::clone(&row));
            *known = Some((place, row));
        }
        Ok(())
    }

    /// The rows, each as a chunk of its own.
    pub fn chunks(&self) -> Vec<Arc<Chunk>> {
        let mut chunks: Vec<&Arc<Chunk>> = self.last.iter().flatten().map(|(_, row)| row).collect();
        chunks.sort_by_key(|chunk| Arc::as_ptr(chunk));
        chunks.dedup_by(|a, b| Arc::ptr_eq(a, b));
        chunks.into_iter().map(Arc::clone).collect()
    }
}
