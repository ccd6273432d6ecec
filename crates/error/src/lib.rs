//! One error type for every Segue crate.
//!
//! An [`Error`] says what went wrong ([`ErrorCode`]), what was being done (`operation`), a sentence
//! for the person who asked (`message`), typed [`Facts`] for programs, and what caused it
//! (`source`). It is one pointer wide, so a `Result` costs no more than what it carries, and it
//! clones cheaply enough to be told to every partition of a query.
//!
//! ```
//! use segue_error::{Error, ErrorCode, ErrorKind, FactValue};
//!
//! let error = Error::new(ErrorCode::UnknownDataset, "catalog.dataset", "no dataset `drives`")
//!     .with_fact("dataset", "drives")
//!     .with_private_fact("sql", "SELECT * FROM drives");
//!
//! assert_eq!(error.to_string(), "no dataset `drives`");
//! assert_eq!(error.kind(), ErrorKind::NotFound);
//! assert_eq!(error.fact("dataset"), Some(&FactValue::from("drives")));
//! assert!(!format!("{error:?}").contains("SELECT"));
//! ```
//!
//! # Who may see what
//!
//! | through | shows |
//! |---|---|
//! | `Display`, [`Error::message`] | the message as it was written |
//! | [`Error::facts`], [`Error::fact`] | every fact, private ones included |
//! | `Debug`, [`Error::log_view`] | one bounded line without private facts and without secrets |
//!
//! Log an error as `tracing::warn!(error = %error.log_view())`. The redaction goes by shape (URLs,
//! `name=value`, authentication schemes, known token prefixes): it is a net under the rule that
//! secrets do not belong into messages, not a replacement for it.
//!
//! # Decisions by code only
//!
//! Kind, persistence and retryability come from the code's row in one table; nothing in Segue
//! reads the text of an error to decide something. Which of several errors of a query is *the*
//! error is decided by [`Error::prefer`].
//!
//! # DataFusion
//!
//! With the feature `datafusion`, an [`Error`] converts into a `DataFusionError` and is found again
//! inside one, however DataFusion has wrapped it meanwhile: see `find_segue_error` and
//! `from_datafusion`.

mod code;
#[cfg(feature = "datafusion")]
mod datafusion;
mod error;
mod fact;
mod redact;
mod view;

pub use code::{ErrorCode, ErrorKind, Persistence};
#[cfg(feature = "datafusion")]
pub use datafusion::{find_segue_error, from_datafusion};
pub use error::{Error, Result};
pub use fact::{Fact, FactValue, Facts};
pub use view::LogView;
