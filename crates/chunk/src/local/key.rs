//! What finds a chunk again: the key in its [`ChunkInfo`](crate::ChunkInfo).

use bytes::{Buf as _, BufMut as _, Bytes};
use segue_error::{Error, ErrorCode, Result};

use crate::rrd::FileStamp;

/// First byte of every key, so that another layout is told from this one.
const VERSION: u8 = 1;
/// Bytes before the name of the application.
const FIXED_LEN: usize = 1 + 4 + 8 + 8 + 8 + 8 + 1;

/// Where a chunk lies. Names a file by its number in the dataset: no path leaves the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChunkKey {
    /// Number of the file.
    pub(super) file: u32,
    /// What the file was when the chunk was planned.
    pub(super) stamp: FileStamp,
    /// Where the message body starts.
    pub(super) offset: u64,
    /// Bytes of the body.
    pub(super) len: u64,
    /// Application of the store.
    pub(super) application: Option<Box<str>>,
}

/// The bytes of a key.
pub(super) fn encode(
    file: u32,
    stamp: FileStamp,
    place: std::ops::Range<u64>,
    application: Option<&str>,
) -> Bytes {
    let name = application.unwrap_or_default().as_bytes();
    let mut key = Vec::with_capacity(FIXED_LEN + name.len());
    key.put_u8(VERSION);
    key.put_u32_le(file);
    key.put_u64_le(stamp.len);
    key.put_i64_le(stamp.modified_ns);
    key.put_u64_le(place.start);
    key.put_u64_le(place.end - place.start);
    key.put_u8(u8::from(application.is_some()));
    key.put_slice(name);
    key.into()
}

/// Reads a key. `invalid_argument` when it is not one.
pub(super) fn decode(key: &Bytes) -> Result<ChunkKey> {
    let foreign = || {
        let message = "a chunk key that does not come from this source";
        Error::new(ErrorCode::InvalidArgument, "local.fetch", message)
    };
    let mut rest = key.clone();
    if rest.len() < FIXED_LEN || rest.get_u8() != VERSION {
        return Err(foreign());
    }
    let file = rest.get_u32_le();
    let stamp = FileStamp {
        len: rest.get_u64_le(),
        modified_ns: rest.get_i64_le(),
    };
    let (offset, len) = (rest.get_u64_le(), rest.get_u64_le());
    let application = match (rest.get_u8(), std::str::from_utf8(&rest)) {
        (0, Ok("")) => None,
        (1, Ok(name)) => Some(name.into()),
        _ => return Err(foreign()),
    };
    Ok(ChunkKey {
        file,
        stamp,
        offset,
        len,
        application,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_what_went_into_it_and_anything_else_is_no_key() {
        let stamp = FileStamp {
            len: 77,
            modified_ns: -5,
        };
        for application in [None, Some(""), Some("app")] {
            let bytes = encode(3, stamp, 28..40, application);
            let key = decode(&bytes).unwrap();
            assert_eq!(
                (key.file, key.stamp, key.offset, key.len),
                (3, stamp, 28, 12)
            );
            assert_eq!(key.application.as_deref(), application);
            for cut in 0..FIXED_LEN {
                let error = decode(&bytes.slice(..cut)).unwrap_err();
                assert_eq!(error.code(), ErrorCode::InvalidArgument);
            }
        }
        let mut other = encode(3, stamp, 28..40, None).to_vec();
        other[0] = 2;
        assert!(decode(&other.into()).is_err());
        let mut stray = encode(3, stamp, 28..40, None).to_vec();
        stray.push(b'x');
        assert!(decode(&stray.into()).is_err());
    }
}
