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
        // Only the root path itself ends in a separator; a slash at another end is part of a name.
        let root = if &*root.0 == "/" { "" } else { &*root.0 };
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
            Some(cut) if !ends_in_escape(cut) => cut,
            _ => inner,
        };
        Self(format!("/{inner}").into())
    }
}

/// Whether `path` ends in a backslash that escapes what comes next, and is not itself escaped.
fn ends_in_escape(path: &str) -> bool {
    path.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
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
    fn an_escaped_slash_at_the_end_is_part_of_the_name() {
        let root = EntityPath::from(r"/a\/");
        assert_eq!(root.as_str(), r"/a\/");
        assert!(EntityPath::from(r"/a\//b").is_within(&root));
        assert!(root.is_within(&root));
        assert!(!EntityPath::from(r"/a\/b").is_within(&root));
        // The backslash is the name, the slash is not.
        assert_eq!(EntityPath::from(r"/a\\/").as_str(), r"/a\\");
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
