//! Recording files: index and chunks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use segue_chunk::rrd::{ChunkPlace, ReadAt, RecordingIndex, StoreIndex, read_chunk};
use segue_chunk::testing::ChunkBuilder;
use segue_chunk::testing::recording::{RecordingWriter, message_borders, without_footer};
use segue_chunk::{Chunk, ChunkDecoder, ChunkInfo, Compression, SegmentId};
use segue_error::{ErrorCode, Result};

use crate::support::{Counting, example_files, names, robot, same_values, shapes};

fn index(bytes: &[u8]) -> Result<RecordingIndex> {
    RecordingIndex::read(&bytes.to_vec(), "x.rrd")
}

fn code(bytes: &[u8]) -> ErrorCode {
    index(bytes).unwrap_err().code()
}

/// Reads and decodes every chunk of `bytes`.
fn chunks(bytes: &[u8], index: &RecordingIndex) -> Vec<Chunk> {
    let bytes = bytes.to_vec();
    index
        .stores
        .iter()
        .flat_map(|store| store_chunks(&bytes, store))
        .collect()
}

fn store_chunks(bytes: &dyn ReadAt, store: &StoreIndex) -> Vec<Chunk> {
    let decoder = ChunkDecoder::new(Arc::clone(&store.schema), None);
    let read = |entry: &segue_chunk::rrd::ChunkEntry| {
        let place = ChunkPlace {
            segment: &store.segment,
            application: store.application.as_deref(),
            id: entry.id,
            is_static: entry.is_static,
            offset: entry.offset,
            len: entry.len,
            uncompressed_len: Some(entry.uncompressed_len),
        };
        let encoded = read_chunk(bytes, "x.rrd", place).unwrap();
        let info = ChunkInfo {
            id: entry.id,
            segment: store.segment.clone(),
            layer: "x".into(),
            entity: entry.entity.clone(),
            is_static: entry.is_static,
            byte_len: entry.len,
            byte_len_uncompressed: Some(entry.uncompressed_len),
            start: None,
            end: None,
            num_rows: Some(entry.num_rows),
            key: bytes::Bytes::new(),
        };
        decoder.decode(&info, &encoded).unwrap()
    };
    store.chunks.iter().map(read).collect()
}

fn sample(segment: &str, id: u64) -> Chunk {
    ChunkBuilder::new(segment, "/a")
        .id(id)
        .sequence("frame", [3, 1, 2])
        .floats("x", [Some(1.0), None, Some(id as f64)])
        .floats("never", [None, None, None])
        .build()
}

fn ids(index: &RecordingIndex) -> Vec<(String, Vec<u128>)> {
    let id = |id: segue_chunk::ChunkId| u128::from_be_bytes(id.to_be_bytes());
    let stores = index.stores.iter().map(|store| {
        let chunks = store.chunks.iter().map(|c| id(c.id)).collect();
        (store.segment.to_string(), chunks)
    });
    stores.collect()
}

#[test]
fn footer_and_scan_give_the_same_index_and_the_same_chunks_of_every_example() {
    for (name, bytes) in example_files() {
        let with = index(&bytes).unwrap();
        let cut = without_footer(&bytes);
        let without = index(cut).unwrap();
        assert_eq!(with, without, "{name}");
        assert_eq!(with.stores.len(), 1, "{name}");
        let (a, b) = (chunks(&bytes, &with), chunks(cut, &without));
        assert!(
            !a.is_empty() && a.len() == with.stores[0].chunks.len(),
            "{name}"
        );
        assert_eq!(names(&a), names(&b), "{name}");
        assert!(same_values(&a, &b), "{name}");
        for (chunk, entry) in a.iter().zip(&with.stores[0].chunks) {
            assert_eq!(chunk.num_rows() as u64, entry.num_rows, "{name}");
            for column in chunk.timelines() {
                let range = entry.span(&column.timeline.name).unwrap().range.unwrap();
                assert_eq!(column.bounds(), Some((range.start, range.end)), "{name}");
            }
        }
    }
}

#[test]
fn with_a_footer_nothing_else_is_read() {
    for (name, bytes) in example_files() {
        let borders = message_borders(&bytes);
        let end_message = borders[borders.len() - 1] - borders[borders.len() - 2];
        let size = bytes.len();
        let bytes = Counting::new(bytes);
        RecordingIndex::read(&bytes, &name).unwrap();
        let read = bytes.read.load(Ordering::Relaxed);
        // Stream header, tail, and the body of the end message.
        assert_eq!(read, 12 + 32 + end_message as u64 - 16, "{name}");
        assert_eq!(bytes.reads.load(Ordering::Relaxed), 3, "{name}");
        assert!(read < size as u64);
    }
}

