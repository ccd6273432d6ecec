//! `segment_stream(…)`: a dataset by an index as a table, with options.
//!
//! DataFusion's own table functions take no named arguments, so a relation planner plans the call; a function of the
//! same name is registered as well, so that `SHOW FUNCTIONS` has it.

mod call;
mod options;
mod planner;
mod stub;
mod value;

use std::sync::Arc;

use datafusion::execution::SessionState;
use segue_error::{Result, from_datafusion};

use crate::catalog::Listing;
pub(crate) use planner::call_of;

/// Name of the function.
pub(crate) const NAME: &str = "segment_stream";

/// Makes the function known to a session. It reads the datasets of `listing`.
pub(crate) fn register(state: &mut SessionState, listing: Arc<Listing>) -> Result<()> {
    let planner = Arc::new(planner::Planner::new(listing));
    let registered = state.register_relation_planner(planner);
    registered.map_err(|error| from_datafusion(error, "function.register"))?;
    state.register_udtf(NAME, Arc::new(stub::Stub));
    Ok(())
}
