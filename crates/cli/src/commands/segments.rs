//! `segue segments`.

use segue::SEGMENTS_TABLE;

use super::answer::answer;
use crate::args::SegmentsArgs;
use crate::exit::Failure;
use crate::output::Results;
use crate::session;
use crate::supervise::Desk;

/// Writes a row per segment of the dataset.
pub(crate) async fn segments(args: SegmentsArgs, desk: Desk) -> Result<(), Failure> {
    desk.progress.connect();
    let mut results = Results::open(&args.output, desk.clone()).await?;
    let session = session::open(&args.source).await?;
    let dataset = args.dataset.replace('"', "\"\"");
    let sql = format!("SELECT * FROM \"{dataset}\".{SEGMENTS_TABLE}");
    desk.progress.begin(1, 1);
    let answered = answer(&session, &sql, &mut results, &desk).await;
    results.close(answered.map(drop)).await
}
