//! Clauses about fetches.

use std::collections::HashMap;

use futures::StreamExt;

use super::plans::{by, everything};
use super::{DATASET, Expected, Verdict, decode, ensure, ensure_unknown_dataset, is_same, name};
use crate::decode::ChunkDecoder;
use crate::model::TimeRange;
use crate::source::{ChunkInfo, ChunkSource, EncodedChunk};

const ANNOUNCED: &str = "what is announced of a chunk is true";

pub(super) async fn check(source: &dyn ChunkSource, expected: &Expected) -> Verdict {
    for index in ["frame", "stamp"] {
        let request = everything(expected, by(index, TimeRange::ALL));
        let planned = source.plan(&request).await;
        let planned = planned.map_err(|e| format!("plan answers: {e}"))?;
        let fetches = Fetches {
            source,
            expected,
            planned: &planned,
            decoder: ChunkDecoder::new(expected.schema.clone().into(), Some(index.into())),
        };
        fetches.check_unknown_dataset().await?;
        fetches.check_laziness()?;
        fetches.check_selections().await?;
        fetches.check_dropped().await?;
        fetches.check_concurrent().await?;
    }
    Ok(())
}

struct Fetches<'a> {
    source: &'a dyn ChunkSource,
    expected: &'a Expected,
    planned: &'a [ChunkInfo],
    decoder: ChunkDecoder,
}

impl Fetches<'_> {
    async fn check_unknown_dataset(&self) -> Verdict {
        let clause = "fetch of a dataset that does not exist is unknown_dataset";
        let mut stream = self.source.fetch("nowhere", self.planned.to_vec());
        let first = stream.next().await;
        let first = first.ok_or_else(|| format!("{clause}: it is empty"))?;
        ensure_unknown_dataset("fetch", first)?;
        let next = stream.next().await;
        ensure(
            next.is_none(),
            "the stream ends after the first error",
            || format!("{next:?} follows"),
        )
    }

    fn check_laziness(&self) -> Verdict {
        let before = self.expected.activity();
        let stream = self.source.fetch(DATASET, self.planned.to_vec());
        let after = self.expected.activity();
        let idle = before.map(|a| a.started) == after.map(|a| a.started);
        ensure(idle, "nothing starts before the first poll", || {
            format!("{before:?} became {after:?}")
        })?;
        drop(stream);
        self.check_stopped()
    }

    /// Nothing, one, some, all, in any order, and all again.
    async fn check_selections(&self) -> Verdict {
        let planned = self.planned;
        self.check_fetch(&[]).await?;
        for info in planned {
            self.check_fetch(std::slice::from_ref(info)).await?;
        }
        let every_other: Vec<_> = planned.iter().skip(1).step_by(2).cloned().collect();
        self.check_fetch(&every_other).await?;
        let mut turned = planned.to_vec();
        turned.reverse();
        self.check_fetch(&turned).await?;
        turned.rotate_left(planned.len() / 3);
        self.check_fetch(&turned).await?;
        for _ in 0..2 {
            self.check_fetch(planned).await?;
        }
        Ok(())
    }

    /// A stream that is dropped after any number of chunks stops and spoils nothing.
    async fn check_dropped(&self) -> Verdict {
        for delivered in 0..self.planned.len() {
            let mut stream = self.source.fetch(DATASET, self.planned.to_vec());
            for _ in 0..delivered {
                stream.next().await;
            }
            drop(stream);
            self.check_stopped()?;
        }
        let verdict = self.check_fetch(self.planned).await;
        verdict.map_err(|reason| format!("dropping a stream spoils no other: {reason}"))
    }

    fn check_stopped(&self) -> Verdict {
        let activity = self.expected.activity();
        let stopped = activity.is_none_or(|activity| activity.running == 0);
        ensure(stopped, "dropping the stream stops the work", || {
            format!("{activity:?}")
        })
    }

    /// Streams over the same and over other chunks, at once and chunk by chunk in turns.
    async fn check_concurrent(&self) -> Verdict {
        let planned = self.planned;
        let half: Vec<_> = planned.iter().step_by(2).cloned().collect();
        let clause = "streams do not disturb each other";
        let (a, b, c) = futures::join!(
            self.check_fetch(planned),
            self.check_fetch(planned),
            self.check_fetch(&half),
        );
        a.and(b)
            .and(c)
            .map_err(|reason| format!("{clause}: {reason}"))?;

        let open = |infos: &[ChunkInfo]| self.source.fetch(DATASET, infos.to_vec());
        let mut streams = [open(planned), open(planned), open(&half)];
        let (mut delivered, mut ended) = (0, 0);
        while ended < streams.len() {
            ended = 0;
            for stream in &mut streams {
                match stream.next().await {
                    Some(item) => delivered += usize::from(item.is_ok()),
                    None => ended += 1,
                }
            }
        }
        let wanted = 2 * planned.len() + half.len();
        ensure(delivered == wanted, clause, || {
            format!("{delivered} chunks where {wanted} are wanted")
        })
    }

    /// Fetches `chunks` and checks that just these come, each once, as they are stored and announced.
    async fn check_fetch(&self, chunks: &[ChunkInfo]) -> Verdict {
        let key = |info: &ChunkInfo| (info.segment.clone(), info.id);
        let mut open: HashMap<_, _> = chunks.iter().map(|info| (key(info), info)).collect();
        let mut stream = self.source.fetch(DATASET, chunks.to_vec());
        while let Some(item) = stream.next().await {
            let encoded = item.map_err(|e| format!("fetch delivers what plan named: {e}"))?;
            let Some(info) = open.remove(&(encoded.segment.clone(), encoded.id)) else {
                let (id, segment) = (encoded.id, encoded.segment);
                let clause = "fetch delivers each chunk that it is asked for once, and no other";
                return Err(format!(
                    "{clause}: chunk {id} of segment '{segment}' is too much"
                ));
            };
            self.check_delivered(info, &encoded)?;
        }
        ensure(
            open.is_empty(),
            "fetch delivers every chunk that it is asked for",
            || {
                let missing: Vec<_> = open.values().map(|info| name(info)).collect();
                format!("{} never came", missing.join(", "))
            },
        )
    }

    fn check_delivered(&self, info: &ChunkInfo, encoded: &EncodedChunk) -> Verdict {
        let stored = self.expected.stored(info)?;
        ensure(
            is_same(&decode(encoded)?, stored),
            "a chunk comes as it was stored",
            || name(info),
        )?;
        let (sent, stated) = (encoded.payload.len() as u64, info.byte_len);
        ensure(sent <= stated, ANNOUNCED, || {
            format!("byte_len of {} is {stated}, {sent} bytes came", name(info))
        })?;
        let decoded = self.decoder.decode(info, encoded);
        let decoded = decoded.map_err(|e| format!("{ANNOUNCED}: {e}"))?;
        ensure(
            is_same(&decoded, stored),
            "a chunk comes as it was stored",
            || name(info),
        )
    }
}
