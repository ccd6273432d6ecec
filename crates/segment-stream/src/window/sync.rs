//! What the window locks with; the interleavings of the same code are tested with other locks in their place.

pub(super) use std::sync::{Arc, Mutex, MutexGuard};
