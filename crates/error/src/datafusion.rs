//! To `DataFusionError` and back.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use datafusion::arrow::error::ArrowError;
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;

use crate::{Error, ErrorCode};

/// How many links a chain of causes is followed. DataFusion adds a handful.
const MAX_DEPTH: usize = 64;
/// How many errors are looked at in all, over every branch of a `Collection`.
const MAX_NODES: usize = 256;

impl From<Error> for DataFusionError {
    /// Wraps the error once, as `External`.
    fn from(error: Error) -> Self {
        Self::External(Box::new(error))
    }
}

/// The Segue error inside a `DataFusionError`.
///
/// Looks through `External`, `Context`, `Shared`, `Collection`, `Diagnostic`, Arrow's external
/// error, I/O errors with a payload and everything that has a `source()`; of several the first
/// *specific* one (see [`ErrorCode::is_specific`]) is the answer, else the first. Looks at no more
/// than 256 errors and no deeper than 64, so a chain that runs in a circle ends.
pub fn find_segue_error(error: &DataFusionError) -> Option<&Error> {
    let mut first = None;
    for node in Nodes::new(error) {
        if let Some(found) = as_segue(node) {
            if found.is_specific() {
                return Some(found);
            }
            first = first.or(Some(found));
        }
    }
    first
}

/// Makes a Segue error of a `DataFusionError`.
///
/// A Segue error inside it comes out as it went in. Otherwise the code is chosen by the variant of
/// the first error that has one of its own, looking at the same errors as [`find_segue_error`];
/// text is never read. The given error becomes the source, unless it holds an empty `Collection`,
/// which cannot be printed. `operation` says what was being done.
pub fn from_datafusion(error: DataFusionError, operation: &'static str) -> Error {
    if let Some(found) = find_segue_error(&error) {
        return found.clone();
    }
    let (code, message) = classify(&error);
    let converted = Error::new(code, operation, message);
    // DataFusion panics when it prints a collection of nothing, and a source gets printed.
    if Nodes::new(&error).any(is_empty_collection) {
        return converted;
    }
    converted.with_source(error)
}

/// The code and message of an error without a Segue error inside.
fn classify(error: &DataFusionError) -> (ErrorCode, String) {
    let mut fallback = None;
    for node in Nodes::new(error) {
        match code_of(node) {
            Some(code) if code.is_specific() => return (code, text_of(node)),
            Some(code) => fallback = fallback.or(Some((code, node))),
            None => {}
        }
    }
    match fallback {
        Some((code, node)) => (code, text_of(node)),
        None => (
            ErrorCode::Internal,
            "the query failed with an error that names no cause within reach".to_owned(),
        ),
    }
}

/// The code of one error of a chain; `None` if it only wraps others.
fn code_of(node: &(dyn StdError + 'static)) -> Option<ErrorCode> {
    if let Some(error) = as_datafusion(node) {
        return code_of_datafusion(error);
    }
    if let Some(error) = node.downcast_ref::<ArrowError>() {
        return code_of_arrow(error);
    }
    if let Some(error) = node.downcast_ref::<io::Error>() {
        return code_of_io(error);
    }
    // Somebody else's error: a leaf is a failure without a code, the rest wraps one.
    node.source().is_none().then_some(ErrorCode::Internal)
}

fn code_of_datafusion(error: &DataFusionError) -> Option<ErrorCode> {
    Some(match error {
        DataFusionError::SQL(..) | DataFusionError::Plan(_) => ErrorCode::InvalidExecutionPlan,
        DataFusionError::SchemaError(error, _) => match error.as_ref() {
            SchemaError::FieldNotFound { .. } => ErrorCode::UnknownColumn,
            SchemaError::AmbiguousReference { .. }
            | SchemaError::DuplicateQualifiedField { .. }
            | SchemaError::DuplicateUnqualifiedField { .. } => ErrorCode::NameClash,
        },
        DataFusionError::Configuration(_) => ErrorCode::InvalidOption,
        DataFusionError::NotImplemented(_) => ErrorCode::Unsupported,
        DataFusionError::ResourcesExhausted(_) => ErrorCode::MemoryReservationFailed,
        DataFusionError::ExecutionJoin(error) if error.is_cancelled() => ErrorCode::Cancelled,
        // A task that panicked.
        DataFusionError::ExecutionJoin(_) => ErrorCode::Invariant,
        DataFusionError::ArrowError(..)
        | DataFusionError::IoError(_)
        | DataFusionError::External(_)
        | DataFusionError::Context(..)
        | DataFusionError::Diagnostic(..)
        | DataFusionError::Collection(_)
        | DataFusionError::Shared(_) => return None,
        // Internal, Execution and the rest, some of which exist under features only.
        _ => ErrorCode::Internal,
    })
}

fn code_of_arrow(error: &ArrowError) -> Option<ErrorCode> {
    Some(match error {
        ArrowError::ExternalError(_) | ArrowError::IoError(..) => return None,
        ArrowError::NotYetImplemented(_) => ErrorCode::Unsupported,
        ArrowError::MemoryError(_) => ErrorCode::MemoryReservationFailed,
        // What a query computes with the values it is given.
        ArrowError::CastError(_)
        | ArrowError::ParseError(_)
        | ArrowError::DivideByZero
        | ArrowError::ArithmeticOverflow(_) => ErrorCode::InvalidArgument,
        _ => ErrorCode::Internal,
    })
}

fn code_of_io(error: &io::Error) -> Option<ErrorCode> {
    Some(match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        // The payload of an `other` error says more than that it is one.
        io::ErrorKind::Other if error.get_ref().is_some() => return None,
        _ => ErrorCode::StorageUnavailable,
    })
}

