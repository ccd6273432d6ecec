//! The writable schema.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::error::Result;
use segue_error::{Error, ErrorCode};

use super::listing::Listing;
use super::{PUBLIC_SCHEMA, STATIC_TABLE};
use crate::function;

/// Views and tables of the user, in memory.
///
/// Also the place where a lone name is looked up, so it knows the names of the datasets: whoever writes
/// `FROM robots` learns that a dataset is not a table. That costs no request, and a name that is no
/// dataset is left to DataFusion, which may know a function of that name.
#[derive(Debug)]
pub(super) struct PublicTables {
    tables: MemorySchemaProvider,
    listing: Arc<Listing>,
}

impl PublicTables {
    pub(super) fn new(listing: Arc<Listing>) -> Self {
        Self {
            tables: MemorySchemaProvider::new(),
            listing,
        }
    }

    /// Why `name` is no table, where that is known.
    fn explain(&self, name: &str) -> Option<Error> {
        if name == function::NAME {
            return None;
        }
        let error = |code, message| Error::new(code, "catalog.table", message);
        if self.listing.has_dataset(name) {
            let example = match self.listing.schema(name).as_deref() {
                Some(schema) => schema.timelines.first().map(|t| t.name.to_string()),
                None => None,
            };
            let index = example.unwrap_or_else(|| "INDEX".to_owned());
            let message = format!(
                "'{name}' is a dataset, not a table; its tables are its indexes: {name}.{index}"
            );
            return Some(error(ErrorCode::UnknownIndex, message).with_fact("dataset", name));
        }
        let hidden = self.listing.schema(PUBLIC_SCHEMA);
        if hidden.is_some_and(|hidden| name == STATIC_TABLE || hidden.timeline(name).is_some()) {
            let message = format!(
                "no table '{name}' in schema '{PUBLIC_SCHEMA}', which hides the dataset of that name; \
                 give the dataset another name to read it"
            );
            return Some(error(ErrorCode::NameClash, message).with_fact("dataset", PUBLIC_SCHEMA));
        }
        None
    }
}

#[async_trait]
impl SchemaProvider for PublicTables {
    fn table_names(&self) -> Vec<String> {
        let mut names = self.tables.table_names();
        names.sort_unstable();
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let table = self.tables.table(name).await?;
        match (&table, self.explain(name)) {
            (None, Some(error)) => Err(error.into()),
            _ => Ok(table),
        }
    }

    fn register_table(
        &self,
        name: String,
        table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        self.tables.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.tables.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.tables.table_exist(name)
    }
}
