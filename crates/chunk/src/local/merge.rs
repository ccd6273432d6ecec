//! From what files hold to what a dataset holds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_error::{Error, ErrorCode, Result};

use super::dataset::{Contents, IndexedFile, LayerFile};
use crate::model::SegmentId;
use crate::schema::SchemaMerger;

/// Puts the files of a dataset together. `files` and `indexed` go side by side.
///
/// `name_clash` when two layers of a segment have one name, `schema_conflict` when two files give a column
/// different types.
pub(super) fn merge(files: &[PathBuf], indexed: Vec<IndexedFile>) -> Result<Contents> {
    let mut schema = SchemaMerger::default();
    let mut layers = BTreeMap::new();
    let mut layer_files = Vec::with_capacity(indexed.len());
    for (path, indexed) in files.iter().zip(indexed) {
        let layer: Arc<str> = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into();
        for store in &indexed.index.stores {
            match layers.entry((store.segment.clone(), Arc::clone(&layer))) {
                Entry::Vacant(free) => {
                    free.insert(path.as_path());
                }
                Entry::Occupied(known) => {
                    return Err(clash(&store.segment, &layer, known.get(), path));
                }
            }
            schema.add(&store.schema).map_err(|e| within(e, path))?;
        }
        layer_files.push(LayerFile {
            path: path.clone(),
            layer,
            indexed,
        });
    }
    Ok(Contents {
        files: layer_files,
        schema: Arc::new(schema.finish()),
    })
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
