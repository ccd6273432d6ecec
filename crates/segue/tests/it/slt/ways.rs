//! Sessions in which the statements run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use async_trait::async_trait;
use datafusion::catalog::MemorySchemaProvider;
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use segue::SegueSession;
use segue::chunk::{ChunkSource, LocalSource};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};

use crate::support::{examples, query, repository, session, session_at};

/// Where the rows come from.
pub(super) enum Way {
    Source(Arc<dyn ChunkSource>),
    /// By schema and name.
    Plain(BTreeMap<(String, String), RecordBatch>),
}

/// The recordings of the repository.
pub(super) fn folders() -> LocalSource {
    let folder = repository("examples/recordings");
    LocalSource::builder().folder(folder).build().unwrap()
}

impl Way {
    /// All tables of the catalog, read once.
    pub(super) async fn plain() -> Self {
        let session = session(examples()).await;
        let listed = query(
            &session,
            "SELECT table_schema, table_name FROM information_schema.tables \
             WHERE table_schema IN ('robots', 'drive')",
        );
        let mut tables = BTreeMap::new();
        let listed = listed.await;
        for row in 0..listed.num_rows() {
            let text = |column: usize| {
                arrow::util::display::array_value_to_string(listed.column(column), row).unwrap()
            };
            let (schema, table) = (text(0), text(1));
            let sql = format!("SELECT * FROM {schema}.\"{table}\"");
            tables.insert((schema, table), query(&session, &sql).await);
        }
        assert!(tables.len() >= 8);
        Self::Plain(tables)
    }
}

/// One session, and how many statements have run.
pub(super) struct Database {
    session: Session,
    ran: Arc<AtomicUsize>,
}

enum Session {
    Segue(Box<SegueSession>),
    Plain(Box<SessionContext>),
}

impl Database {
    pub(super) async fn open(
        way: &Way,
        partitions: usize,
        batch_size: usize,
        ran: Arc<AtomicUsize>,
    ) -> Result<Self, DataFusionError> {
        let tables = match way {
            Way::Source(source) => {
                let session = session_at(Arc::clone(source), partitions, batch_size);
                let session = Session::Segue(Box::new(session.await));
                return Ok(Self { session, ran });
            }
            Way::Plain(tables) => tables,
        };
        let config = SessionConfig::new()
            .with_target_partitions(partitions)
            .with_batch_size(batch_size);
        let context = SessionContext::new_with_config(config);
        let catalog = context.catalog("datafusion").unwrap();
        for schema in ["robots", "drive"] {
            catalog.register_schema(schema, Arc::new(MemorySchemaProvider::new()))?;
        }
        for ((schema, name), rows) in tables {
            let table = MemTable::try_new(rows.schema(), vec![vec![rows.clone()]])?;
            let schema = catalog.schema(schema).unwrap();
            schema.register_table(name.clone(), Arc::new(table))?;
        }
        let session = Session::Plain(Box::new(context));
        Ok(Self { session, ran })
    }

    async fn answer(&self, sql: &str) -> Result<Vec<RecordBatch>, DataFusionError> {
        self.ran.fetch_add(1, Ordering::Relaxed);
        let frame = match &self.session {
            Session::Segue(session) => session.sql(sql).await?,
            Session::Plain(context) => context.sql(sql).await?,
        };
        frame.collect().await
    }
}

#[async_trait]
impl AsyncDB for Database {
    type Error = DataFusionError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, DataFusionError> {
        let batches = self.answer(sql).await?;
        let Some(first) = batches.first() else {
            let types = Vec::new();
            return Ok(DBOutput::Rows {
                types,
                rows: Vec::new(),
            });
        };
        let types = vec![DefaultColumnType::Any; first.num_columns()];
        let mut rows = Vec::new();
        for batch in &batches {
            let options = FormatOptions::new().with_null("NULL");
            let columns = batch.columns().iter();
            let columns = columns.map(|column| ArrayFormatter::try_new(column, &options));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            rows.extend((0..batch.num_rows()).map(|row| {
                let cells = columns.iter().map(|column| column.value(row).to_string());
                let cells = cells.map(|text| match text.is_empty() {
                    true => "(empty)".to_owned(),
                    false => text,
                });
                cells.collect::<Vec<_>>()
            }));
        }
        Ok(DBOutput::Rows { types, rows })
    }

    async fn shutdown(&mut self) {}
}
