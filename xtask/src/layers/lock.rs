//! What Cargo.lock may hold: one version of each library whose types cross our
//! crates, and nothing of some families.

use std::collections::BTreeMap;

use super::is_one_of;

/// Two versions of one of these give types of one name that do not fit each
/// other.
const SHARED: &[&str] = &[
    "arrow",
    "datafusion",
    "object_store",
    "parquet",
    "prost",
    "tonic",
];

/// Beginnings of crate names that are not used: reading recordings, the protocol
/// and the table are this project's own code.
const BANNED: &[&str] = &["algeon", "re_"];

/// Names in a lock file that are banned.
pub(super) fn banned(lock: &str) -> Vec<String> {
    lock.lines()
        .filter_map(|line| quoted(line, "name = "))
        .filter(|name| BANNED.iter().any(|start| name.starts_with(start)))
        .map(|name| format!("{name} is banned"))
        .collect()
}

/// Shared libraries that a lock file holds in more than one version.
pub(super) fn doubled(lock: &str) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = "";
    for line in lock.lines() {
        if let Some(value) = quoted(line, "name = ") {
            name = value;
        } else if let Some(version) = quoted(line, "version = ")
            && is_one_of(SHARED, name)
        {
            versions.entry(name).or_default().push(version);
        }
    }
    versions
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1)
        .map(|(name, versions)| format!("{name} is locked as {}", versions.join(" and ")))
        .collect()
}

fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::{banned, doubled};

    const LOCK: &str = "version = 4\n\
        [[package]]\nname = \"arrow-array\"\nversion = \"58.0.0\"\n\
        [[package]]\nname = \"arrow-array\"\nversion = \"59.3.2\"\n\
        [[package]]\nname = \"prost\"\nversion = \"0.14.6\"\n\
        [[package]]\nname = \"re_sorbet\"\nversion = \"0.36.3\"\n\
        [[package]]\nname = \"syn\"\nversion = \"1.0.0\"\n\
        [[package]]\nname = \"syn\"\nversion = \"2.0.0\"\n";

    #[test]
    fn a_shared_library_in_two_versions_is_named_and_others_are_not() {
        assert_eq!(
            doubled(LOCK),
            ["arrow-array is locked as 58.0.0 and 59.3.2"]
        );
    }

    #[test]
    fn a_banned_family_is_found_by_its_beginning() {
        assert_eq!(banned(LOCK), ["re_sorbet is banned"]);
    }
}
