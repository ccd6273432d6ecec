use std::fmt;

use datafusion::common::Diagnostic;

use super::*;

fn segue(code: ErrorCode) -> Error {
    Error::new(code, "test.run", "it failed").with_fact("rows", 3_u64)
}

fn segue_df(code: ErrorCode) -> DataFusionError {
    segue(code).into()
}

fn wraps() -> Vec<(&'static str, DataFusionError)> {
    let inner = || segue_df(ErrorCode::ChunkCorrupt);
    let error = || segue(ErrorCode::ChunkCorrupt);
    let plan = || DataFusionError::Plan("p".into());
    vec![
        ("external", inner()),
        ("context", inner().context("while reading")),
        ("shared", DataFusionError::Shared(Arc::new(inner()))),
        (
            "collection",
            DataFusionError::Collection(vec![plan(), inner()]),
        ),
        (
            "diagnostic",
            inner().with_diagnostic(Diagnostic::new_error("d", None)),
        ),
        (
            "arrow",
            ArrowError::from_external_error(Box::new(error())).into(),
        ),
        ("io", io::Error::other(error()).into()),
        (
            "arrow io",
            ArrowError::from(io::Error::other(error())).into(),
        ),
        (
            "external of external",
            DataFusionError::External(Box::new(inner())),
        ),
        (
            "arc",
            DataFusionError::External(Box::new(Arc::new(error()))),
        ),
        (
            "box",
            DataFusionError::External(Box::new(Box::new(error()))),
        ),
        (
            "all at once",
            DataFusionError::External(Box::new(ArrowError::from_external_error(Box::new(
                DataFusionError::Shared(Arc::new(DataFusionError::Collection(vec![
                    plan(),
                    inner().context("c"),
                ]))),
            )))),
        ),
    ]
}

#[test]
fn a_segue_error_is_found_and_comes_back_through_every_wrapper() {
    for (name, error) in wraps() {
        let found = find_segue_error(&error).expect(name);
        assert_eq!(found.code(), ErrorCode::ChunkCorrupt, "{name}");

        let back = from_datafusion(error, "other.operation");
        assert_eq!(back.operation(), "test.run", "{name}");
        assert_eq!(back.fact("rows"), Some(&3_u64.into()), "{name}");
        assert!(back.source().is_none(), "{name}: wrapped again");
    }
}

#[test]
fn there_and_back_again_wraps_exactly_once() {
    let mut error = segue(ErrorCode::ChunkCorrupt);
    for _ in 0..3 {
        let wrapped = DataFusionError::from(error);
        let DataFusionError::External(inner) = &wrapped else {
            panic!("not external: {wrapped}");
        };
        assert!(inner.is::<Error>());
        error = from_datafusion(wrapped, "other.operation");
    }
    assert!(error.source().is_none());
}

#[test]
fn of_several_errors_the_first_specific_one_is_found() {
    let codes = [
        ErrorCode::Cancelled,
        ErrorCode::ChunkCorrupt,
        ErrorCode::SourceChanged,
    ];
    let error = DataFusionError::Collection(codes.map(segue_df).into());
    assert_eq!(
        find_segue_error(&error).map(Error::code),
        Some(ErrorCode::ChunkCorrupt)
    );

    let error = DataFusionError::Collection(vec![segue_df(ErrorCode::Cancelled)]);
    assert_eq!(
        find_segue_error(&error).map(Error::code),
        Some(ErrorCode::Cancelled)
    );
}