#[test]
fn without_a_footer_the_file_is_read_once_and_no_more_than_a_message_at_a_time() {
    for (name, bytes) in example_files() {
        let bytes = without_footer(&bytes).to_vec();
        let borders = message_borders(&bytes);
        let largest = borders.windows(2).map(|b| b[1] - b[0] - 16).max().unwrap() as u64;
        let bytes = Counting::new(bytes);
        RecordingIndex::read(&bytes, &name).unwrap();
        // The tail is looked at before, and belongs to the messages, too.
        let read = bytes.read.load(Ordering::Relaxed) - 32;
        assert_eq!(read, bytes.size(), "{name}");
        assert_eq!(
            bytes.largest.load(Ordering::Relaxed),
            largest.max(32),
            "{name}"
        );
    }
}

#[test]
fn a_message_is_not_given_memory_that_the_file_cannot_fill() {
    let bytes = without_footer(&robot("scalars_0.rrd")).to_vec();
    for len in [1 << 20, 1 << 40, u64::MAX] {
        let mut bytes = bytes.clone();
        let at = message_borders(&bytes)[2];
        bytes[at + 8..at + 16].copy_from_slice(&u64::to_le_bytes(len));
        let bytes = Counting::new(bytes);
        let error = RecordingIndex::read(&bytes, "x.rrd").unwrap_err();
        assert_eq!(error.code(), ErrorCode::ChunkCorrupt);
        assert!(bytes.largest.load(Ordering::Relaxed) < 4096);
    }
}

#[test]
fn a_file_that_ends_between_messages_has_the_chunks_up_to_there() {
    let bytes = robot("scalars_0.rrd");
    let borders = message_borders(&bytes);
    // Two openings, six chunks, and the end message.
    let found: Vec<usize> = borders
        .iter()
        .map(|&border| index(&bytes[..border]).unwrap())
        .map(|index| index.stores.iter().map(|s| s.chunks.len()).sum())
        .collect();
    assert_eq!(found, [0, 0, 0, 1, 2, 3, 4, 5, 6, 6]);
}

#[test]
fn junk_behind_the_end_changes_nothing() {
    for (name, bytes) in example_files() {
        let whole = index(&bytes).unwrap();
        for junk in [1, 7, 16, 100] {
            let junk = [bytes.clone(), vec![0xAB; junk]].concat();
            assert_eq!(index(&junk).unwrap(), whole, "{name}");
        }
        // Cut inside the tail, the end message is still whole.
        assert_eq!(index(&bytes[..bytes.len() - 5]).unwrap(), whole, "{name}");
    }
}

#[test]
fn recordings_put_one_behind_the_other_are_read_as_one_file() {
    let one = RecordingWriter::new().chunk(&sample("one", 1)).finish();
    let two = RecordingWriter::new()
        .chunk(&sample("two", 2))
        .chunk(&sample("two", 3))
        .finish();
    let both = [("one".to_owned(), vec![1]), ("two".to_owned(), vec![2, 3])];
    let behind = [&one[..], &two].concat();
    assert_eq!(ids(&index(&behind).unwrap()), both);
    // Whether or not the last one has a footer, and the first one its tail.
    let open = [&one[..], without_footer(&two)].concat();
    assert_eq!(ids(&index(&open).unwrap()), both);
    let end_of_one = message_borders(&one)[message_borders(&one).len() - 1];
    let bare = [&one[..end_of_one], &two].concat();
    assert_eq!(ids(&index(&bare).unwrap()), both);
    // A chunk that is missing from one of them is noticed.
    let borders = message_borders(&two);
    let torn = [&one[..], &two[..borders[2]], &two[borders[3]..]].concat();
    assert_eq!(index(&torn).unwrap_err().code(), ErrorCode::ChunkCorrupt);
}

#[test]
fn an_end_that_lists_other_chunks_than_there_are_is_damage() {
    let one = RecordingWriter::new().chunk(&sample("s", 1)).finish();
    let two = RecordingWriter::new()
        .chunk(&sample("s", 1))
        .chunk(&sample("s", 2))
        .finish();
    let borders = |bytes: &[u8]| message_borders(bytes);
    let end_of_one = borders(&one)[borders(&one).len() - 2];
    let end_of_two = borders(&two)[borders(&two).len() - 2];
    let mixed = [&two[..end_of_two], &one[end_of_one..], b"junk"].concat();
    let error = index(&mixed).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ChunkCorrupt);
    assert!(
        error.message().contains("lists 1 chunks where 2 are"),
        "{error}"
    );
    // An end message without a footer says nothing.
    let bare = [&two[..end_of_two], &[0; 16], b"junk"].concat();
    assert_eq!(ids(&index(&bare).unwrap()), [("s".to_owned(), vec![1, 2])]);
}

