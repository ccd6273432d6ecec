//! The session that a program or the command line uses.

use std::sync::Arc;

use datafusion::catalog::information_schema::INFORMATION_SCHEMA;
use datafusion::catalog::{CatalogProvider, CatalogProviderList as _, MemoryCatalogProviderList};
use datafusion::common::TableReference;
use datafusion::dataframe::DataFrame;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::planner::object_name_to_table_reference;
use segue_chunk::ChunkSource;
use segue_error::{Error, ErrorCode, Result};
use segue_segment_stream::StreamHandles;

use crate::catalog::{PUBLIC_SCHEMA, SegueCatalog, read_only};
use crate::function;
use crate::install::{DEFAULT_CATALOG, configure};
use crate::message::name_unknown_column;
use crate::statement::{Needs, written};

/// A DataFusion session whose default catalog is a source of recordings.
///
/// Datasets are schemas and indexes are tables: `SELECT * FROM robots.log_time`. Names are those of the
/// recordings; DataFusion turns unquoted names into lower case, so `"Robots"."Frame"` needs its quotes,
/// and so does a component column such as `"/sensor/temp:Scalars:scalars"`. `CREATE VIEW` and
/// `CREATE TABLE` write to the schema `public`, in memory.
///
/// Making a session fails with Segue's error; SQL fails with DataFusion's, as everything that follows
/// from a [`DataFrame`] does. [`find_segue_error`](segue_error::find_segue_error) finds ours inside it and
/// [`error_message`](crate::error_message) makes one line of either.
#[derive(Clone)]
pub struct SegueSession {
    context: SessionContext,
    catalog: Arc<SegueCatalog>,
    catalog_name: Arc<str>,
}

impl SegueSession {
    /// Starts to describe a session.
    pub fn builder() -> SegueSessionBuilder {
        SegueSessionBuilder::default()
    }

    /// Plans one SQL statement. Data is read when the result is; a statement that defines or sets
    /// something is carried out now.
    ///
    /// Before a listing (`SHOW TABLES`, and in `information_schema` what lists tables or columns) the columns of all
    /// datasets are asked for; [`SegueCatalog::unreadable`] has those that cannot be read. An unknown column is the
    /// error `unknown_column`, with the nearest names.
    pub async fn sql(&self, sql: &str) -> datafusion::error::Result<DataFrame> {
        self.run(sql).await.map_err(name_unknown_column)
    }

    async fn run(&self, sql: &str) -> datafusion::error::Result<DataFrame> {
        let state = self.context.state();
        let dialect = state.config().options().sql_parser.dialect;
        let statement = state.sql_to_statement(sql, &dialect)?;
        let references = state.resolve_table_references(&statement)?;
        let needs = Needs::of(&statement, &references);
        if let Some(name) = written(&statement) {
            let normalize = state
                .config()
                .options()
                .sql_parser
                .enable_ident_normalization;
            self.refuse_change(object_name_to_table_reference(name.clone(), normalize)?)?;
        }
        let lists = needs.listing;
        let state = self.prepare(needs).await?;
        let plan = state.statement_to_plan(statement).await;
        // To a listing, a table of a dataset that cannot be read is one that is not there.
        let plan = plan.map_err(|error| match self.unreadable(&references) {
            Some(why) if lists => why.into(),
            _ => error,
        })?;
        match &plan {
            LogicalPlan::Ddl(DdlStatement::DropTable(drop)) => {
                self.refuse_change(drop.name.clone())?;
            }
            LogicalPlan::Ddl(DdlStatement::DropView(drop)) => {
                self.refuse_change(drop.name.clone())?;
            }
            _ => {}
        }
        self.context.execute_logical_plan(plan).await
    }

    /// Asks for what planning needs and cannot wait for. Gives the state to plan in.
    async fn prepare(&self, needs: Needs) -> Result<SessionState> {
        if needs.all {
            self.catalog.refresh().await?;
        } else {
            if needs.names {
                self.catalog.datasets().await?;
            }
            self.catalog.listing().load(needs.datasets).await?;
        }
        match needs.listing {
            true => Ok(self.listed()),
            false => Ok(self.context.state()),
        }
    }

    /// Why the first dataset among `references` that cannot be read cannot be.
    fn unreadable(&self, references: &[TableReference]) -> Option<Error> {
        let is_ours = |catalog: &str| *catalog == *self.catalog_name;
        let ours = references
            .iter()
            .filter(|name| name.catalog().is_none_or(is_ours));
        let datasets = ours.filter_map(|name| name.schema());
        let unreadable = self.catalog.unreadable();
        let of = |dataset: &str| unreadable.iter().find(|(name, _)| name == dataset);
        datasets
            .into_iter()
            .find_map(of)
            .map(|(_, error)| error.clone())
    }

