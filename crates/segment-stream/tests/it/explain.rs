//! What `EXPLAIN VERBOSE` says of a scan.

use std::sync::Arc;

use datafusion::physical_plan::{ExecutionPlan, displayable};
use datafusion::prelude::SessionContext;
use segue_chunk::testing::{ChunkBuilder, Fault, ScriptedSource};
use segue_chunk::{Chunk, ChunkSource, Contents};
use segue_segment_stream::{SegmentStreamExec, SegmentStreamTable, SegmentStreamTableBuilder};

use crate::support::{SCALAR, config, plan, regular, rows, session};

/// What of the line of the scan only `EXPLAIN VERBOSE` has, but for the options at its end.
async fn verbose(context: &SessionContext, sql: &str) -> String {
    let plan = plan(context, sql).await;
    let line = |verbose: bool| {
        let text = displayable(plan.as_ref()).indent(verbose).to_string();
        let line = text.lines().find(|line| line.contains("SegmentStreamExec"));
        line.unwrap().trim().to_owned()
    };
    let (short, long) = (line(false), line(true));
    let more = long.strip_prefix(&short).unwrap();
    more.strip_suffix(OPTIONS).unwrap().to_owned()
}

const OPTIONS: &str = ", window=[bytes=268435456, share=268435456, unit=8388608, batch_room=1048576], \
    options=[segue_stream.batch_bytes=8388608, segue_stream.cpu_threads=0, segue_stream.unit_bytes=8388608, \
    segue_stream.units_ahead=3, segue_stream.window_bytes=all]";

/// A source that announces ten bytes for each chunk of `/a`, and a hundred for each other one.
fn announcing(chunks: Vec<Chunk>) -> Arc<ScriptedSource> {
    let faults = chunks.iter().map(|chunk| {
        Fault::Announce(chunk.id(), |info| {
            info.byte_len = if info.entity.as_str() == "/a" {
                10
            } else {
                100
            };
        })
    });
    let source = faults.fold(ScriptedSource::new(), ScriptedSource::fault);
    Arc::new(source.dataset("d", chunks))
}

/// Three segments of which `/a` has three chunks each, and `/b` two.
async fn regular_session() -> SessionContext {
    let source = announcing(regular(3, 10, 4));
    session(&source, config(2, 8192)).await
}

#[tokio::test]
async fn the_whole_of_a_table_is_said_to_be_the_whole() {
    let context = regular_session().await;
    assert_eq!(
        verbose(&context, "SELECT * FROM t").await,
        ", query=index, bytes=690, view=[all rows], filters=[], residual=[], chunks_outside=0, \
         rows_only=[]"
    );
}

#[tokio::test]
async fn filters_are_named_with_how_far_they_are_answered_and_what_is_left_of_them() {
    let context = regular_session().await;
    let sql = "SELECT \"/b:Scalars:scalars\" FROM t \
        WHERE frame BETWEEN 2 AND 5 AND rerun_segment_id <> 's01' AND frame % 2 = 0 \
        AND (frame < 4 AND \"/a:Scalars:scalars\" IS NULL OR frame = 5)";
    assert_eq!(
        verbose(&context, sql).await,
        ", query=index, bytes=240, view=[all rows], filters=[frame >= 2 (exact), \
         frame <= 5 (exact), rerun_segment_id != s01 (exact), \
         frame < 4 AND /a:Scalars:scalars IS NULL OR frame = 5 (inexact)], \
         residual=[frame % 2 = 0, frame < 4 AND /a:Scalars:scalars IS NULL OR frame = 5], \
         chunks_outside=3, rows_only=[]"
    );
}

#[tokio::test]
async fn what_is_left_of_the_filters_is_said_in_every_form_of_the_plan() {
    let context = regular_session().await;
    let plan = plan(&context, "SELECT frame FROM t WHERE frame % 2 = 0").await;
    let text = |plan: &dyn ExecutionPlan| displayable(plan).indent(true).to_string();
    let mut scan = &plan;
    while !scan.is::<SegmentStreamExec>() {
        scan = scan.children()[0];
    }
    let split = scan.repartitioned(3, context.copied_config().options());
    let split = split.unwrap().unwrap();
    let limited = scan.with_fetch(Some(3)).unwrap();
    for plan in [scan, &split, &limited] {
        let text = text(plan.as_ref());
        assert!(text.contains("residual=[frame % 2 = 0]"), "{text}");
    }
}