#[test]
fn a_cut_inside_a_message_is_damage_that_names_file_and_offset() {
    for bytes in [
        robot("scalars_0.rrd"),
        without_footer(&robot("scalars_0.rrd")).to_vec(),
    ] {
        let borders = message_borders(&bytes);
        for message in borders.windows(2) {
            for cut in [
                message[0] + 1,
                message[0] + 15,
                message[0] + 16,
                message[1] - 1,
            ] {
                let error = index(&bytes[..cut]).unwrap_err();
                assert_eq!(error.code(), ErrorCode::ChunkCorrupt, "{cut}");
                let place = format!("recording 'x.rrd' is damaged at byte {}", message[0]);
                assert!(error.message().starts_with(&place), "{error}");
            }
        }
    }
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    let whole = robot("scalars_0.rrd");
    for len in 0..12 {
        assert_eq!(code(&whole[..len]), ErrorCode::NotARecording, "{len}");
    }
    assert!(index(&whole[..12]).unwrap().stores.is_empty());
    let error = index(b"PAR1 and then something else").unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotARecording);
    assert_eq!(
        error.message(),
        "'x.rrd' is not a recording: it starts with 'PAR1'"
    );
    for (at, value) in [(8, 2), (8, 0xFF), (9, 0), (9, 1), (9, 3)] {
        let mut bytes = whole.clone();
        bytes[at] = value;
        assert_eq!(code(&bytes), ErrorCode::Unsupported, "{at} {value}");
    }
    let mut other_version = whole.clone();
    other_version[4..8].copy_from_slice(&[9, 9, 9, 9]);
    assert_eq!(index(&other_version).unwrap(), index(&whole).unwrap());
}

#[test]
fn a_damaged_footer_is_not_taken_for_a_missing_one() {
    let bytes = robot("scalars_0.rrd");
    let borders = message_borders(&bytes);
    let body = borders[borders.len() - 2] + 16;
    let mut damaged = bytes.clone();
    damaged[body + 40] ^= 1;
    let error = index(&damaged).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ChunkCorrupt);
    assert!(error.message().contains("footer checksum"), "{error}");
    assert!(error.message().contains("x.rrd"), "{error}");
    let with_tail_byte = |at: usize| {
        let mut damaged = bytes.clone();
        damaged[bytes.len() - 32 + at] ^= 0x80;
        index(&damaged)
    };
    let error = with_tail_byte(28).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unsupported, "number of footers");
    // A tail that points elsewhere is none; the scan that follows finds the same.
    for at in [0, 7, 8, 15] {
        assert_eq!(with_tail_byte(at).unwrap(), index(&bytes).unwrap(), "{at}");
    }
}

#[test]
fn a_changed_message_kind_never_loses_a_chunk() {
    let bytes = without_footer(&robot("scalars_0.rrd")).to_vec();
    let borders = message_borders(&bytes);
    for &at in &borders[..borders.len() - 1] {
        for kind in 0..=255 {
            let mut changed = bytes.clone();
            if changed[at] == kind {
                continue;
            }
            changed[at] = kind;
            assert_eq!(code(&changed), ErrorCode::ChunkCorrupt, "{kind} at {at}");
        }
    }
}

#[test]
fn a_chunk_of_a_store_that_was_never_opened_is_damage() {
    let bytes = RecordingWriter::new()
        .without_footer()
        .chunk(&sample("s", 1))
        .finish();
    let chunk_at = message_borders(&bytes)[1];
    let unopened = [&bytes[..12], &bytes[chunk_at..]].concat();
    let error = index(&unopened).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ChunkCorrupt);
    assert!(
        error
            .message()
            .contains("store 's', which was never opened"),
        "{error}"
    );
}

