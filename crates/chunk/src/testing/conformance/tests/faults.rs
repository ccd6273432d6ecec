//! The faults that a scripted source has of its own.

use bytes::Bytes;

use super::*;
use crate::testing::{ChunkBuilder, Fault};

const ANNOUNCED: &str = "what is announced of a chunk is true";
const TOO_MUCH: &str = "fetch delivers each chunk that it is asked for once, and no other";

/// Each fault, and the clause that it breaks.
pub(super) fn faults() -> Vec<(Fault, &'static str)> {
    let id = |id: u128| ChunkId::from(id);
    let foreign = |segment: &str, id| {
        let chunk = ChunkBuilder::new(segment, "/robot/arm")
            .id(id)
            .sequence("frame", [1]);
        let values = chunk.floats("Scalars:scalars", [Some(9.0)]).build();
        EncodedChunk::from_chunk(&values, Compression::None).unwrap()
    };
    let damaged = EncodedChunk {
        payload: Bytes::from_static(b"junk"),
        ..foreign("plain", 2)
    };
    let code = ErrorCode::TransportUnavailable;
    let lie = |lie| Fault::Announce(id(2), lie);
    vec![
        (Fault::SchemaError(code), "schema has the columns"),
        (
            Fault::PlanError(code),
            "plan of a dataset that does not exist",
        ),
        (Fault::Error(id(2), code), "fetch delivers what plan named"),
        (
            Fault::ErrorAt {
                fetch: 3,
                chunk: 0,
                code,
            },
            "fetch delivers what plan named",
        ),
        (Fault::Withhold(id(2)), "fetch delivers every chunk"),
        (Fault::Repeat(id(2)), TOO_MUCH),
        (Fault::Foreign(foreign("plain", 99)), TOO_MUCH),
        (Fault::Replace(id(11), foreign("plain", 11)), TOO_MUCH),
        (
            Fault::Replace(id(2), foreign("plain", 2)),
            "a chunk comes as it was stored",
        ),
        (Fault::Replace(id(2), damaged), "delivered chunks are valid"),
        (lie(|info| info.start = Some(4)), ANNOUNCED),
        (lie(|info| info.end = Some(8)), ANNOUNCED),
        (lie(|info| info.num_rows = Some(4)), ANNOUNCED),
        (lie(|info| info.is_static = true), ANNOUNCED),
        (lie(|info| info.layer = "elsewhere".into()), ANNOUNCED),
        (lie(|info| info.byte_len = 1), ANNOUNCED),
        (lie(|info| info.byte_len_uncompressed = Some(1)), ANNOUNCED),
        (lie(|info| info.entity = "/grüße/腕".into()), ANNOUNCED),
        (
            lie(|info| info.entity = "/elsewhere".into()),
            "plan names chunks of the wanted",
        ),
        (
            lie(|info| info.id = ChunkId::from(77)),
            "plan names chunks of the dataset",
        ),
        (
            lie(|info| info.id = ChunkId::from(1)),
            "plan names each chunk once",
        ),
        (
            lie(|info| info.key = Bytes::new()),
            "fetch delivers what plan named",
        ),
    ]
}
