//! The options of the function.

use segue_chunk::{Contents, SegmentId, suggestion};
use segue_error::{Error, ErrorCode, Result};
use segue_segment_stream::SegmentStreamTableBuilder;

use super::NAME;
use super::value::Value;

/// What an option does with its value.
enum Effect {
    /// Changes the table.
    Sets(fn(SegmentStreamTableBuilder, &Value) -> Result<SegmentStreamTableBuilder>),
    /// Nothing yet: only this value, which is what happens without it, is taken.
    Only(&'static str),
    /// Nothing yet, and there is no value for what happens without it.
    NotYet,
}

/// An option.
struct Spec {
    name: &'static str,
    effect: Effect,
}

const fn spec(name: &'static str, effect: Effect) -> Spec {
    Spec { name, effect }
}

/// All options, in the order in which they are listed.
const OPTIONS: [Spec; 9] = [
    spec("contents", Effect::Sets(contents)),
    spec("segments", Effect::Sets(segments)),
    spec("fill", Effect::Only("none")),
    spec("index_values", Effect::NotYet),
    spec("static_columns", Effect::Only("both")),
    spec("duplicates", Effect::Only("last")),
    spec("empty_columns", Effect::Only("false")),
    spec("tombstone_columns", Effect::Only("false")),
    spec("unnest", Effect::Only("off")),
];

fn contents(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    let patterns = value.texts_or_text()?;
    Ok(builder.contents(Contents::parse(&patterns)?))
}

fn segments(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    let ids = value.texts()?;
    Ok(builder.segments(ids.into_iter().map(SegmentId::from)))
}

/// Checks that there is an option `name`: `invalid_option` with the nearest names where there is none.
pub(super) fn check(name: &str) -> Result<()> {
    if OPTIONS.iter().any(|option| option.name == name) {
        return Ok(());
    }
    let names = OPTIONS.map(|option| option.name);
    let hint = suggestion(name, &names);
    Err(invalid(
        name,
        format!("{NAME} has no option '{name}'{hint}"),
    ))
}

/// Does what the option of `value` says. `invalid_option` when there is none of that name or it does not take the value;
/// `unsupported` when what it says is not done yet.
pub(super) fn apply(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    let name = value.name();
    check(name)?;
    let Some(option) = OPTIONS.iter().find(|option| option.name == name) else {
        return Ok(builder);
    };
    match option.effect {
        Effect::Sets(set) => set(builder, value),
        Effect::Only(text) if value.is(text) => Ok(builder),
        Effect::Only(text) => Err(not_yet(name, &format!(" with another value than {text}"))),
        Effect::NotYet => Err(not_yet(name, "")),
    }
}

fn not_yet(name: &str, how: &str) -> Error {
    let message = format!("option '{name}' of {NAME} is not yet supported{how}");
    Error::new(ErrorCode::Unsupported, "segment_stream.option", message).with_fact("option", name)
}

/// An error about the option `name`.
pub(super) fn invalid(name: &str, message: String) -> Error {
    Error::new(ErrorCode::InvalidOption, "segment_stream.option", message).with_fact("option", name)
}
