//! What a stream holds, and that it goes on, whatever the source, the consumer and the limits do. No sockets, and a
//! clock that stands still while anybody has something to do.

mod delayed;
mod named;
mod property;

use std::sync::Arc;
use std::time::Duration;

use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool, UnboundedMemoryPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use segue_chunk::Chunk;
use segue_chunk::testing::ChunkBuilder;
use segue_segment_stream::{CpuPool, MemoryWindow, StreamHandles};

const ITEMS: &str = "Scan:ranges";

/// A session whose streams hold memory in `window`, and take it from a pool of `pool` bytes.
struct Limited {
    context: SessionContext,
    window: MemoryWindow,
    pool: Arc<dyn MemoryPool>,
}

impl Limited {
    fn new(config: SessionConfig, window: MemoryWindow, pool: Option<usize>) -> Self {
        let pool: Arc<dyn MemoryPool> = match pool {
            Some(bytes) => Arc::new(GreedyMemoryPool::new(bytes)),
            None => Arc::new(UnboundedMemoryPool::default()),
        };
        let handles = StreamHandles::default()
            .with_window(window.clone())
            .with_cpu(Arc::new(CpuPool::inline()));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool));
        let runtime: Arc<RuntimeEnv> = Arc::new(runtime.build().unwrap());
        let context = SessionContext::new_with_config_rt(handles.set_in(config), runtime);
        Self {
            context,
            window,
            pool,
        }
    }

    /// Checks that nothing is held, once all tasks have had their turn.
    async fn is_free(&self) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((self.window.held(), self.pool.reserved()), (0, 0));
    }
}

/// Fails if `work` does not come to an end: the clock only moves when nobody can go on.
async fn ends<T>(window: &MemoryWindow, work: impl Future<Output = T>) -> T {
    let outcome = tokio::time::timeout(Duration::from_secs(24 * 3600), work).await;
    outcome.unwrap_or_else(|_| panic!("it got stuck: {window:#?}"))
}

/// A chunk with a list of so many items on each of `frames`.
fn chunk(id: u64, segment: &str, entity: &str, frames: &[(i64, usize)]) -> Chunk {
    let lists = frames
        .iter()
        .map(|(frame, items)| Some(vec![*frame as f64; *items]));
    ChunkBuilder::new(segment, entity)
        .id(id)
        .sequence("frame", frames.iter().map(|(frame, _)| *frame))
        .lists(ITEMS, lists)
        .build()
}
