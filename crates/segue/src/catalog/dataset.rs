//! The tables of one dataset.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::TableType;
use segue_error::{Error, ErrorCode};
use segue_segment_stream::SegmentStreamTable;

use super::listing::Listing;
use super::{PUBLIC_SCHEMA, STATIC_TABLE};

/// The schema that a dataset is: a table per index, and `_static`. Read-only.
#[derive(Debug)]
pub(super) struct DatasetTables {
    dataset: Arc<str>,
    listing: Arc<Listing>,
}

impl DatasetTables {
    pub(super) fn new(dataset: &str, listing: Arc<Listing>) -> Self {
        Self {
            dataset: dataset.into(),
            listing,
        }
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

/// The error for a timeline whose table would have the name of the static one.
fn static_clash(dataset: &str) -> Error {
    Error::new(
        ErrorCode::NameClash,
        "catalog.table",
        format!(
            "dataset '{dataset}' has an index '{STATIC_TABLE}', which is also the name of the table \
             of static values; both can be read from Rust only"
        ),
    )
    .with_fact("dataset", dataset)
}

#[async_trait]
impl SchemaProvider for DatasetTables {
    fn table_names(&self) -> Vec<String> {
        let Some(schema) = self.listing.schema(&self.dataset) else {
            return Vec::new();
        };
        let mut names = vec![STATIC_TABLE.to_owned()];
        let indexes = schema.timelines.iter().map(|timeline| &*timeline.name);
        names.extend(
            indexes
                .filter(|name| *name != STATIC_TABLE)
                .map(str::to_owned),
        );
        names
    }

    /// The table of the index `name`. Never `None`: DataFusion's own error for that names neither the
    /// dataset nor what exists.
    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let source = Arc::clone(self.listing.source());
        if name == STATIC_TABLE && source.schema(&self.dataset).await?.timeline(name).is_some() {
            return Err(static_clash(&self.dataset).into());
        }
        let mut builder = SegmentStreamTable::builder(source, Arc::clone(&self.dataset));
        if name != STATIC_TABLE {
            builder = builder.index(name);
        }
        let table = builder.build().await?;
        Ok(Some(Arc::new(table)))
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
        let schema = self.listing.schema(&self.dataset);
        schema.is_some_and(|schema| name == STATIC_TABLE || schema.timeline(name).is_some())
    }
}
