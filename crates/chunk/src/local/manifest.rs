//! Manifests, as recordings have them.

use segue_error::Result;
use segue_proto::log_msg::RrdManifest;

use super::blocking::{Stop, Stoppable};
use super::changed::{changed, unless_changed};
use super::contents::Layer;
use crate::rrd::{FileBytes, read_manifest, unreadable};

/// Reads the manifest of `layer`, if its recording has one.
pub(super) fn read(layer: &Layer, stop: &Stop) -> Result<Option<RrdManifest>> {
    let name = layer.path().display().to_string();
    let bytes = FileBytes::open(layer.path()).map_err(|e| unreadable(&name, e))?;
    if bytes.stamp() != layer.stamp() {
        return Err(changed(&name, "since its index was read"));
    }
    let stoppable = Stoppable {
        bytes: &bytes,
        stop,
    };
    let store = layer.store();
    let application = store.application.as_deref();
    let manifest = read_manifest(&stoppable, &name, &store.segment, application);
    unless_changed(&bytes, &name, manifest)
}