/// The text of one error that does not wrap others, so that printing it cannot recurse.
fn text_of(node: &(dyn StdError + 'static)) -> String {
    match as_datafusion(node) {
        // Without the prefix that names the variant: the code says that already.
        Some(error) => error.message().into_owned(),
        None => node.to_string(),
    }
}

fn as_segue<'a>(node: &'a (dyn StdError + 'static)) -> Option<&'a Error> {
    // A smart pointer around an error is an error of another type, with the source of the inner.
    node.downcast_ref::<Error>()
        .or_else(|| node.downcast_ref::<Arc<Error>>().map(Arc::as_ref))
        .or_else(|| node.downcast_ref::<Box<Error>>().map(Box::as_ref))
}

fn as_datafusion<'a>(node: &'a (dyn StdError + 'static)) -> Option<&'a DataFusionError> {
    node.downcast_ref::<DataFusionError>()
        .or_else(|| node.downcast_ref::<Arc<DataFusionError>>().map(Arc::as_ref))
        .or_else(|| node.downcast_ref::<Box<DataFusionError>>().map(Box::as_ref))
}

fn is_empty_collection(node: &(dyn StdError + 'static)) -> bool {
    matches!(as_datafusion(node), Some(DataFusionError::Collection(errors)) if errors.is_empty())
}

/// The errors inside an error, outermost first, in the order of a `Collection`.
struct Nodes<'a> {
    // Errors to look at with their depth; the next one is last.
    stack: Vec<(&'a (dyn StdError + 'static), usize)>,
    left: usize,
}

impl<'a> Nodes<'a> {
    fn new(error: &'a DataFusionError) -> Self {
        Self {
            stack: vec![(error, 0)],
            left: MAX_NODES,
        }
    }
}

impl<'a> Iterator for Nodes<'a> {
    type Item = &'a (dyn StdError + 'static);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let (node, depth) = self.stack.pop()?;
        if depth + 1 < MAX_DEPTH {
            if let Some(DataFusionError::Collection(errors)) = as_datafusion(node) {
                // No more are pushed than can be looked at, however many there are.
                let looked_at = errors.iter().take(self.left);
                self.stack
                    .extend(looked_at.rev().map(|error| (error as _, depth + 1)));
            } else if let Some(payload) = io_payload(node) {
                self.stack.push((payload, depth + 1));
            } else if let Some(source) = node.source() {
                self.stack.push((source, depth + 1));
            }
        }
        Some(node)
    }
}

/// What an I/O error carries: its `source()` skips the payload and gives the payload's source.
fn io_payload<'a>(node: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    let payload = node.downcast_ref::<io::Error>()?.get_ref()?;
    Some(payload)
}

#[cfg(test)]
mod tests;
