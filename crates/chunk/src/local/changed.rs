//! Files that are written while they are read.

use segue_error::{Error, ErrorCode, Result};

use crate::rrd::{FileBytes, unreadable};

/// `result`, which was read from the file `bytes` called `name`, unless that has been written since it was
/// opened: `source_changed` then. Bytes that come from two versions may make any sense or none.
pub(super) fn unless_changed<T>(bytes: &FileBytes, name: &str, result: Result<T>) -> Result<T> {
    match bytes.current_stamp() {
        Ok(stamp) if stamp == bytes.stamp() => result,
        Ok(_) => Err(changed(name, "while it was read")),
        Err(error) => Err(unreadable(name, error)),
    }
}

/// The error that the file `name` has changed.
pub(super) fn changed(name: &str, when: &str) -> Error {
    let message = format!("recording '{name}' has changed {when}");
    Error::new(ErrorCode::SourceChanged, "local.read", message).with_fact("file", name)
}
