//! The tables of one dataset.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::TableType;
use segue_chunk::{DatasetSchema, suggestion};
use segue_error::{Error, ErrorCode};
use segue_segment_stream::{ChunksTable, SegmentStreamTable, SegmentsTable};

use super::listing::Listing;
use super::{CHUNKS_TABLE, PUBLIC_SCHEMA, SEGMENTS_TABLE, STATIC_TABLE};

/// Tables that every dataset has, whatever its indexes.
const OWN_TABLES: [&str; 3] = [CHUNKS_TABLE, SEGMENTS_TABLE, STATIC_TABLE];

/// Where the columns of a table come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// Asked for now.
    Current,
    /// Those that the last refresh saw. What it could not read has no tables that can be opened.
    Listed,
}

/// The schema that a dataset is: a table per index, and those of its own. Read-only.
#[derive(Debug)]
pub(super) struct DatasetTables {
    dataset: Arc<str>,
    listing: Arc<Listing>,
    columns: Columns,
}

impl DatasetTables {
    pub(super) fn new(dataset: &str, listing: Arc<Listing>, columns: Columns) -> Self {
        Self {
            dataset: dataset.into(),
            listing,
            columns,
        }
    }

    /// The table `name` of the dataset, whose columns are `schema`.
    fn open(
        &self,
        name: &str,
        schema: &DatasetSchema,
    ) -> segue_error::Result<Arc<dyn TableProvider>> {
        if OWN_TABLES.contains(&name) && schema.timeline(name).is_some() {
            return Err(clash(&self.dataset, name));
        }
        let (source, dataset) = (Arc::clone(self.listing.source()), Arc::clone(&self.dataset));
        Ok(match name {
            SEGMENTS_TABLE => Arc::new(SegmentsTable::try_new(source, dataset, schema)?),
            CHUNKS_TABLE => Arc::new(ChunksTable::new(source, dataset, schema)),
            STATIC_TABLE => {
                Arc::new(SegmentStreamTable::builder(source, dataset).build_from(schema)?)
            }
            index if schema.timeline(index).is_none() => return Err(self.unknown(index, schema)),
            index => {
                let builder = SegmentStreamTable::builder(source, dataset).index(index);
                Arc::new(builder.build_from(schema)?)
            }
        })
    }

    /// The error for a table that is none of the dataset `schema`.
    fn unknown(&self, name: &str, schema: &DatasetSchema) -> Error {
        let indexes = schema.timelines.iter().map(|timeline| &*timeline.name);
        let names: Vec<&str> = indexes.chain(OWN_TABLES).collect();
        let message = format!("no index '{name}'{}", suggestion(name, &names));
        Error::new(ErrorCode::UnknownIndex, "catalog.table", message).with_fact("index", name)
    }
}

/// The error for who wants to change what a dataset holds.
pub(crate) fn read_only(dataset: &str) -> Error {
    Error::new(
        ErrorCode::Unsupported,
        "catalog.write",
        format!("dataset '{dataset}' is read-only; tables and views go to '{PUBLIC_SCHEMA}'"),
    )
    .with_fact("dataset", dataset)
}

/// The error for a timeline that has the name of a table which every dataset has.
fn clash(dataset: &str, name: &str) -> Error {
    let message = format!(
        "dataset '{dataset}' has an index '{name}', which is also the name of a table that every dataset has; \
         segment_stream('{dataset}', '{name}') reads the index"
    );
    Error::new(ErrorCode::NameClash, "catalog.table", message).with_fact("dataset", dataset)
}

#[async_trait]
impl SchemaProvider for DatasetTables {
    fn table_names(&self) -> Vec<String> {
        let Some(schema) = self.listing.schema(&self.dataset) else {
            return match self.columns {
                // Whoever lists them would open them, and fail.
                Columns::Current => Vec::new(),
                Columns::Listed => OWN_TABLES.map(str::to_owned).to_vec(),
            };
        };
        let indexes = schema.timelines.iter().map(|timeline| &*timeline.name);
        let indexes = indexes.filter(|name| !OWN_TABLES.contains(name));
        OWN_TABLES
            .into_iter()
            .chain(indexes)
            .map(str::to_owned)
            .collect()
    }

    /// The table `name`. An error where there is none: DataFusion's own for that names neither the dataset nor what
    /// exists.
    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match self.columns {
            Columns::Current => {
                let schema = self.listing.source().schema(&self.dataset).await?;
                Ok(Some(self.open(name, &schema)?))
            }
            Columns::Listed => match self.listing.schema(&self.dataset) {
                // One that cannot be opened must not end the listing that it is part of.
                Some(schema) if self.table_exist(name) => Ok(self.open(name, &schema).ok()),
                Some(schema) => Ok(Some(self.open(name, &schema)?)),
                None => Ok(None),
            },
        }
    }

    /// Answered without opening the table, so that a listing does not depend on the source.
    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        Ok(self.table_exist(name).then_some(TableType::Base))
    }

    fn register_table(
        &self,
        _name: String,
        _table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        Err(read_only(&self.dataset).into())
    }

    fn deregister_table(&self, _name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        Err(read_only(&self.dataset).into())
    }

    fn table_exist(&self, name: &str) -> bool {
        self.table_names().iter().any(|known| known == name)
    }
}
