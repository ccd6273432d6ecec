//! Folders of recordings as a catalog server.
