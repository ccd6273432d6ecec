//! The page of errors in the book is generated from the codes.

use std::fmt::Write;
use std::path::Path;

use segue_error::ErrorCode;

#[test]
fn the_page_of_errors_is_current() {
    let mut page = String::from(
        "# Errors\n\n\
         Every error has a code, which decides its kind and whether to try again. Generated from the code.\n\n\
         | code | kind | lasts | retry | meaning |\n|---|---|---|---|---|\n",
    );
    for code in ErrorCode::ALL {
        let retry = if code.is_retryable() { "yes" } else { "no" };
        let (label, kind) = (code.label(), code.kind().label());
        let (lasts, about) = (code.persistence().label(), code.summary());
        writeln!(page, "| `{label}` | {kind} | {lasts} | {retry} | {about} |").expect("text grows");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/errors.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the book can be written");
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        current, page,
        "run the tests with UPDATE_DOCS=1 to write the page anew"
    );
}
