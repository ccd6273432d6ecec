//! From what files hold to what a dataset holds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_error::{Error, ErrorCode, Result};

use super::contents::{DatasetContents, Layer};
use super::dataset::IndexedFile;
use crate::model::SegmentId;
use crate::schema::SchemaMerger;

/// Puts the files of a dataset together. `files` and `indexed` go side by side.
///
/// `name_clash` when two layers of a segment have one name, `schema_conflict` when two files give a column
/// different types.
pub(super) fn merge(files: &[PathBuf], indexed: Vec<IndexedFile>) -> Result<DatasetContents> {
    let mut schema = SchemaMerger::default();
    let mut known = BTreeMap::new();
    let mut layers = Vec::with_capacity(indexed.len());
    for ((file, path), indexed) in (0..).zip(files).zip(indexed) {
        let stem = path.file_stem().unwrap_or_default();
        let name: Arc<str> = stem.to_string_lossy().into();
        for (position, store) in indexed.index.stores.iter().enumerate() {
            match known.entry((store.segment.clone(), Arc::clone(&name))) {
                Entry::Vacant(free) => {
                    free.insert(path.as_path());
                }
                Entry::Occupied(known) => {
                    return Err(clash(&store.segment, &name, known.get(), path));
                }
            }
            schema.add(&store.schema).map_err(|e| within(e, path))?;
            layers.push(Layer {
                name: Arc::clone(&name),
                path: path.as_path().into(),
                file,
                stamp: indexed.stamp,
                index: Arc::clone(&indexed.index),
                store: position,
            });
        }
    }
    Ok(DatasetContents::new(schema.finish(), layers))
}

/// The same error, with the file where it shows.
fn within(error: Error, path: &Path) -> Error {
    let path = path.display().to_string();
    let message = format!("{} (it shows in '{path}')", error.message());
    let located = Error::new(error.code(), "local.read", message).with_fact("file", path);
    let located = match error.fact("column") {
        Some(column) => located.with_fact("column", column.clone()),
        None => located,
    };
    located.with_source(error)
}

fn clash(segment: &SegmentId, layer: &str, first: &Path, second: &Path) -> Error {
    let same = first == second;
    let (first, second) = (first.display(), second.display());
    let message = match same {
        true => format!("recording '{first}' has segment '{segment}' twice, of two applications"),
        false => format!(
            "segment '{segment}' has two layers '{layer}': recordings '{first}' and '{second}'"
        ),
    };
    Error::new(ErrorCode::NameClash, "local.read", message).with_fact("segment", segment.as_str())
}
