//! The public behaviour of Segue, from SQL to rows.

mod catalog;
mod errors;
mod golden;
mod memory;
mod plans;
mod reports;
mod support;
