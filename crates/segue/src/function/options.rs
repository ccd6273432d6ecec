//! The options of the function.

use segue_chunk::view::{Duplicates, StaticColumns, Unnest};
use segue_chunk::{Contents, Fill, SegmentId, suggestion};
use segue_error::{Error, ErrorCode, Result};
use segue_segment_stream::SegmentStreamTableBuilder;

use super::NAME;
use super::value::Value;

/// Does what an option says.
type Set = fn(SegmentStreamTableBuilder, &Value) -> Result<SegmentStreamTableBuilder>;

/// All options and what they do, in the order in which they are listed.
const OPTIONS: [(&str, Set); 9] = [
    ("contents", contents),
    ("segments", segments),
    ("fill", fill),
    ("index_values", index_values),
    ("static_columns", static_columns),
    ("duplicates", duplicates),
    ("empty_columns", empty_columns),
    ("tombstone_columns", tombstone_columns),
    ("unnest", unnest),
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

fn fill(builder: SegmentStreamTableBuilder, value: &Value) -> Result<SegmentStreamTableBuilder> {
    let fills = [("none", Fill::None), ("latest_at", Fill::LatestAt)];
    Ok(builder.fill(value.one_of(&fills)?))
}

fn index_values(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    Ok(builder.index_values(value.index_values()?))
}

fn static_columns(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    let columns = [
        ("both", StaticColumns::Both),
        ("only", StaticColumns::Only),
        ("none", StaticColumns::None),
    ];
    Ok(builder.static_columns(value.one_of(&columns)?))
}

fn duplicates(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    let duplicates = [("last", Duplicates::Last), ("all", Duplicates::All)];
    Ok(builder.duplicates(value.one_of(&duplicates)?))
}

fn empty_columns(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    Ok(builder.empty_columns(value.boolean()?))
}

fn tombstone_columns(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    Ok(builder.tombstone_columns(value.boolean()?))
}

/// `'off'`, `'auto'`, or a list of rules for the columns that are meant.
fn unnest(builder: SegmentStreamTableBuilder, value: &Value) -> Result<SegmentStreamTableBuilder> {
    let words = [("off", Unnest::Off), ("auto", Unnest::Auto)];
    let unnest = match value.texts() {
        Ok(rules) => Unnest::Selected(Contents::parse(&rules)?),
        Err(_) => {
            let word = value.one_of(&words);
            word.map_err(|_| value.refused("'off', 'auto' or a list of rules"))?
        }
    };
    Ok(builder.unnest(unnest))
}

/// Checks that there is an option `name`: `invalid_option` with the nearest names where there is none.
pub(super) fn check(name: &str) -> Result<()> {
    find(name).map(|_| ())
}

/// Does what the option of `value` says. `invalid_option` when there is none of that name or it does not take the value.
pub(super) fn apply(
    builder: SegmentStreamTableBuilder,
    value: &Value,
) -> Result<SegmentStreamTableBuilder> {
    find(value.name())?(builder, value)
}

fn find(name: &str) -> Result<Set> {
    if let Some((_, set)) = OPTIONS.iter().find(|(known, _)| *known == name) {
        return Ok(*set);
    }
    let names = OPTIONS.map(|(known, _)| known);
    let hint = suggestion(name, &names);
    Err(invalid(
        name,
        format!("{NAME} has no option '{name}'{hint}"),
    ))
}

/// An error about the option `name`.
pub(super) fn invalid(name: &str, message: String) -> Error {
    Error::new(ErrorCode::InvalidOption, "segment_stream.option", message).with_fact("option", name)
}