#[tokio::test]
async fn chunks_between_the_wanted_index_values_are_counted_as_outside() {
    let context = regular_session().await;
    let sql = "SELECT * FROM t WHERE frame = 0 OR frame = 9";
    assert_eq!(
        verbose(&context, sql).await,
        ", query=index, bytes=360, view=[all rows], \
         filters=[frame = 0 OR frame = 9 (exact)], residual=[], chunks_outside=6, rows_only=[]"
    );
}

#[tokio::test]
async fn entities_that_only_make_rows_are_named_with_what_it_takes_to_leave_them_out() {
    let context = regular_session().await;
    assert_eq!(
        verbose(&context, "SELECT \"/a:Scalars:scalars\" FROM t").await,
        ", query=index, bytes=690, view=[all rows], filters=[], residual=[], chunks_outside=0, \
         rows_only=[/b (6 chunks, 600 bytes)], hint=[contents => ['/a'] would save at least \
         6 chunks, 600 bytes, and drop the rows that only those make]"
    );
    // Nothing is left that contents could name.
    assert_eq!(
        verbose(&context, "SELECT count(*) FROM t").await,
        ", query=index, bytes=690, view=[all rows], filters=[], residual=[], chunks_outside=0, \
         rows_only=[/a (9 chunks, 90 bytes), /b (6 chunks, 600 bytes)]"
    );
}

/// The table made by `build` from the dataset `d` of `chunks`, as `t`.
async fn built(
    chunks: Vec<Chunk>,
    build: impl FnOnce(SegmentStreamTableBuilder) -> SegmentStreamTableBuilder,
) -> SessionContext {
    let source: Arc<dyn ChunkSource> = announcing(chunks);
    let builder = build(SegmentStreamTable::builder(source, "d"));
    let table = Arc::new(builder.build().await.unwrap());
    let context = SessionContext::new_with_config(config(2, 8192));
    context.register_table("t", table).unwrap();
    context
}

#[tokio::test]
async fn the_contents_that_are_hinted_at_save_what_they_are_said_to_save() {
    let sql = "SELECT \"/a:Scalars:scalars\" FROM t";
    let contents = Contents::parse(["/a"]).unwrap();
    let narrow = |table: SegmentStreamTableBuilder| table.index("frame").contents(contents);
    let context = built(regular(3, 10, 4), narrow).await;
    assert_eq!(
        verbose(&context, sql).await,
        ", query=index, bytes=90, view=[all rows], filters=[], residual=[], chunks_outside=0, \
         rows_only=[]"
    );
}

#[tokio::test]
async fn contents_that_would_add_columns_are_not_hinted_at() {
    let chunk = |id: u64, entity: &str| {
        let chunk = ChunkBuilder::new("s", entity).id(id);
        let chunk = chunk.sequence("frame", [id as i64]);
        chunk.floats(SCALAR, [Some(1.0)])
    };
    let chunks = vec![
        chunk(1, "/a").floats("Other:x", [Some(2.0)]).build(),
        chunk(2, "/it's").build(),
    ];
    let sql = |entity: &str| format!("SELECT \"{entity}:Scalars:scalars\" FROM t");
    let contents = Contents::parse(["/**", "-/a:Other:x"]).unwrap();
    let narrow = |table: SegmentStreamTableBuilder| table.index("frame").contents(contents);
    let context = built(chunks, narrow).await;
    let text = verbose(&context, &sql("/a")).await;
    assert!(
        text.ends_with("rows_only=[/it's (1 chunk, 100 bytes)]"),
        "{text}"
    );
    let text = verbose(&context, &sql("/it's")).await;
    assert!(
        text.contains("hint=[contents => ['/it''s'] would save"),
        "{text}"
    );
}