    /// The session, but that the catalog of recordings is as the last refresh has seen it.
    fn listed(&self) -> SessionState {
        let state = self.context.state();
        let catalogs = MemoryCatalogProviderList::new();
        for name in state.catalog_list().catalog_names() {
            let catalog: Option<Arc<dyn CatalogProvider>> = match *name == *self.catalog_name {
                true => Some(Arc::new(self.catalog.listed())),
                false => state.catalog_list().catalog(&name),
            };
            if let Some(catalog) = catalog {
                catalogs.register_catalog(name, catalog);
            }
        }
        let state = SessionStateBuilder::new_from_existing(state);
        state.with_catalog_list(Arc::new(catalogs)).build()
    }

    /// Refuses to make, change or drop the table `name` of a dataset: DataFusion would say that there is none.
    fn refuse_change(&self, name: TableReference) -> Result<()> {
        let config = self.context.copied_config();
        let defaults = &config.options().catalog;
        let name = name.resolve(&defaults.default_catalog, &defaults.default_schema);
        let is_ours = *name.catalog == *self.catalog_name;
        if is_ours && ![PUBLIC_SCHEMA, INFORMATION_SCHEMA].contains(&&*name.schema) {
            return Err(read_only(&name.schema));
        }
        Ok(())
    }

    /// DataFusion's session, to register what else a query needs or to build plans without SQL.
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// The catalog of recordings.
    pub fn catalog(&self) -> &Arc<SegueCatalog> {
        &self.catalog
    }
}

impl std::fmt::Debug for SegueSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegueSession")
            .field("session_id", &self.context.session_id())
            .field("catalog", &self.catalog)
            .finish()
    }
}

/// What a [`SegueSession`] is made of. Only a source is needed.
#[derive(Default)]
pub struct SegueSessionBuilder {
    source: Option<Arc<dyn ChunkSource>>,
    config: Option<SessionConfig>,
    runtime: Option<Arc<RuntimeEnv>>,
    handles: Option<StreamHandles>,
    catalog_name: Option<String>,
}

impl SegueSessionBuilder {
    /// Where the recordings come from.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn ChunkSource>) -> Self {
        self.source = Some(source);
        self
    }

    /// DataFusion's settings, such as the number of partitions. The default catalog and schema in them
    /// are replaced, and `information_schema` is switched on.
    #[must_use]
    pub fn with_session_config(mut self, config: SessionConfig) -> Self {
        self.config = Some(config);
        self
    }

    /// Memory pool, disk for spilling and caches; DataFusion's defaults (no memory limit) unless given.
    #[must_use]
    pub fn with_runtime_env(mut self, runtime: Arc<RuntimeEnv>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// The memory window, threads and runtime that reads of recordings use in place of the shared ones.
    #[must_use]
    pub fn with_stream_handles(mut self, handles: StreamHandles) -> Self {
        self.handles = Some(handles);
        self
    }

    /// Name of the catalog of recordings, `segue` unless given.
    #[must_use]
    pub fn with_catalog_name(mut self, name: impl Into<String>) -> Self {
        self.catalog_name = Some(name.into());
        self
    }

    /// Connects to the source and makes the session. `invalid_argument` without a source; otherwise what
    /// the source says when it cannot list its datasets.
    pub async fn build(self) -> Result<SegueSession> {
        let source = self.source.ok_or_else(|| {
            Error::new(
                ErrorCode::InvalidArgument,
                "session.build",
                "a session needs a source of recordings, and none was given",
            )
        })?;
        let catalog = Arc::new(SegueCatalog::connect(source).await?);
        let name = self
            .catalog_name
            .unwrap_or_else(|| DEFAULT_CATALOG.to_owned());
        let mut config = self
            .config
            .unwrap_or_default()
            .with_default_catalog_and_schema(&name, PUBLIC_SCHEMA)
            .with_create_default_catalog_and_schema(false)
            .with_information_schema(true);
        configure(&mut config);
        limit_buffers(&mut config);
        if let Some(handles) = self.handles {
            config = handles.set_in(config);
        }
        let mut state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features();
        if let Some(runtime) = self.runtime {
            state = state.with_runtime_env(runtime);
        }
        let mut state = state.build();
        function::register(&mut state, Arc::clone(catalog.listing()))?;
        let context = SessionContext::new_with_state(state);
        context.register_catalog(&name, Arc::clone(&catalog) as _);
        Ok(SegueSession {
            context,
            catalog,
            catalog_name: name.into(),
        })
    }
}

impl std::fmt::Debug for SegueSessionBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegueSessionBuilder")
            .field("source", &self.source)
            .field("catalog_name", &self.catalog_name)
            .finish_non_exhaustive()
    }
}

/// Bytes that a merge may read ahead per partition when a scan's order replaces a sort.
const MERGE_READ_AHEAD: usize = 1024 * 1024;

/// Lowers DataFusion's read-ahead below a merge, unless the caller chose one: the scan has a bounded
/// window of its own, and the default (1 GiB a partition) would hold a whole recording.
fn limit_buffers(config: &mut SessionConfig) {
    let default = SessionConfig::new();
    let default = default.options().execution.sort_pushdown_buffer_capacity;
    let chosen = &mut config.options_mut().execution.sort_pushdown_buffer_capacity;
    if *chosen == default {
        *chosen = MERGE_READ_AHEAD;
    }
}
