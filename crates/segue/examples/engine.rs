//! A query engine that has a DataFusion session of its own, with recordings beside its own tables.
//!
//! `cargo run -p segue --example engine [FOLDER]`; the folder of recordings is `examples/recordings` unless
//! another is given.

use std::error::Error;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::prelude::{SessionConfig, SessionContext};
use segue::chunk::LocalSource;
use segue::{DEFAULT_CATALOG, error_message, install};

/// How long each operator drove which robot, and how warm it got.
const DRIVES: &str = r#"
    SELECT operator, segment, count(*) AS frames,
           round(max(temperature), 2) AS warmest
    FROM operators
    JOIN (SELECT rerun_segment_id AS segment, "/sensor/temp:Scalars:scalars"[1] AS temperature
          FROM segue.robots.frame_nr) AS driven USING (segment)
    GROUP BY operator, segment
    ORDER BY operator, segment"#;

/// One entity alone, of two segments: nothing else is read.
const PRESSURE: &str = r#"
    SELECT operator, count(*) AS readings
    FROM segment_stream('robots', 'frame_nr',
                        contents => '/sensor/pressure',
                        segments => ['scalars_0', 'scalars_1'])
    JOIN operators ON segment = rerun_segment_id
    GROUP BY operator
    ORDER BY operator"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1);
    let folder = folder.unwrap_or_else(|| "examples/recordings".to_owned());

    // The engine: a session as it likes it, and tables of its own.
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    let segments: ArrayRef = Arc::new(StringArray::from(vec![
        "scalars_0",
        "scalars_1",
        "scalars_2",
    ]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["Ada", "Bela", "Ada"]));
    let operators = RecordBatch::try_from_iter([("segment", segments), ("operator", names)])?;
    context.register_batch("operators", operators)?;

    // The recordings, as a catalog beside those the session has.
    let source = LocalSource::builder().folder(folder).build()?;
    let catalog = install(&context, Arc::new(source), DEFAULT_CATALOG).await?;

    // A table of recordings is looked up when a query names it.
    context.sql(DRIVES).await?.show().await?;

    // The function cannot wait for what it has to know, so the engine sees to it before.
    catalog.refresh().await?;
    context.sql(PRESSURE).await?.show().await?;

    // Whatever goes wrong is one line, and a code that a program can act on.
    if let Err(error) = context.sql("SELECT * FROM segue.robot.frame_nr").await {
        println!("{}", error_message(&error));
        println!(
            "{:?}",
            segue::find_segue_error(&error).map(segue::Error::code)
        );
    }
    Ok(())
}
