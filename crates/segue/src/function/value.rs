//! Values of arguments.

use std::collections::BTreeMap;

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::ScalarValue;
use segue_chunk::SegmentId;
use segue_error::{Error, Result};
use segue_segment_stream::IndexValues;

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

    /// What one of the words in `meanings` means.
    pub(super) fn one_of<T: Clone>(&self, meanings: &[(&str, T)]) -> Result<T> {
        let word = text_of(&self.value);
        if let Some((_, meaning)) = meanings.iter().find(|(known, _)| word == Some(known)) {
            return Ok(meaning.clone());
        }
        let words: Vec<String> = meanings
            .iter()
            .map(|(known, _)| format!("'{known}'"))
            .collect();
        Err(self.refused(&words.join(" or ")))
    }

    /// True or false.
    pub(super) fn boolean(&self) -> Result<bool> {
        match &self.value {
            ScalarValue::Boolean(Some(value)) => Ok(*value),
            _ => Err(self.refused("true or false")),
        }
    }

    /// A list of values, or a map from texts to such lists.
    pub(super) fn index_values(&self) -> Result<IndexValues> {
        let wanted = "a list, or a map from segments to lists";
        let values = match &self.value {
            ScalarValue::Map(map) if map.len() == 1 && map.is_valid(0) => {
                let entries = map.value(0);
                let (ids, lists) = (entries.column(0), entries.column(1));
                let segments = scalars(ids).zip(scalars(lists)).map(|(id, list)| {
                    let values = scalars_of(&list?)?;
                    Some((SegmentId::from(text_of(&id?)?), values))
                });
                let mut by_segment = BTreeMap::new();
                for entry in segments {
                    let (id, values) = entry.ok_or_else(|| self.refused(wanted))?;
                    if by_segment.contains_key(&id) {
                        let name = &self.name;
                        let message =
                            format!("option '{name}' of {NAME} has the segment '{id}' twice");
                        return Err(invalid(name, message));
                    }
                    by_segment.insert(id, values);
                }
                Some(IndexValues::BySegment(by_segment))
            }
            list => scalars_of(list).map(IndexValues::Everywhere),
        };
        values.ok_or_else(|| self.refused(wanted))
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
        let items = scalars_of(&self.value);
        let texts = items.and_then(|items| {
            let texts = items.iter().map(|item| text_of(item).map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        });
        texts.ok_or_else(|| self.refused(wanted))
    }

    /// The error that the option takes what is `wanted`, and not this.
    pub(super) fn refused(&self, wanted: &str) -> Error {
        let (name, value) = (&self.name, &self.value);
        let options = FormatOptions::new().with_null("NULL");
        let array = value.to_array().ok();
        let shown = array.as_ref().and_then(|array| {
            let formatter = ArrayFormatter::try_new(array, &options).ok()?;
            Some(formatter.value(0).to_string())
        });
        let shown = shown.unwrap_or_else(|| value.to_string());
        let given = match (value.is_null(), text_of(value), value.data_type()) {
            (true, ..) => "NULL".to_owned(),
            (false, Some(text), _) => format!("'{text}'"),
            (false, None, nested) if nested.is_nested() => shown,
            (false, None, plain) => format!("{shown} of type {plain}"),
        };
        let message = format!("option '{name}' of {NAME} takes {wanted}, not {given}");
        invalid(name, message)
    }
}

/// A text that is not null.
pub(super) fn text_of(value: &ScalarValue) -> Option<&str> {
    value.try_as_str().flatten()
}

/// The items of a list that is not null.
fn items_of(value: &ScalarValue) -> Option<ArrayRef> {
    match value {
        ScalarValue::List(list) if !list.is_null(0) => Some(list.value(0)),
        ScalarValue::LargeList(list) if !list.is_null(0) => Some(list.value(0)),
        ScalarValue::FixedSizeList(list) if !list.is_null(0) => Some(list.value(0)),
        _ => None,
    }
}

fn scalars_of(list: &ScalarValue) -> Option<Vec<ScalarValue>> {
    scalars(&items_of(list)?).collect()
}

fn scalars(array: &ArrayRef) -> impl Iterator<Item = Option<ScalarValue>> {
    (0..array.len()).map(|at| ScalarValue::try_from_array(array, at).ok())
}
