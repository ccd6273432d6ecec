//! Keys of field and schema metadata in recordings and catalogs.

/// What a column is: `control`, `index` or `data`.
pub const KIND: &str = "rerun:kind";
/// Name of the timeline that an index column holds.
pub const INDEX_NAME: &str = "rerun:index_name";
/// Name of the timeline that a column of bounds is about.
pub const INDEX: &str = "rerun:index";
/// Kind of that timeline: `duration`, `timestamp` or `sequence`.
pub const INDEX_KIND: &str = "rerun:index_kind";
/// Which bound a column of bounds holds: `start` or `end`.
pub const INDEX_MARKER: &str = "rerun:index_marker";
/// Entity that a component column belongs to; on a chunk's schema, the entity of the chunk.
pub const ENTITY_PATH: &str = "rerun:entity_path";
/// Name of the component in a component column.
pub const COMPONENT: &str = "rerun:component";
/// Archetype that the component is a field of.
pub const ARCHETYPE: &str = "rerun:archetype";
/// Type name of the component.
pub const COMPONENT_TYPE: &str = "rerun:component_type";
/// `true` on columns with a static value somewhere in the dataset.
pub const IS_STATIC: &str = "rerun:is_static";
/// `true` on the columns that Clear itself writes.
pub const IS_TOMBSTONE: &str = "rerun:is_tombstone";
/// `true` on columns whose every value is empty.
pub const IS_SEMANTICALLY_EMPTY: &str = "rerun:is_semantically_empty";
/// `true` on columns whose values ascend.
pub const IS_SORTED: &str = "rerun:is_sorted";
/// Identity of a chunk, on its schema.
pub const CHUNK_ID: &str = "rerun:id";
/// Version of the chunk encoding, on its schema.
pub const SORBET_VERSION: &str = "sorbet:version";

/// Name of the row id column of a chunk.
pub const ROW_ID_COLUMN: &str = "rerun.controls.RowId";
/// Component by which Clear says whether it reaches the entities below, too.
pub const CLEAR_COMPONENT: &str = "Clear:is_recursive";
/// Name of the table column that holds the row ids, where there is one.
pub const ROW_ID_TABLE_COLUMN: &str = "rerun_row_id";
/// Name of the table column that holds the segment.
pub const SEGMENT_ID_COLUMN: &str = "rerun_segment_id";
