//! Types of fields: from the message's form to Arrow's, which panics on some that a message can state.

use arrow::datatypes::{
    DECIMAL32_MAX_PRECISION, DECIMAL64_MAX_PRECISION, DECIMAL128_MAX_PRECISION,
    DECIMAL256_MAX_PRECISION, DataType, FieldRef, IntervalUnit, TimeUnit, UnionFields, UnionMode,
};
use arrow_ipc::{DateUnit, DictionaryEncoding, Field, Int, Precision, Type};

use super::error::{IpcError, Result};

/// The type of `field`, less its dictionary, with the given children.
pub(super) fn data_type(field: Field<'_>, children: Vec<FieldRef>) -> Result<DataType> {
    if let Some(data_type) = nested(field, &children)? {
        return Ok(data_type);
    }
    let data_type = flat(field)?;
    if !children.is_empty() {
        return Err(IpcError::malformed("children of a type that has none"));
    }
    Ok(data_type)
}

/// The type of a dictionary's keys: 32 bits, signed, where none is stated.
pub(super) fn dictionary_key(dictionary: DictionaryEncoding<'_>) -> Result<DataType> {
    dictionary.indexType().map_or(Ok(DataType::Int32), int)
}

fn nested(field: Field<'_>, children: &[FieldRef]) -> Result<Option<DataType>> {
    let only = || match children {
        [child] => Ok(FieldRef::clone(child)),
        _ => {
            let count = children.len();
            Err(IpcError::malformed(format_args!(
                "a list with {count} children"
            )))
        }
    };
    let data_type = match field.type_type() {
        Type::List => DataType::List(only()?),
        Type::LargeList => DataType::LargeList(only()?),
        Type::FixedSizeList => {
            let size = known(field.type_as_fixed_size_list())?.listSize();
            if size < 0 {
                return Err(IpcError::malformed(format_args!("a list size of {size}")));
            }
            DataType::FixedSizeList(only()?, size)
        }
        Type::Struct_ => DataType::Struct(children.into()),
        Type::Map => {
            let sorted = known(field.type_as_map())?.keysSorted();
            map(only()?, sorted)?
        }
        Type::Union => union(field, children)?,
        Type::RunEndEncoded => match children {
            [ends, values] if ends.data_type().is_run_ends_type() && !ends.is_nullable() => {
                DataType::RunEndEncoded(FieldRef::clone(ends), FieldRef::clone(values))
            }
            _ => return Err(IpcError::malformed("runs without run ends or values")),
        },
        _ => return Ok(None),
    };
    Ok(Some(data_type))
}

fn map(entries: FieldRef, sorted: bool) -> Result<DataType> {
    let fits = match entries.data_type() {
        DataType::Struct(fields) => {
            fields.len() == 2 && fields.first().is_some_and(|key| !key.is_nullable())
        }
        _ => false,
    };
    if !fits || entries.is_nullable() {
        return Err(IpcError::malformed(
            "a map whose entries are not of a key and a value",
        ));
    }
    Ok(DataType::Map(entries, sorted))
}

fn union(field: Field<'_>, children: &[FieldRef]) -> Result<DataType> {
    let union = known(field.type_as_union())?;
    let mode = match union.mode() {
        arrow_ipc::UnionMode::Sparse => UnionMode::Sparse,
        arrow_ipc::UnionMode::Dense => UnionMode::Dense,
        mode => return Err(IpcError::unsupported(format_args!("union mode {}", mode.0))),
    };
    if children.is_empty() {
        return Err(IpcError::unsupported("a union of no types"));
    }
    let wrong = |_| IpcError::malformed("type ids of a union are not of 0 to 127");
    let type_ids: Vec<i8> = match union.typeIds() {
        Some(ids) => ids
            .iter()
            .map(i8::try_from)
            .collect::<std::result::Result<_, _>>(),
        None => (0..children.len()).map(i8::try_from).collect(),
    }
    .map_err(wrong)?;
    let fields = UnionFields::try_new(type_ids, children.iter().map(FieldRef::clone))
        .map_err(IpcError::malformed)?;
    Ok(DataType::Union(fields, mode))
}

