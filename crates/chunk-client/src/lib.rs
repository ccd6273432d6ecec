//! Recordings of a catalog server as a [`ChunkSource`](segue_chunk::ChunkSource).
