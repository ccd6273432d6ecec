//! Identifiers of segments, chunks and rows.

use std::fmt;
use std::sync::Arc;

/// Name of a segment: the recording id that its files share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(Arc<str>);

impl SegmentId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<S: Into<Arc<str>>> From<S> for SegmentId {
    fn from(id: S) -> Self {
        Self(id.into())
    }
}

impl std::borrow::Borrow<str> for SegmentId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

macro_rules! time_based_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// A 128 bit number made of a creation time (nanoseconds, upper half) and a counter (lower half),
        /// so that ids sort by age. On the wire: 16 bytes, big endian.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// The id whose big endian bytes are `bytes`.
            pub const fn from_be_bytes(bytes: [u8; 16]) -> Self {
                Self(u128::from_be_bytes(bytes))
            }

            /// The id of the halves `time_ns` and `inc`.
            pub const fn from_parts(time_ns: u64, inc: u64) -> Self {
                Self(((time_ns as u128) << 64) | inc as u128)
            }

            /// The sixteen bytes of the id, big endian.
            pub const fn to_be_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            /// The halves: creation time in nanoseconds, and counter.
            pub const fn parts(self) -> (u64, u64) {
                ((self.0 >> 64) as u64, self.0 as u64)
            }

            /// Reads 32 hexadecimal digits of any case.
            pub fn from_hex(digits: &str) -> Option<Self> {
                let plain = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
                plain.then(|| u128::from_str_radix(digits, 16).ok().map(Self)).flatten()
            }
        }

        impl From<u128> for $name {
            fn from(id: u128) -> Self {
                Self(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }
    };
}

time_based_id! {
    /// Identity of a chunk.
    ChunkId
}

time_based_id! {
    /// Identity of a logged row: of two values at one index value, the one of the higher row id stands.
    RowId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_parts_and_bytes_name_the_same_id() {
        let id = ChunkId::from_hex("18ECEADFF859254225ae359dab0a9fb8").unwrap();
        assert_eq!(id.parts(), (0x18EC_EADF_F859_2542, 0x25ae_359d_ab0a_9fb8));
        assert_eq!(ChunkId::from_be_bytes(id.to_be_bytes()), id);
        assert_eq!(ChunkId::from_parts(id.parts().0, id.parts().1), id);
        assert_eq!(id.to_string(), "18eceadff859254225ae359dab0a9fb8");
    }

    #[test]
    fn what_is_not_32_hex_digits_is_no_id() {
        for bad in [
            "",
            "18",
            "+8ECEADFF859254225ae359dab0a9fb8",
            "zzECEADFF859254225ae359dab0a9fb8",
        ] {
            assert_eq!(ChunkId::from_hex(bad), None, "{bad}");
        }
    }
}
