//! What a scripted source can be told to do, and how it delivers accordingly.

use std::collections::VecDeque;

use futures::{StreamExt, stream};
use segue_error::{Error, ErrorCode, Result};

use super::counters::{Counted, Gate};
use crate::model::ChunkId;
use crate::source::{ChunkInfo, ChunkStream, EncodedChunk};

/// In which order a scripted source delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As the chunks were asked for.
    #[default]
    AsAsked,
    /// The last one that was asked for first.
    Reversed,
    /// Some order that depends on this seed only.
    Shuffled(u64),
}

impl Order {
    pub(super) fn apply<T>(self, mut items: Vec<T>) -> Vec<T> {
        match self {
            Self::AsAsked => {}
            Self::Reversed => items.reverse(),
            Self::Shuffled(mut seed) => {
                for last in (1..items.len()).rev() {
                    let choice = split_mix(&mut seed) % (last as u64 + 1);
                    items.swap(last, choice as usize);
                }
            }
        }
        items
    }
}

/// The next number of the SplitMix64 generator.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Which of the optional facts of a [`ChunkInfo`] are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    /// Largest value on the index.
    pub ends: bool,
    /// Number of rows.
    pub rows: bool,
    /// Bytes once decompressed.
    pub sizes: bool,
}

impl Announced {
    /// None of them.
    pub const NOTHING: Self = Self {
        ends: false,
        rows: false,
        sizes: false,
    };
    /// All of them.
    pub const ALL: Self = Self {
        ends: true,
        rows: true,
        sizes: true,
    };
}

impl Default for Announced {
    fn default() -> Self {
        Self::ALL
    }
}

/// A way in which a scripted source breaks its contract. Numbers of fetches and chunks start at zero; a
/// chunk id means the chunks of that id in all segments.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Every call of `schema` fails.
    SchemaError(ErrorCode),
    /// Every call of `plan` fails.
    PlanError(ErrorCode),
    /// Plans announce of a chunk what the function makes of the truth.
    Announce(ChunkId, fn(&mut ChunkInfo)),
    /// One call of `fetch` fails before a delivery, or at its end when there are fewer.
    ErrorAt {
        /// Which call.
        fetch: usize,
        /// How many chunks that call delivers before it fails.
        chunk: usize,
        /// How it fails.
        code: ErrorCode,
    },
    /// Every `fetch` of a chunk fails in its place.
    Error(ChunkId, ErrorCode),
    /// A chunk never comes.
    Withhold(ChunkId),
    /// A chunk comes twice in a row.
    Repeat(ChunkId),
    /// Other bytes come in place of a chunk.
    Replace(ChunkId, EncodedChunk),
    /// Every `fetch` delivers this chunk first, whoever asked for it or not.
    Foreign(EncodedChunk),
}

impl Fault {
    pub(super) fn of_schema(&self) -> Option<ErrorCode> {
        match self {
            Self::SchemaError(code) => Some(*code),
            _ => None,
        }
    }

    pub(super) fn of_plan(&self) -> Option<ErrorCode> {
        match self {
            Self::PlanError(code) => Some(*code),
            _ => None,
        }
    }

    pub(super) fn announce(&self, info: &mut ChunkInfo) {
        match self {
            Self::Announce(id, lie) if *id == info.id => lie(info),
            _ => {}
        }
    }
}

/// The error that a script asks for.
pub(super) fn scripted(code: ErrorCode) -> Error {
    Error::new(code, "scripted", "the script says so")
}

/// What one stream delivers.
#[derive(Debug)]
pub(super) struct Delivery(VecDeque<Result<EncodedChunk>>);

impl Delivery {
    pub(super) fn failed(error: Error) -> Self {
        Self([Err(error)].into())
    }

    /// Delivers `chunks` in the order given, as far as `faults` let it.
    pub(super) fn plan(fetch: usize, chunks: Vec<EncodedChunk>, faults: &[Fault]) -> Self {
        let foreign = faults.iter().filter_map(|fault| match fault {
            Fault::Foreign(chunk) => Some(Ok(chunk.clone())),
            _ => None,
        });
        let mut steps: VecDeque<_> = foreign.collect();
        for chunk in chunks {
            let id = chunk.id;
            let mut step = vec![Ok(chunk)];
            for fault in faults {
                match fault {
                    Fault::Withhold(of) if *of == id => step.clear(),
                    Fault::Repeat(of) if *of == id => {
                        let again: Vec<_> = step.iter().flatten().cloned().map(Ok).collect();
                        step.extend(again);
                    }
                    Fault::Replace(of, other) if *of == id => step = vec![Ok(other.clone())],
                    Fault::Error(of, code) if *of == id => step = vec![Err(scripted(*code))],
                    _ => {}
                }
            }
            steps.extend(step);
        }
        for fault in faults {
            match fault {
                Fault::ErrorAt {
                    fetch: of,
                    chunk,
                    code,
                } if *of == fetch => {
                    steps.insert((*chunk).min(steps.len()), Err(scripted(*code)));
                }
                _ => {}
            }
        }
        Self(steps)
    }

    /// Delivers step by step, each through the gate; ends after the first failure.
    pub(super) fn stream(self, alive: Counted, gate: Option<Gate>) -> ChunkStream {
        let counters = alive.counters.clone();
        let start = async move {
            counters.change(|counts| counts.started += 1);
            stream::unfold((self.0, alive, gate), deliver_next)
        };
        stream::once(start).flatten().boxed()
    }
}

type Rest = (VecDeque<Result<EncodedChunk>>, Counted, Option<Gate>);

async fn deliver_next((mut steps, alive, gate): Rest) -> Option<(Result<EncodedChunk>, Rest)> {
    let step = steps.pop_front()?;
    if let Some(gate) = &gate {
        let _waiting = alive.counters.waiting();
        gate.pass().await;
    }
    match &step {
        Ok(chunk) => alive.counters.change(|counts| {
            counts.chunks += 1;
            counts.bytes += chunk.payload.len() as u64;
        }),
        Err(_) => steps.clear(),
    }
    Some((step, (steps, alive, gate)))
}
