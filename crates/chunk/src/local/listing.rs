//! Finding recordings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use segue_error::{Error, ErrorCode, Result};
use walkdir::{DirEntry, WalkDir};

use super::dataset::Dataset;

/// The datasets of a folder of datasets; at least one.
pub(super) fn datasets(folder: &Path) -> Result<Vec<Dataset>> {
    let real = fs::canonicalize(folder).map_err(|e| unlisted(folder, e))?;
    let (mut datasets, mut direct) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(|e| unlisted(folder, e))? {
        let path = entry.map_err(|e| unlisted(folder, e))?.path();
        if path.is_dir() {
            if is_hidden(&path) {
                continue;
            }
            // A link back up would make every dataset a part of another.
            let leads_up = fs::canonicalize(&path).is_ok_and(|target| real.starts_with(target));
            let files = if leads_up {
                Vec::new()
            } else {
                recordings(&path)?
            };
            if !files.is_empty() {
                datasets.push(Dataset::new(name_of(&path)?, path, files));
            }
        } else if is_listed(&path) && !is_hidden(&path) {
            direct.push(path);
        }
    }
    if !direct.is_empty() {
        direct.sort();
        datasets.push(Dataset::new(name_of(&real)?, folder.to_owned(), direct));
    }
    if datasets.is_empty() {
        return Err(none_below(folder));
    }
    // The order of a directory is nobody's; errors must not depend on it.
    datasets.sort_by(|a, b| (a.name(), a.folder()).cmp(&(b.name(), b.folder())));
    Ok(datasets)
}

/// All recordings in `folder` or below, sorted. Links are followed, but not in circles.
pub(super) fn recordings(folder: &Path) -> Result<Vec<PathBuf>> {
    if !fs::metadata(folder)
        .map_err(|e| unlisted(folder, e))?
        .is_dir()
    {
        return Err(unlisted(folder, io::ErrorKind::NotADirectory.into()));
    }
    let mut files = Vec::new();
    let walk = WalkDir::new(folder).follow_links(true).into_iter();
    let is_shown = |entry: &DirEntry| entry.depth() == 0 || !is_hidden(entry.path());
    for entry in walk.filter_entry(is_shown) {
        match entry {
            Ok(entry) if entry.file_type().is_file() && is_recording(entry.path()) => {
                files.push(entry.into_path());
            }
            Ok(_) => {}
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                if is_listed(&path) {
                    files.push(path);
                } else if path.symlink_metadata().is_ok_and(|m| m.is_symlink()) {
                    tracing::debug!(path = %path.display(), "a link that leads nowhere");
                } else {
                    return Err(unlisted(&path, error.into()));
                }
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Whether the name starts with a dot: such folders and files belong to a tool, not to the data.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.as_encoded_bytes());
    name.is_some_and(|name| name.starts_with(b"."))
}

fn is_recording(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("rrd"))
}

/// Whether `path` is a recording or a link to one that is gone: its dataset must not just lose rows.
fn is_listed(path: &Path) -> bool {
    is_recording(path) && fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// Name of the dataset that consists of `folder`.
fn name_of(folder: &Path) -> Result<String> {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| {
        let folder = folder.display();
        Error::new(
            ErrorCode::InvalidArgument,
            "local.build",
            format!(
                "folder '{folder}' has no name that a dataset can have; give one as NAME={folder}"
            ),
        )
    })
}

/// The error for a folder without recordings.
pub(super) fn none_below(folder: &Path) -> Error {
    let folder = folder.display();
    let message = format!("no recordings (*.rrd) below '{folder}'");
    Error::new(ErrorCode::InvalidArgument, "local.build", message)
}

fn unlisted(folder: &Path, error: io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        io::ErrorKind::NotADirectory => ErrorCode::InvalidArgument,
        _ => ErrorCode::StorageUnavailable,
    };
    let message = format!("cannot read folder '{}': {error}", folder.display());
    Error::new(code, "local.build", message).with_source(error)
}
