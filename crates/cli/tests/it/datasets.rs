//! What there is: datasets, their columns, their segments.

use std::fs;

use tempfile::TempDir;

use crate::catalog::Server;
use crate::{EXAMPLES, answer, command, printed};

#[test]
fn datasets_are_listed_by_name() {
    let names = printed(command("datasets").args(EXAMPLES));
    assert_eq!(names, "dataset\n-------\ndrive\nrobots\n(2 rows)\n");
    let names = printed(command("datasets").args(EXAMPLES).arg("--format=json"));
    assert_eq!(names, "{\"dataset\":\"drive\"}\n{\"dataset\":\"robots\"}\n");
}

#[test]
fn the_columns_are_those_that_sql_sees() {
    for (more, table) in [
        (&["robots"][..], "robots.frame_nr"),
        (&["robots", "--index", "log_time"], "robots.log_time"),
        (&["robots", "--index", "_static"], "robots._static"),
        (&["drive"], "drive.message_log_time"),
    ] {
        let mut schema = command("schema");
        schema.args(EXAMPLES).args(["--format", "csv"]).args(more);
        let schema = printed(&mut schema);
        let names: Vec<&str> = schema
            .lines()
            .skip(1)
            .map(|line| line.split(',').next().unwrap())
            .collect();
        let header = answer(&["--format=csv", &format!("SELECT * FROM {table} LIMIT 0")]);
        let expected: Vec<&str> = header.trim_end().split(',').collect();
        assert!(expected.len() > 2, "{header}");
        assert_eq!(names, expected, "{table}");
    }
}

#[test]
fn a_column_says_what_it_holds() {
    let schema = printed(
        command("schema")
            .args(EXAMPLES)
            .args(["--format=csv", "robots"]),
    );
    let lines: Vec<&str> = schema.lines().collect();
    assert_eq!(
        lines[0],
        "name,type,kind,entity,component,archetype,is_static"
    );
    assert_eq!(lines[1], "rerun_segment_id,Utf8,segment,,,,");
    for line in [
        "frame_nr,Int64,index,,,,",
        "/a:Scalars:scalars,List(Float64),component,/a,Scalars:scalars,rerun.archetypes.Scalars,false",
    ] {
        assert!(lines.contains(&line), "{line} is not in:\n{schema}");
    }
    assert!(
        schema.contains(",/world,ViewCoordinates:xyz,rerun.archetypes.ViewCoordinates,true\n"),
        "{schema}"
    );
}

#[test]
fn segments_are_those_of_the_table_about_them() {
    let more = ["--format=csv", "robots"];
    let segments = printed(command("segments").args(EXAMPLES).args(more));
    let sql = ["--format=csv", "SELECT * FROM robots._segments"];
    let table = printed(command("query").args(EXAMPLES).args(sql));
    assert_eq!(segments, table);
    let segments: Vec<&str> = segments.lines().collect();
    assert!(segments[0].starts_with("rerun_segment_id,rerun_layer_names,"));
    assert!(segments.iter().any(|line| line.starts_with("scalars_0,")));
}

#[test]
fn a_catalog_lists_what_its_folder_has() {
    let server = Server::start(&[crate::repository("examples/recordings")]);
    for (name, more) in [
        ("datasets", &[][..]),
        ("schema", &["robots"]),
        ("schema", &["drive", "--index", "message_log_time"]),
    ] {
        let folder = printed(command(name).args(EXAMPLES).args(more));
        let served = printed(command(name).args(["--catalog", &server.url]).args(more));
        assert_eq!(folder, served, "{name} {more:?}");
    }
    let mut segments = command("segments");
    segments.args(["--catalog", &server.url, "--format=csv", "robots"]);
    let segments = printed(&mut segments);
    assert!(
        segments.lines().any(|line| line.starts_with("scalars_0,")),
        "{segments}"
    );
}

#[test]
fn a_dataset_whose_name_needs_quotes_is_found() {
    let dir = TempDir::new().unwrap();
    let name = "It's \"A\" b.c";
    let folder = dir.path().join(name);
    fs::create_dir(&folder).unwrap();
    let recording = crate::repository("examples/recordings/robots/scalars_0.rrd");
    fs::copy(recording, folder.join("scalars_0.rrd")).unwrap();
    let segments = printed(
        command("segments")
            .arg("--recordings")
            .arg(dir.path())
            .args(["--format=csv", name]),
    );
    assert_eq!(segments.lines().count(), 2, "{segments}");
    let schema = printed(
        command("schema")
            .arg("--recordings")
            .arg(dir.path())
            .arg(name),
    );
    assert!(schema.contains("frame_nr"), "{schema}");
}
