//! Damage: single bytes changed, and files cut, at every position.
//!
//! Whatever happens to a byte, the outcome is an error, the same rows, or the same rows with other values:
//! never fewer rows, chunks or segments without an error. Counts are pinned, so that a check that goes
//! missing is noticed. With `SEGUE_DAMAGE_ALL_BITS` set, single bits are changed, too.

use std::fs;
use std::path::PathBuf;

use segue_chunk::Chunk;
use segue_chunk::testing::recording::{message_borders, without_footer};
use segue_error::Result;

use crate::support::{names, read_all, robot, runtime, same_values, shapes, source};

/// How often damage had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outcomes {
    /// A typed error.
    error: usize,
    /// The same rows.
    same: usize,
    /// The same rows with other values: chunks have no checksum.
    values: usize,
    /// The same rows, but the name of an entity or column is another. Only a footer could tell.
    names: usize,
}

/// A recording to damage, in a folder of its own.
struct Patient {
    _dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    path: PathBuf,
    bytes: Vec<u8>,
    index: Option<&'static str>,
    whole: Vec<Chunk>,
}

impl Patient {
    fn new(bytes: Vec<u8>, index: Option<&'static str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut patient = Self {
            path: dir.path().join("patient.rrd"),
            _dir: dir,
            runtime: runtime(),
            bytes,
            index,
            whole: Vec::new(),
        };
        patient.whole = patient.read(&patient.bytes).unwrap();
        assert!(!patient.whole.is_empty());
        patient
    }

    /// Reads `bytes` as a user would.
    fn read(&self, bytes: &[u8]) -> Result<Vec<Chunk>> {
        fs::write(&self.path, bytes).unwrap();
        let source = source(self.path.parent().unwrap());
        self.runtime.block_on(read_all(&source, self.index))
    }

    fn count(&self, outcomes: &mut Outcomes, bytes: &[u8], what: &str) {
        let Ok(found) = self.read(bytes) else {
            outcomes.error += 1;
            return;
        };
        assert_eq!(
            shapes(&found),
            shapes(&self.whole),
            "other rows without an error: {what}"
        );
        if names(&found) != names(&self.whole) {
            println!("{what}: {:?}", names(&found));
            outcomes.names += 1;
        } else if same_values(&found, &self.whole) {
            outcomes.same += 1;
        } else {
            outcomes.values += 1;
        }
    }

    /// Changes every byte.
    fn flip(&self, mask: u8) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for at in 0..self.bytes.len() {
            let mut bytes = self.bytes.clone();
            bytes[at] ^= mask;
            self.count(&mut outcomes, &bytes, &format!("byte {at} xor {mask:#x}"));
        }
        outcomes
    }

    /// Cuts the file at every length. Between messages, it is complete as far as it goes.
    fn cut(&self) -> Outcomes {
        let borders = message_borders(&self.bytes);
        let mut outcomes = Outcomes::default();
        for len in 0..self.bytes.len() {
            if let (true, Ok(found)) = (borders.contains(&len), self.read(&self.bytes[..len])) {
                let complete = shapes(&self.whole);
                assert!(shapes(&found).iter().all(|shape| complete.contains(shape)));
                outcomes.same += 1;
            } else {
                self.count(&mut outcomes, &self.bytes[..len], &format!("cut at {len}"));
            }
        }
        outcomes
    }
}

/// Numbers are: error, same, values, names.
fn check(
    name: &str,
    index: Option<&'static str>,
    footer: bool,
    flipped: [usize; 4],
    cut: [usize; 4],
) {
    let whole = robot(name);
    let bytes = if footer {
        whole
    } else {
        without_footer(&whole).to_vec()
    };
    let patient = Patient::new(bytes, index);
    let pinned = |[error, same, values, names]: [usize; 4]| Outcomes {
        error,
        same,
        values,
        names,
    };
    let found = (patient.flip(0xFF), patient.cut());
    println!(
        "{name}, footer: {footer}: flipped {:?}, cut {:?}",
        found.0, found.1
    );
    assert_eq!(
        found,
        (pinned(flipped), pinned(cut)),
        "{name}, footer: {footer}"
    );
    if std::env::var_os("SEGUE_DAMAGE_ALL_BITS").is_some() {
        for bit in 0..8 {
            println!(
                "{name}, footer: {footer}: bit {bit} {:?}",
                patient.flip(1 << bit)
            );
        }
    }
}

#[test]
fn damage_of_a_static_recording_is_an_error_or_no_loss() {
    check(
        "only_static_0.rrd",
        None,
        true,
        [2788, 268, 20, 0],
        [3040, 36, 0, 0],
    );
}

#[test]
fn damage_of_a_static_recording_without_footer_is_an_error_or_no_loss() {
    check(
        "only_static_0.rrd",
        None,
        false,
        [1023, 120, 20, 1],
        [1161, 3, 0, 0],
    );
}

#[test]
fn damage_of_a_temporal_recording_is_an_error_or_no_loss() {
    check(
        "extremes_0.rrd",
        Some("frame_nr"),
        true,
        [4225, 269, 73, 0],
        [4534, 33, 0, 0],
    );
}

#[test]
fn damage_of_a_temporal_recording_without_footer_is_an_error_or_no_loss() {
    check(
        "extremes_0.rrd",
        Some("frame_nr"),
        false,
        [1271, 127, 83, 1],
        [1482, 0, 0, 0],
    );
}