#[test]
fn stores_are_segments_and_blueprints_are_skipped() {
    for footer in [true, false] {
        let mut writer = RecordingWriter::new()
            .chunk(&sample("b", 1))
            .blueprint("layout", &sample("layout", 9))
            .chunk(&sample("a", 1))
            .application(None)
            .chunk(&sample("c", 4))
            .application(Some("test"))
            .chunk(&sample("b", 2));
        if !footer {
            writer = writer.without_footer();
        }
        let bytes = writer.finish();
        let index = index(&bytes).unwrap();
        let expected = [("b", vec![1, 2]), ("a", vec![1]), ("c", vec![4])];
        assert_eq!(
            ids(&index),
            expected.map(|(name, ids)| (name.to_owned(), ids))
        );
        assert_eq!(index.stores[2].application, None);
        assert_eq!(chunks(&bytes, &index).len(), 4);
    }
}

#[test]
fn the_index_knows_which_components_have_values() {
    for footer in [true, false] {
        let fixed = ChunkBuilder::new("s", "/a")
            .id(2)
            .floats("y", [Some(1.0)])
            .build();
        let writer = RecordingWriter::new().chunk(&sample("s", 1)).chunk(&fixed);
        let bytes = if footer {
            writer.finish()
        } else {
            writer.without_footer().finish()
        };
        let index = index(&bytes).unwrap();
        let has: Vec<Vec<&str>> = index.stores[0]
            .chunks
            .iter()
            .map(|c| {
                c.components
                    .as_ref()
                    .unwrap()
                    .iter()
                    .map(|name| &**name)
                    .collect()
            })
            .collect();
        assert_eq!(has, [["x"], ["y"]]);
    }
}

#[test]
fn what_is_written_is_read_compressed_or_not() {
    let written = [sample("s", 1), sample("s", 2)];
    for compression in [Compression::None, Compression::Lz4] {
        for footer in [true, false] {
            let writer = RecordingWriter::new()
                .compression(compression)
                .chunks(&written);
            let bytes = if footer {
                writer.finish()
            } else {
                writer.without_footer().finish()
            };
            let read = chunks(&bytes, &index(&bytes).unwrap());
            assert_eq!(shapes(&read), shapes(&written));
            assert!(same_values(&read, &written));
        }
    }
}

#[test]
fn a_payload_is_a_part_of_what_was_read() {
    let bytes = robot("scalars_0.rrd");
    let index = index(&bytes).unwrap();
    let (store, entry) = (&index.stores[0], &index.stores[0].chunks[0]);
    let counting = Counting::new(bytes);
    let place = place(store, entry);
    let encoded = read_chunk(&counting, "x.rrd", place).unwrap();
    // The header of the message, and its body.
    assert_eq!(counting.reads.load(Ordering::Relaxed), 2);
    assert_eq!(counting.read.load(Ordering::Relaxed), entry.len + 16);
    assert!((encoded.payload.len() as u64) < entry.len);
}

fn place<'a>(store: &'a StoreIndex, entry: &segue_chunk::rrd::ChunkEntry) -> ChunkPlace<'a> {
    ChunkPlace {
        segment: &store.segment,
        application: store.application.as_deref(),
        id: entry.id,
        is_static: entry.is_static,
        offset: entry.offset,
        len: entry.len,
        uncompressed_len: Some(entry.uncompressed_len),
    }
}

#[test]
fn a_chunk_that_is_not_what_the_index_says_is_damage() {
    let bytes = robot("scalars_0.rrd");
    let index = index(&bytes).unwrap();
    let store = &index.stores[0];
    let right = place(store, &store.chunks[1]);
    let other = SegmentId::from("other");
    let wrong = [
        ChunkPlace {
            offset: right.offset + 1,
            ..right
        },
        ChunkPlace { offset: 3, ..right },
        ChunkPlace {
            offset: u64::MAX,
            ..right
        },
        ChunkPlace {
            len: right.len - 1,
            ..right
        },
        ChunkPlace {
            len: u64::MAX,
            ..right
        },
        ChunkPlace {
            segment: &other,
            ..right
        },
        ChunkPlace {
            application: None,
            ..right
        },
        ChunkPlace {
            application: Some("other"),
            ..right
        },
        ChunkPlace {
            id: store.chunks[0].id,
            ..right
        },
        ChunkPlace {
            is_static: true,
            ..right
        },
        ChunkPlace {
            uncompressed_len: Some(1),
            ..right
        },
    ];
    assert!(read_chunk(&bytes, "x.rrd", right).is_ok());
    for wrong in wrong {
        let error = read_chunk(&bytes, "x.rrd", wrong).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ChunkCorrupt, "{wrong:?}");
        assert!(
            error.message().contains("'x.rrd' is damaged at byte"),
            "{error}"
        );
    }
}
