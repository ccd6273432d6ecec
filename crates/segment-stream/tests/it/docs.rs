//! The page of options in the book is generated from the options.

use std::fmt::Write;
use std::path::Path;

use datafusion::config::ExtensionOptions;
use segue_segment_stream::SegmentStreamOptions;

#[test]
fn the_page_of_options_is_current() {
    let mut page = String::from(
        "# Options\n\n\
         Set with `SET name = value`, for the statements that follow. Generated from the code.\n\n\
         | name | default | meaning |\n|---|---|---|\n",
    );
    for entry in SegmentStreamOptions::default().entries() {
        let (value, about) = (entry.value.unwrap_or_default(), entry.description);
        writeln!(page, "| `{}` | {value} | {about} |", entry.key).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/options.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        current, page,
        "run the tests with UPDATE_DOCS=1 to write the page anew"
    );
}
