//! Paths of entities.

use std::fmt;
use std::sync::Arc;

/// Path of an entity, such as `/world/robot/arm`.
///
/// Kept as it is written on the wire, with a leading slash; parts are separated by `/`, and a backslash
/// makes the next character part of the name. Paths sort by their text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityPath(Arc<str>);

/// Root of the entities that hold properties of the recording, not data of a robot.
const PROPERTIES: &str = "/__properties";

impl EntityPath {
    /// The path as text, with its leading slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `self` is `root` or lies below it.
    pub fn is_within(&self, root: &EntityPath) -> bool {
        let root = root.0.strip_suffix('/').unwrap_or(&root.0);
        self.0
            .strip_prefix(root)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The path below the properties root: `Some("")` for the root itself, `None` for data.
    pub fn property_path(&self) -> Option<&str> {
        let rest = self.0.strip_prefix(PROPERTIES)?;
        match rest.strip_prefix('/') {
            Some(path) => Some(path),
            None => rest.is_empty().then_some(""),
        }
    }
}

impl<S: AsRef<str>> From<S> for EntityPath {
    /// Adds the leading slash where it is missing and drops a trailing one.
    fn from(path: S) -> Self {
        let path = path.as_ref();
        let inner = path.strip_prefix('/').unwrap_or(path);
        let inner = match inner.strip_suffix('/') {
            Some(cut) if !cut.ends_with('\\') => cut,
            _ => inner,
        };
        Self(format!("/{inner}").into())
    }
}

impl fmt::Display for EntityPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EntityPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_within_itself_and_its_ancestors_only() {
        let arm = EntityPath::from("/world/robot/arm");
        for root in ["/", "world", "/world/robot/", "/world/robot/arm"] {
            assert!(arm.is_within(&root.into()), "{root}");
        }
        for other in ["/world/rob", "/world/robot/arm/x", "/a"] {
            assert!(!arm.is_within(&other.into()), "{other}");
        }
    }

    #[test]
    fn properties_are_told_from_data() {
        let property = |p: &str| EntityPath::from(p).property_path().map(str::to_owned);
        assert_eq!(property("/__properties"), Some(String::new()));
        assert_eq!(property("/__properties/a/b"), Some("a/b".to_owned()));
        assert_eq!(property("/__properties_not"), None);
        assert_eq!(property("/world"), None);
    }
}
