//! The cells of an Arrow column.

use std::fmt::Display;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};

use crate::cell::Cell;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Numbers,
    Text,
    /// Neither: what it is instead.
    Other(&'static str),
}

impl Kind {
    pub fn of(data: &DataType) -> Kind {
        match data {
            DataType::Null | DataType::Boolean => Kind::Numbers,
            data if data.is_numeric() => Kind::Numbers,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
            DataType::Dictionary(_, values) => match Kind::of(values) {
                Kind::Text => Kind::Text,
                Kind::Numbers => Kind::Other("categories"),
                other => other,
            },
            DataType::Date32 | DataType::Date64 => Kind::Other("date"),
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Kind::Other("bytes"),
            data if data.is_temporal() => Kind::Other("time"),
            _ => Kind::Other("nested"),
        }
    }
}

/// Some of a column's cells.
pub(crate) fn cells(column: &dyn Array, rows: Range<usize>) -> Vec<Cell> {
    if let DataType::Dictionary(..) = column.data_type() {
        return categories(column, rows);
    }
    let of = |cell: &dyn Fn(usize) -> Cell| {
        rows.clone().map(|row| if column.is_null(row) { Cell::Null } else { cell(row) }).collect()
    };
    macro_rules! shown {
        ($type:ty, $get:ident) => {{
            let array = column.as_primitive::<$type>();
            of(&|row| shown(array.$get(row)))
        }};
    }
    macro_rules! integer {
        ($type:ty) => {{
            let array = column.as_primitive::<$type>();
            of(&|row| Cell::Integer(i64::from(array.value(row))))
        }};
    }
    let text = |text: &str| Cell::Text(text.to_owned());
    match column.data_type() {
        DataType::Boolean => {
            let array = column.as_boolean();
            of(&|row| Cell::Integer(array.value(row).into()))
        }
        DataType::Int8 => integer!(Int8Type),
        DataType::Int16 => integer!(Int16Type),
        DataType::Int32 => integer!(Int32Type),
        DataType::Int64 => integer!(Int64Type),
        DataType::UInt8 => integer!(UInt8Type),
        DataType::UInt16 => integer!(UInt16Type),
        DataType::UInt32 => integer!(UInt32Type),
        DataType::UInt64 => {
            let array = column.as_primitive::<UInt64Type>();
            of(&|row| Cell::Unsigned(array.value(row)))
        }
        DataType::Float16 => {
            let array = column.as_primitive::<Float16Type>();
            of(&|row| Cell::Number(array.value(row).to_f64()))
        }
        DataType::Float32 => {
            let array = column.as_primitive::<Float32Type>();
            of(&|row| Cell::Number(array.value(row).into()))
        }
        DataType::Float64 => {
            let array = column.as_primitive::<Float64Type>();
            of(&|row| Cell::Number(array.value(row)))
        }
        DataType::Decimal32(..) => decimals::<Decimal32Type>(column, rows),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(column, rows),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(column, rows),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(column, rows),
        DataType::Utf8 => {
            let array = column.as_string::<i32>();
            of(&|row| text(array.value(row)))
        }
        DataType::LargeUtf8 => {
            let array = column.as_string::<i64>();
            of(&|row| text(array.value(row)))
        }
        DataType::Utf8View => {
            let array = column.as_string_view();
            of(&|row| text(array.value(row)))
        }
        DataType::Date32 => shown!(Date32Type, value_as_date),
        DataType::Date64 => shown!(Date64Type, value_as_datetime),
        DataType::Timestamp(TimeUnit::Second, _) => shown!(TimestampSecondType, value_as_datetime),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            shown!(TimestampMillisecondType, value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            shown!(TimestampMicrosecondType, value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            shown!(TimestampNanosecondType, value_as_datetime)
        }
        DataType::Time32(TimeUnit::Second) => shown!(Time32SecondType, value_as_time),
        DataType::Time32(_) => shown!(Time32MillisecondType, value_as_time),
        DataType::Time64(TimeUnit::Microsecond) => shown!(Time64MicrosecondType, value_as_time),
        DataType::Time64(_) => shown!(Time64NanosecondType, value_as_time),
        DataType::Duration(TimeUnit::Second) => integer!(DurationSecondType),
        DataType::Duration(TimeUnit::Millisecond) => integer!(DurationMillisecondType),
        DataType::Duration(TimeUnit::Microsecond) => integer!(DurationMicrosecondType),
        DataType::Duration(TimeUnit::Nanosecond) => integer!(DurationNanosecondType),
        _ => rows.map(|_| Cell::Null).collect(),
    }
}

fn shown(value: Option<impl Display>) -> Cell {
    value.map_or(Cell::Null, |value| Cell::Text(value.to_string()))
}

fn decimals<T: DecimalType + ArrowPrimitiveType>(
    column: &dyn Array,
    rows: Range<usize>,
) -> Vec<Cell> {
    let array = column.as_primitive::<T>();
    let cell = |row: usize| match column.is_null(row) {
        true => Cell::Null,
        false => {
            let written = array.value_as_string(row);
            Cell::Number(fast_float2::parse(&written).unwrap_or(f64::NAN))
        }
    };
    rows.map(cell).collect()
}

/// Cells that refer to a list of values.
fn categories(column: &dyn Array, rows: Range<usize>) -> Vec<Cell> {
    let column_rows = column.slice(rows.start, rows.len());
    let dictionary = column_rows.as_any_dictionary();
    let values = dictionary.values();
    if values.is_empty() {
        return rows.map(|_| Cell::Null).collect();
    }
    let cell = |(row, key): (usize, usize)| match column_rows.is_null(row) {
        true => Cell::Null,
        false => cells(values.as_ref(), key..key + 1).pop().unwrap_or(Cell::Null),
    };
    dictionary.normalized_keys().into_iter().enumerate().map(cell).collect()
}
