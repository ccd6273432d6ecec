//! The function as DataFusion lists it.

use std::sync::Arc;

use datafusion::catalog::{TableFunctionImpl, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use segue_error::{Error, ErrorCode};

use super::NAME;

/// Shows up in `SHOW FUNCTIONS`. It is never called where the planner is registered as well.
#[derive(Debug)]
pub(super) struct Stub;

impl TableFunctionImpl for Stub {
    fn call(&self, _arguments: &[Expr]) -> Result<Arc<dyn TableProvider>> {
        let message =
            format!("{NAME} needs a session that plans it; Segue was not installed there");
        Err(Error::new(ErrorCode::Unsupported, "segment_stream.call", message).into())
    }
}
