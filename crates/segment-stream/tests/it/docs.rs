//! Pages of the book that are generated from the code.

use std::fmt::Write;
use std::path::Path;

use datafusion::config::ExtensionOptions;
use segue_segment_stream::{Counter, SegmentStreamOptions};

/// Fails unless the page at `path`, below the sources of the book, is `page`.
fn check(path: &str, page: &str) {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let path = book.join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        current, page,
        "run the tests with UPDATE_DOCS=1 to write the page anew"
    );
}

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
    check("reference/options.md", &page);
}

#[test]
fn the_page_of_counters_is_current() {
    let mut page = String::from(
        "# Counters\n\n\
         What a scan of a dataset counts. `EXPLAIN ANALYZE` shows it at `SegmentStreamExec`, with large numbers and \
         times rounded; `ExecutionPlan::metrics()` has it exactly. Generated from the code.\n\n\
         * *planned*: known once there is a plan, of all partitions together; execution does not change it.\n\
         * *total*: grows during execution; partitions add up, and so do repeated executions of the same plan.\n\
         * *least*, *most*: the smallest and the largest of all partitions and executions.\n\n\
         | name | unit | kind | meaning |\n|---|---|---|---|\n",
    );
    for counter in Counter::ALL {
        let (name, help) = (counter.name(), counter.help());
        let (unit, kind) = (counter.unit(), counter.kind());
        writeln!(page, "| `{name}` | {unit} | {kind} | {help} |").unwrap();
    }
    check("reference/counters.md", &page);
}
