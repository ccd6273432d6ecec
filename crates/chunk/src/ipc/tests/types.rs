//! Types that a message can state and no array can have.

use arrow_ipc::*;
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};

use super::super::{IpcErrorKind, read_schema};

type Fbb = FlatBufferBuilder<'static>;
type Details = WIPOffset<UnionWIPOffset>;

/// A stream of a schema of one field, and its children.
fn stream(
    children: &[Type],
    kind: Type,
    details: impl FnOnce(&mut Fbb) -> Option<Details>,
) -> Vec<u8> {
    let mut fbb = Fbb::new();
    let children: Vec<_> = children
        .iter()
        .map(|kind| {
            let details = Bool::create(&mut fbb, &BoolArgs {}).as_union_value();
            let args = FieldArgs {
                type_type: *kind,
                type_: Some(details),
                ..Default::default()
            };
            Field::create(&mut fbb, &args)
        })
        .collect();
    let children = Some(fbb.create_vector(&children));
    let type_ = details(&mut fbb);
    let field = FieldArgs {
        type_type: kind,
        type_,
        children,
        ..Default::default()
    };
    let field = Field::create(&mut fbb, &field);
    let fields = Some(fbb.create_vector(&[field]));
    let schema = Schema::create(
        &mut fbb,
        &SchemaArgs {
            fields,
            ..Default::default()
        },
    );
    let message = MessageArgs {
        version: MetadataVersion::V5,
        header_type: MessageHeader::Schema,
        header: Some(schema.as_union_value()),
        ..Default::default()
    };
    let message = Message::create(&mut fbb, &message);
    fbb.finish(message, None);
    let metadata = fbb.finished_data();
    let len = (metadata.len() as u32).to_le_bytes();
    [&[0xff; 4], &len[..], metadata].concat()
}

#[track_caller]
fn assert_refused(children: &[Type], kind: Type, details: impl FnOnce(&mut Fbb) -> Details) {
    read_schema(&stream(children, kind, |fbb| Some(details(fbb)))).unwrap_err();
}

#[test]
fn sizes_widths_and_precisions_out_of_range_are_refused() {
    let right = stream(&[], Type::FixedSizeBinary, |fbb| {
        let args = FixedSizeBinaryArgs { byteWidth: 3 };
        Some(FixedSizeBinary::create(fbb, &args).as_union_value())
    });
    read_schema(&right).unwrap();
    assert_refused(&[], Type::FixedSizeBinary, |fbb| {
        FixedSizeBinary::create(fbb, &FixedSizeBinaryArgs { byteWidth: -1 }).as_union_value()
    });
    assert_refused(&[Type::Bool], Type::FixedSizeList, |fbb| {
        FixedSizeList::create(fbb, &FixedSizeListArgs { listSize: -1 }).as_union_value()
    });
    for bits in [0, 7, 128, -8] {
        assert_refused(&[], Type::Int, |fbb| {
            Int::create(
                fbb,
                &IntArgs {
                    bitWidth: bits,
                    is_signed: true,
                },
            )
            .as_union_value()
        });
    }
    for (precision, scale, bits) in [
        (0, 0, 128),
        (39, 0, 128),
        (5, 6, 128),
        (5, 0, 12),
        (9, -200, 32),
    ] {
        assert_refused(&[], Type::Decimal, |fbb| {
            let args = DecimalArgs {
                precision,
                scale,
                bitWidth: bits,
            };
            Decimal::create(fbb, &args).as_union_value()
        });
    }
}

#[test]
fn units_that_are_none_are_refused() {
    assert_refused(&[], Type::Timestamp, |fbb| {
        let args = TimestampArgs {
            unit: TimeUnit(9),
            timezone: None,
        };
        Timestamp::create(fbb, &args).as_union_value()
    });
    assert_refused(&[], Type::Time, |fbb| {
        let args = TimeArgs {
            unit: TimeUnit::SECOND,
            bitWidth: 64,
        };
        Time::create(fbb, &args).as_union_value()
    });
    assert_refused(&[], Type::Date, |fbb| {
        Date::create(fbb, &DateArgs { unit: DateUnit(-3) }).as_union_value()
    });
    assert_refused(&[], Type::FloatingPoint, |fbb| {
        let args = FloatingPointArgs {
            precision: Precision(3),
        };
        FloatingPoint::create(fbb, &args).as_union_value()
    });
    assert_refused(&[], Type::Interval, |fbb| {
        Interval::create(
            fbb,
            &IntervalArgs {
                unit: IntervalUnit(3),
            },
        )
        .as_union_value()
    });
}

#[test]
fn nested_types_with_the_wrong_children_are_refused() {
    for children in [&[][..], &[Type::Bool, Type::Bool]] {
        assert_refused(children, Type::List, |fbb| {
            List::create(fbb, &ListArgs {}).as_union_value()
        });
    }
    assert_refused(&[Type::Bool], Type::Map, |fbb| {
        Map::create(fbb, &MapArgs { keysSorted: false }).as_union_value()
    });
    assert_refused(&[Type::Bool, Type::Bool], Type::RunEndEncoded, |fbb| {
        RunEndEncoded::create(fbb, &RunEndEncodedArgs {}).as_union_value()
    });
    assert_refused(&[Type::Bool], Type::Bool, |fbb| {
        Bool::create(fbb, &BoolArgs {}).as_union_value()
    });
}

#[test]
fn unions_with_type_ids_out_of_range_or_twice_are_refused() {
    let two = [Type::Bool, Type::Bool];
    for ids in [
        vec![-1, 0],
        vec![0, 128],
        vec![3, 3],
        vec![0],
        vec![0, 1, 2],
        vec![300, 1],
    ] {
        assert_refused(&two, Type::Union, |fbb| {
            let ids = Some(fbb.create_vector(&ids));
            let args = UnionArgs {
                mode: UnionMode::Dense,
                typeIds: ids,
            };
            Union::create(fbb, &args).as_union_value()
        });
    }
    assert_refused(&[], Type::Union, |fbb| {
        Union::create(fbb, &UnionArgs::default()).as_union_value()
    });
}

#[test]
fn a_type_without_its_details_is_refused() {
    for kind in [
        Type::Int,
        Type::Timestamp,
        Type::Union,
        Type(99),
        Type::NONE,
    ] {
        read_schema(&stream(&[], kind, |_| None)).unwrap_err();
    }
}

#[test]
fn big_endian_data_is_unsupported() {
    let mut fbb = Fbb::new();
    let args = SchemaArgs {
        endianness: Endianness::Big,
        ..Default::default()
    };
    let schema = Schema::create(&mut fbb, &args);
    let message = MessageArgs {
        version: MetadataVersion::V5,
        header_type: MessageHeader::Schema,
        header: Some(schema.as_union_value()),
        ..Default::default()
    };
    let message = Message::create(&mut fbb, &message);
    fbb.finish(message, None);
    let len = (fbb.finished_data().len() as u32).to_le_bytes();
    let stream = [&[0xff; 4], &len[..], fbb.finished_data()].concat();
    assert_eq!(
        read_schema(&stream).unwrap_err().kind(),
        IpcErrorKind::Unsupported
    );
}
