//! Values of arguments.

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use segue_error::Result;

use super::NAME;
use super::options::invalid;

/// The value of a named argument, known before the query runs.
#[derive(Clone, Debug)]
pub(super) struct Value {
    name: String,
    value: ScalarValue,
}

impl Value {
    pub(super) fn new(name: String, value: ScalarValue) -> Self {
        Self { name, value }
    }

    /// Name of the argument.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is this word: a text, or a boolean of that name.
    pub(super) fn is(&self, word: &str) -> bool {
        match &self.value {
            ScalarValue::Boolean(Some(value)) => value.to_string() == word,
            other => text_of(other) == Some(word),
        }
    }

    /// A list of texts, or one text as a list of itself.
    pub(super) fn texts_or_text(&self) -> Result<Vec<String>> {
        match text_of(&self.value) {
            Some(text) => Ok(vec![text.to_owned()]),
            None => self.texts_as("text or a list of text"),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self) -> Result<Vec<String>> {
        self.texts_as("a list of text")
    }

    fn texts_as(&self, wanted: &str) -> Result<Vec<String>> {
        let items = items_of(&self.value);
        let texts = items.and_then(|items| {
            let texts = (0..items.len()).map(|at| {
                let item = ScalarValue::try_from_array(&items, at).ok()?;
                text_of(&item).map(str::to_owned)
            });
            texts.collect::<Option<Vec<_>>>()
        });
        texts.ok_or_else(|| {
            let (name, value) = (&self.name, &self.value);
            let given = match value.is_null() {
                true => "NULL".to_owned(),
                false => format!("{value} of type {}", value.data_type()),
            };
            let message = format!("option '{name}' of {NAME} takes {wanted}, not {given}");
            invalid(name, message)
        })
    }
}

/// A text that is not null.
pub(super) fn text_of(value: &ScalarValue) -> Option<&str> {
    value.try_as_str().flatten()
}

/// The items of a list that is not null.
fn items_of(value: &ScalarValue) -> Option<ArrayRef> {
    let items = match value {
        ScalarValue::List(list) if !list.is_null(0) => list.value(0),
        ScalarValue::LargeList(list) if !list.is_null(0) => list.value(0),
        ScalarValue::FixedSizeList(list) if !list.is_null(0) => list.value(0),
        _ => return None,
    };
    // Of an empty list nothing says what it would hold.
    let are_texts = |data_type: &DataType| data_type.is_string() || items.is_empty();
    are_texts(items.data_type()).then(|| std::sync::Arc::clone(&items))
}