#[tokio::test]
async fn an_entity_whose_clear_reaches_what_is_read_is_not_only_read_for_its_rows() {
    let chunk = |id: u64, entity: &str| {
        let chunk = ChunkBuilder::new("s", entity).id(id);
        chunk.sequence("frame", [id as i64])
    };
    let chunks = vec![
        chunk(1, "/a").floats(SCALAR, [Some(1.0)]).build(),
        chunk(2, "/a/b").floats(SCALAR, [Some(2.0)]).build(),
        chunk(3, "/a").clear([true]).build(),
        chunk(4, "/c").floats(SCALAR, [Some(3.0)]).build(),
        chunk(5, "/c").clear([true]).build(),
    ];
    let context = built(chunks, |table| table.index("frame")).await;
    let text = verbose(&context, "SELECT \"/a/b:Scalars:scalars\" FROM t").await;
    assert_eq!(
        text,
        ", query=index, bytes=320, view=[all rows], filters=[], residual=[], chunks_outside=0, \
         rows_only=[/c (2 chunks, 200 bytes)], hint=[contents => ['/a/b'] would save at least \
         2 chunks, 200 bytes, and drop the rows that only those make]"
    );
}

#[tokio::test]
async fn no_entity_is_only_read_for_its_rows_where_another_timeline_is_read() {
    let chunk = |id: u64, entity: &str| {
        let chunk = ChunkBuilder::new("s", entity).id(id).sequence("frame", [1]);
        let chunk = chunk.sequence("tick", [id as i64]);
        chunk.floats(SCALAR, [Some(1.0)]).build()
    };
    let context = built(vec![chunk(1, "/a"), chunk(2, "/b")], |t| t.index("frame")).await;
    for (columns, is_named) in [("frame, tick", false), ("frame", true)] {
        let sql = format!("SELECT {columns}, \"/a:Scalars:scalars\" FROM t");
        let text = verbose(&context, &sql).await;
        assert_eq!(text.contains("rows_only=[]"), !is_named, "{text}");
    }
}

#[tokio::test]
async fn static_values_of_some_segments_are_said_to_be_so() {
    let chunk = |segment: u64| {
        let chunk = ChunkBuilder::new(format!("s{segment}"), "/a").id(segment + 1);
        chunk.floats(SCALAR, [Some(1.0)]).build()
    };
    let segments = ["s0", "s1", "nope"].map(Into::into);
    let context = built((0..3).map(chunk).collect(), |t| t.segments(segments)).await;
    assert_eq!(
        verbose(
            &context,
            "SELECT * FROM t WHERE length(rerun_segment_id) = 2"
        )
        .await,
        ", query=static, bytes=20, view=[segments in [nope, s0, s1]], filters=[], \
         residual=[character_length(rerun_segment_id) = 2], chunks_outside=0, rows_only=[]"
    );
}

#[tokio::test]
async fn the_options_are_those_that_the_plan_was_made_with() {
    let context = regular_session().await;
    context
        .sql("SET segue_stream.units_ahead = 5")
        .await
        .unwrap();
    let table = context.table_provider("t").await.unwrap();
    let plan = table.scan(&context.state(), None, &[], None).await.unwrap();
    let text = displayable(plan.as_ref()).indent(true).to_string();
    assert!(text.contains("segue_stream.units_ahead=5,"), "{text}");
}

#[tokio::test]
async fn explain_verbose_has_the_summary_and_explain_has_not() {
    let context = regular_session().await;
    let sql = "SELECT frame FROM t WHERE frame = 3";
    let plain = rows(&context, &format!("EXPLAIN {sql}")).await.join("\n");
    assert!(plain.contains("read=[frame in [3, 3]]"), "{plain}");
    assert!(!plain.contains("rows_only="), "{plain}");
    let verbose = rows(&context, &format!("EXPLAIN VERBOSE {sql}")).await;
    let verbose = verbose.join("\n");
    assert!(verbose.contains("filters=[frame = 3 (exact)]"), "{verbose}");
}