fn flat(field: Field<'_>) -> Result<DataType> {
    Ok(match field.type_type() {
        Type::Null => DataType::Null,
        Type::Bool => DataType::Boolean,
        Type::Int => int(known(field.type_as_int())?)?,
        Type::FloatingPoint => match known(field.type_as_floating_point())?.precision() {
            Precision::HALF => DataType::Float16,
            Precision::SINGLE => DataType::Float32,
            Precision::DOUBLE => DataType::Float64,
            other => return Err(no("float precision", other.0)),
        },
        Type::Utf8 => DataType::Utf8,
        Type::LargeUtf8 => DataType::LargeUtf8,
        Type::Utf8View => DataType::Utf8View,
        Type::Binary => DataType::Binary,
        Type::LargeBinary => DataType::LargeBinary,
        Type::BinaryView => DataType::BinaryView,
        Type::FixedSizeBinary => {
            let width = known(field.type_as_fixed_size_binary())?.byteWidth();
            if width < 0 {
                return Err(IpcError::malformed(format_args!("values of {width} bytes")));
            }
            DataType::FixedSizeBinary(width)
        }
        Type::Decimal => decimal(known(field.type_as_decimal())?)?,
        Type::Date => match known(field.type_as_date())?.unit() {
            DateUnit::DAY => DataType::Date32,
            DateUnit::MILLISECOND => DataType::Date64,
            other => return Err(no("date unit", other.0)),
        },
        Type::Time => {
            let time = known(field.type_as_time())?;
            match (time.bitWidth(), unit(time.unit())?) {
                (32, unit @ (TimeUnit::Second | TimeUnit::Millisecond)) => DataType::Time32(unit),
                (64, unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond)) => {
                    DataType::Time64(unit)
                }
                (bits, _) => return Err(no("time of this unit with bits", bits)),
            }
        }
        Type::Timestamp => {
            let timestamp = known(field.type_as_timestamp())?;
            DataType::Timestamp(
                unit(timestamp.unit())?,
                timestamp.timezone().map(Into::into),
            )
        }
        Type::Duration => DataType::Duration(unit(known(field.type_as_duration())?.unit())?),
        Type::Interval => DataType::Interval(match known(field.type_as_interval())?.unit() {
            arrow_ipc::IntervalUnit::YEAR_MONTH => IntervalUnit::YearMonth,
            arrow_ipc::IntervalUnit::DAY_TIME => IntervalUnit::DayTime,
            arrow_ipc::IntervalUnit::MONTH_DAY_NANO => IntervalUnit::MonthDayNano,
            other => return Err(no("interval unit", other.0)),
        }),
        other => return Err(no("data type", other.0)),
    })
}

fn int(int: Int<'_>) -> Result<DataType> {
    Ok(match (int.bitWidth(), int.is_signed()) {
        (8, true) => DataType::Int8,
        (16, true) => DataType::Int16,
        (32, true) => DataType::Int32,
        (64, true) => DataType::Int64,
        (8, false) => DataType::UInt8,
        (16, false) => DataType::UInt16,
        (32, false) => DataType::UInt32,
        (64, false) => DataType::UInt64,
        (bits, _) => return Err(no("integer width", bits)),
    })
}

fn decimal(decimal: arrow_ipc::Decimal<'_>) -> Result<DataType> {
    let (precision, scale) = (decimal.precision(), decimal.scale());
    let wrong = || {
        IpcError::malformed(format_args!(
            "a decimal of precision {precision}, scale {scale}"
        ))
    };
    let p = u8::try_from(precision).map_err(|_| wrong())?;
    let s = i8::try_from(scale).map_err(|_| wrong())?;
    let (most, data_type) = match decimal.bitWidth() {
        32 => (DECIMAL32_MAX_PRECISION, DataType::Decimal32(p, s)),
        64 => (DECIMAL64_MAX_PRECISION, DataType::Decimal64(p, s)),
        128 => (DECIMAL128_MAX_PRECISION, DataType::Decimal128(p, s)),
        256 => (DECIMAL256_MAX_PRECISION, DataType::Decimal256(p, s)),
        bits => return Err(no("decimal width", bits)),
    };
    if p == 0 || p > most || scale > precision || scale < -i32::from(most) {
        return Err(wrong());
    }
    Ok(data_type)
}

fn unit(unit: arrow_ipc::TimeUnit) -> Result<TimeUnit> {
    Ok(match unit {
        arrow_ipc::TimeUnit::SECOND => TimeUnit::Second,
        arrow_ipc::TimeUnit::MILLISECOND => TimeUnit::Millisecond,
        arrow_ipc::TimeUnit::MICROSECOND => TimeUnit::Microsecond,
        arrow_ipc::TimeUnit::NANOSECOND => TimeUnit::Nanosecond,
        other => return Err(no("time unit", other.0)),
    })
}

fn known<T>(details: Option<T>) -> Result<T> {
    details.ok_or_else(|| IpcError::malformed("a type without its details"))
}

fn no(what: &str, which: impl std::fmt::Display) -> IpcError {
    IpcError::unsupported(format_args!("{what} {which}"))
}