#[test]
fn codes_go_by_variant() {
    let text = || "resources exhausted, permission denied".to_owned();
    let io = |kind: io::ErrorKind| DataFusionError::from(io::Error::from(kind));
    let cases: Vec<(DataFusionError, ErrorCode)> = vec![
        (
            DataFusionError::ResourcesExhausted(text()),
            ErrorCode::MemoryReservationFailed,
        ),
        (
            DataFusionError::Plan(text()),
            ErrorCode::InvalidExecutionPlan,
        ),
        (
            DataFusionError::Configuration(text()),
            ErrorCode::InvalidOption,
        ),
        (
            DataFusionError::NotImplemented(text()),
            ErrorCode::Unsupported,
        ),
        (DataFusionError::Internal(text()), ErrorCode::Internal),
        (DataFusionError::Execution(text()), ErrorCode::Internal),
        (
            DataFusionError::External(text().into()),
            ErrorCode::Internal,
        ),
        (ArrowError::DivideByZero.into(), ErrorCode::InvalidArgument),
        (
            ArrowError::MemoryError(text()).into(),
            ErrorCode::MemoryReservationFailed,
        ),
        (ArrowError::ComputeError(text()).into(), ErrorCode::Internal),
        (io(io::ErrorKind::NotFound), ErrorCode::StorageUnavailable),
        (
            io(io::ErrorKind::PermissionDenied),
            ErrorCode::PermissionDenied,
        ),
        (io::Error::other(text()).into(), ErrorCode::Internal),
        (
            DataFusionError::ResourcesExhausted(text())
                .context("c")
                .context("d"),
            ErrorCode::MemoryReservationFailed,
        ),
        (
            DataFusionError::Collection(vec![
                DataFusionError::Execution(text()),
                DataFusionError::Plan(text()),
            ]),
            ErrorCode::InvalidExecutionPlan,
        ),
    ];
    for (error, code) in cases {
        let shown = error.to_string();
        let converted = from_datafusion(error, "test.convert");
        assert_eq!(converted.code(), code, "{shown}");
        assert_eq!(converted.operation(), "test.convert");
        let source = converted.source().expect("the source is kept");
        assert!(source.is::<DataFusionError>());
        assert_eq!(source.to_string(), shown);
    }
}

#[test]
fn an_empty_collection_becomes_an_error_that_can_be_printed() {
    for error in [
        DataFusionError::Collection(vec![]),
        DataFusionError::Shared(Arc::new(DataFusionError::Collection(vec![]))).context("c"),
    ] {
        let converted = from_datafusion(error, "a.b");
        assert_eq!(converted.code(), ErrorCode::Internal);
        assert!(converted.source().is_none());
        assert!(!format!("{converted:?}").is_empty());
    }
}

#[test]
fn an_unknown_column_is_told_apart_from_a_name_clash() {
    use datafusion::common::Column;
    let schema = |error| DataFusionError::SchemaError(Box::new(error), Box::new(None));
    let field = || Box::new(Column::from_name("x"));
    let unknown = schema(SchemaError::FieldNotFound {
        field: field(),
        valid_fields: vec![],
    });
    assert_eq!(
        from_datafusion(unknown, "a.b").code(),
        ErrorCode::UnknownColumn
    );
    let clash = schema(SchemaError::AmbiguousReference { field: field() });
    assert_eq!(from_datafusion(clash, "a.b").code(), ErrorCode::NameClash);
}

#[test]
fn the_message_is_that_of_the_error_that_gave_the_code() {
    let error = DataFusionError::ResourcesExhausted("no bytes left".into()).context("sorting");
    assert_eq!(from_datafusion(error, "a.b").message(), "no bytes left");
}

#[derive(Debug)]
struct Circle;

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("round")
    }
}

impl StdError for Circle {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self)
    }
}

#[test]
fn a_chain_that_runs_in_a_circle_ends() {
    let error = DataFusionError::External(Box::new(Circle));
    assert!(find_segue_error(&error).is_none());
    assert_eq!(Nodes::new(&error).count(), MAX_DEPTH);
    assert_eq!(from_datafusion(error, "a.b").code(), ErrorCode::Internal);
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| {
        (0..depth).fold(segue_df(ErrorCode::ChunkCorrupt), |error, _| {
            error.context("c")
        })
    };
    // External and the error inside it are two links.
    assert!(find_segue_error(&nested(MAX_DEPTH - 2)).is_some());
    assert!(find_segue_error(&nested(MAX_DEPTH - 1)).is_none());
    assert_eq!(
        from_datafusion(nested(500), "a.b").code(),
        ErrorCode::Internal
    );
}

#[test]
fn the_number_of_errors_looked_at_is_bounded() {
    let tree = |depth: usize| {
        let mut error = DataFusionError::Plan("leaf".into());
        for _ in 0..depth {
            let shared = Arc::new(error);
            error = DataFusionError::Collection(
                (0..50)
                    .map(|_| DataFusionError::Shared(Arc::clone(&shared)))
                    .collect(),
            );
        }
        error
    };
    // 50 to the 8th leaves, without a bound.
    let error = tree(8);
    assert_eq!(Nodes::new(&error).count(), MAX_NODES);
    assert!(find_segue_error(&error).is_none());
    assert_eq!(
        from_datafusion(error, "a.b").code(),
        ErrorCode::InvalidExecutionPlan
    );
}
