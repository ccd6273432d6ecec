//! Files that are written as a whole, or not at all.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::{EXAMPLES, bytes, failure, segue};

pub(crate) fn names(dir: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn a_file_is_replaced_when_all_is_written() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("x.csv");
    fs::write(&file, "old").unwrap();
    bytes(
        segue()
            .args(EXAMPLES)
            .arg("-o")
            .arg(&file)
            .arg("SELECT 1 AS x"),
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\n1\n");
    assert_eq!(names(dir.path()), ["x.csv"]);
}

#[test]
fn after_an_error_there_is_no_file_or_still_the_old_one() {
    let dir = TempDir::new().unwrap();
    let (old, new) = (dir.path().join("old.csv"), dir.path().join("new.csv"));
    fs::write(&old, "old").unwrap();
    // The error comes after many rows.
    let late = "SELECT 1 / (value - 900000) AS x FROM generate_series(1, 1000000)";
    for sql in [late, "SELECT 1; SELECT * FROM nothing", "SELECT ("] {
        for file in [&old, &new] {
            failure(segue().args(EXAMPLES).arg("-o").arg(file).arg(sql), 1);
            assert_eq!(names(dir.path()), ["old.csv"], "{sql}");
            assert_eq!(fs::read_to_string(&old).unwrap(), "old");
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("missing/x.csv");
    for (file, why) in [(missing.as_path(), "o such"), (dir.path(), "directory")] {
        let mut command = segue();
        command
            .args(EXAMPLES)
            .arg("--format=csv")
            .arg("-o")
            .arg(file)
            .arg("SELECT 1");
        let line = failure(&mut command, 1);
        assert!(
            line.contains(&file.display().to_string()) && line.contains(why),
            "{line}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_one_and_what_it_points_to_is_replaced_with_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = TempDir::new().unwrap();
    let (target, link) = (dir.path().join("target.csv"), dir.path().join("link.csv"));
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&target, &link).unwrap();
    bytes(
        segue()
            .args(EXAMPLES)
            .arg("-o")
            .arg(&link)
            .arg("SELECT 1 AS x"),
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "x\n1\n");
    let mode = fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let plain = dir.path().join("plain.csv");
    bytes(
        segue()
            .args(EXAMPLES)
            .arg("-o")
            .arg(&plain)
            .arg("SELECT 1 AS x"),
    );
    let mode = fs::metadata(&plain).unwrap().permissions().mode();
    // What a mask of the process leaves of 666; never the 600 of a private file, unless the mask says so.
    let other = dir.path().join("other");
    fs::write(&other, "").unwrap();
    assert_eq!(mode, fs::metadata(&other).unwrap().permissions().mode());
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let mut command = segue();
    command
        .args(EXAMPLES)
        .args(["--format=csv", "-o", "/dev/null", "SELECT 1 AS x"]);
    bytes(&mut command);
    let null = fs::metadata("/dev/null").unwrap();
    assert!(null.file_type().is_char_device());
    let mut command = segue();
    command
        .args(EXAMPLES)
        .args(["--format=csv", "-o", "/dev/stdout", "SELECT 1 AS x"]);
    assert_eq!(bytes(&mut command), b"x\n1\n");
}
