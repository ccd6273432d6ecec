//! A file that is not whole yet.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempPath};

/// The file that a command is writing, under a temporary name beside the one that it will have. Shared, so that it is
/// removed even while who writes it is stuck.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch(Arc<Mutex<Option<Unfinished>>>);

/// Removed when dropped.
#[derive(Debug)]
struct Unfinished {
    temporary: TempPath,
    target: PathBuf,
}

impl Scratch {
    /// Creates the file that is to replace `target`, or to be it.
    pub(super) fn create(&self, target: &Path) -> io::Result<File> {
        // What a link points to is replaced, not the link.
        let target = match fs::canonicalize(target) {
            // What it points to is not there.
            Err(error) if target.is_symlink() => return Err(error),
            Err(_) => target.to_path_buf(),
            Ok(target) => target,
        };
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        // An error without a path that means nothing to the user.
        fs::metadata(directory)?;
        let replaced = fs::metadata(&target).ok();
        let (file, temporary) = new_file(directory)?.into_parts();
        if let Some(replaced) = replaced {
            fs::set_permissions(&temporary, replaced.permissions())?;
        }
        *self.held() = Some(Unfinished { temporary, target });
        Ok(file)
    }

    /// Gives the file its name, now that it is whole.
    pub(super) fn keep(&self) -> io::Result<()> {
        // Held until it is done: whoever discards at the same time waits.
        let mut held = self.held();
        match held.take() {
            Some(Unfinished { temporary, target }) => {
                temporary.persist(target).map_err(|error| error.error)
            }
            None => Ok(()),
        }
    }

    /// Removes the file, if there is one that is not whole.
    pub(crate) fn discard(&self) {
        *self.held() = None;
    }

    fn held(&self) -> MutexGuard<'_, Option<Unfinished>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file with the permissions that any new one gets.
fn new_file(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".segue-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
        .tempfile_in(directory)
        .map_err(|error| error.kind().into())
}
