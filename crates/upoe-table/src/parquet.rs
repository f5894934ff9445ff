//! Reads Parquet: flat columns of numbers, and text to carry along.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use ::parquet::file::reader::ChunkReader;
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;
use half::f16;

use crate::builder::{Blocks, Builder};
use crate::cell::{Cell, places, take_column};
use crate::error::{Error, Place, Result, Role};
use crate::input::{Bytestream, Input, Progress, report};
use crate::pages::column_reader;
use crate::select::{Plan, ReadOptions};
use crate::table::Table;

/// Rows decoded at a time.
const BATCH: usize = 4096;

/// Reads a table.
pub(crate) fn read(
    input: Input,
    options: &ReadOptions,
    mut progress: Progress<'_>,
    mut blocks: Option<Blocks<'_>>,
) -> Result<Table> {
    let file = input.file.clone();
    let (Some(length), true) = (input.length, input.is_random_access()) else {
        return Err(Error::NeedsFile { file, format: "Parquet" });
    };
    // The decoder checks most of what it reads; where damaged bytes slip through and it
    // panics, the file is at fault all the same.
    let outcome = catch_unwind(AssertUnwindSafe(|| match input.stream {
        Bytestream::File(stream) => {
            read_groups(stream, &file, length, options, &mut progress, &mut blocks)
        }
        Bytestream::Memory(bytes) => {
            read_groups(Bytes::from(bytes), &file, length, options, &mut progress, &mut blocks)
        }
        Bytestream::Pipe(_) => Err(Error::NeedsFile { file: file.clone(), format: "Parquet" }),
    }));
    outcome.unwrap_or_else(|_| {
        Err(Error::BadParquet { file, reason: "its parts contradict each other".into() })
    })
}

fn bad(file: &Path, error: ParquetError) -> Error {
    let file = file.to_owned();
    match error {
        ParquetError::EOF(reason) => Error::Truncated { file, missing: reason },
        error => Error::BadParquet { file, reason: error.to_string() },
    }
}

fn read_groups<R: ChunkReader + 'static>(
    source: R,
    file: &Path,
    length: u64,
    options: &ReadOptions,
    progress: &mut Progress<'_>,
    blocks: &mut Option<Blocks<'_>>,
) -> Result<Table> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&source);
    let metadata = metadata.map_err(|error| bad(file, error))?;
    let (source, schema) = (Arc::new(source), metadata.file_metadata().schema_descr());
    if schema.num_columns() == 0 {
        return Err(Error::Empty { file: file.to_owned() });
    }
    let kinds: Vec<Kind> = schema.columns().iter().map(Kind::of).collect();
    let names = schema.columns().iter().map(|column| column.path().string()).collect();
    let plan = Plan::named(file, names, options)?;
    let mut builder = Builder::new(file, plan, options);
    for slot in 0..builder.plan.modelled.len() {
        if let Kind::Other(what) = kinds[builder.plan.modelled[slot]] {
            builder.text(slot, Place::row(1), what)?;
        }
    }
    builder.unstore_text();
    if builder.stored.is_empty() {
        return builder.finish(0); // says so
    }

    let claimed = claimed_rows(&metadata, &builder, length)?.max(1);
    let mut rows = 0;
    for group in metadata.row_groups() {
        rows = read_group(&source, group, &kinds, &mut builder, rows, blocks, &mut |rows| {
            let done = (length as f64 * rows as f64 / claimed as f64) as u64;
            report(progress, done.min(length), Some(length), rows as u64)
        })?;
    }
    if rows == 0 {
        return Err(Error::HeaderOnly { file: file.to_owned() });
    }
    builder.finish(rows)
}

/// The rows that the file claims to have, if this many can be in it. Runs of equal values take
/// next to nothing, so that it may hold many cells per byte, but not any number.
fn claimed_rows(metadata: &ParquetMetaData, builder: &Builder<'_>, length: u64) -> Result<u64> {
    const CELLS: u64 = 1 << 20;
    const CELLS_A_BYTE: u64 = 8192;
    let groups = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).ok());
    let rows = groups.sum::<Option<u64>>();
    let cells = rows.and_then(|rows| rows.checked_mul(builder.stored.len() as u64));
    match (rows, cells) {
        (Some(rows), Some(cells)) if cells / CELLS_A_BYTE <= length + CELLS / CELLS_A_BYTE => {
            Ok(rows)
        }
        _ => {
            let reason = "it claims more rows than its bytes can hold".into();
            Err(Error::BadParquet { file: builder.file.to_owned(), reason })
        }
    }
}

fn read_group<R: ChunkReader + 'static>(
    source: &Arc<R>,
    group: &RowGroupMetaData,
    kinds: &[Kind],
    builder: &mut Builder<'_>,
    mut rows: usize,
    blocks: &mut Option<Blocks<'_>>,
    tick: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<usize> {
    let file = builder.file.to_owned();
    let expected = usize::try_from(group.num_rows()).unwrap_or(0);
    let mut slots = vec![Vec::new(); kinds.len()];
    for &slot in builder.stored.iter().chain(&builder.unstored) {
        if !builder.is_text(slot) {
            slots[builder.plan.modelled[slot]].push(slot);
        }
    }
    let mut columns = Vec::new();
    for ((index, &kind), slots) in kinds.iter().enumerate().zip(slots) {
        let plan = &builder.plan;
        let carried =
            plan.kept.contains(&index) || plan.weights == Some(index) || plan.groups == Some(index);
        if slots.is_empty() && !carried {
            continue;
        }
        if kind == Kind::Other("nested") {
            let (place, text) = (Place::row(1), "nested".into());
            let (column, role) = (plan.names[index].clone(), Role::Modelled);
            return Err(Error::TextColumn { file, column, place, text, role });
        }
        let chunk = group.column(index);
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        if start < 0 || chunk.data_page_offset() < 0 || chunk.compressed_size() < 0 {
            let reason = "a column starts before the file".into();
            return Err(Error::BadParquet { file, reason });
        }
        let reader = column_reader(source, chunk, expected, kinds.len());
        let reader = reader.map_err(|error| bad(&file, error))?;
        let levels = chunk.column_descr().max_def_level();
        columns.push((index, kind, slots, reader, levels));
    }
    let end = rows + expected;
    loop {
        let places = places(builder);
        let mut read = None;
        for (index, kind, slots, reader, levels) in &mut columns {
            let cells = read_batch(reader, *kind, *levels).map_err(|error| bad(&file, error))?;
            if *read.get_or_insert(cells.len()) != cells.len() || rows + cells.len() > end {
                let reason = "its columns have different lengths".into();
                return Err(Error::BadParquet { file, reason });
            }
            take_column(builder, *index, slots, &places, rows, &cells)?;
        }
        match read {
            None | Some(0) if rows == end => return Ok(rows),
            None | Some(0) => {
                let missing = format!("{} rows are not there", end - rows);
                return Err(Error::Truncated { file, missing });
            }
            Some(count) => rows += count,
        }
        builder.block(rows, blocks)?;
        tick(rows)?;
    }
}

/// What a column's physical values mean.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    Unsigned,
    /// A whole number times a power of ten.
    Decimal(i32),
    Half,
    /// Not a number: what it is instead.
    Other(&'static str),
}

impl Kind {
    fn of(column: &Arc<ColumnDescriptor>) -> Kind {
        if column.max_rep_level() > 0 {
            return Kind::Other("nested");
        }
        let half = matches!(column.logical_type_ref(), Some(LogicalType::Float16));
        match (column.physical_type(), column.converted_type()) {
            (_, ConvertedType::DECIMAL) => Kind::Decimal(column.type_scale()),
            (_, ConvertedType::DATE) => Kind::Other("date"),
            (
                Type::INT32 | Type::INT64,
                ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS,
            ) => Kind::Other("time"),
            (_, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS) => {
                Kind::Other("time")
            }
            (Type::INT96, _) => Kind::Other("time"),
            (Type::INT64, _)
                if matches!(
                    column.logical_type_ref(),
                    Some(LogicalType::Timestamp { .. } | LogicalType::Time { .. })
                ) =>
            {
                Kind::Other("time")
            }
            (Type::INT32, ConvertedType::UINT_32) | (Type::INT64, ConvertedType::UINT_64) => {
                Kind::Unsigned
            }
            (Type::FIXED_LEN_BYTE_ARRAY, _) if half => Kind::Half,
            (Type::FIXED_LEN_BYTE_ARRAY, _) => Kind::Other("bytes"),
            (Type::BYTE_ARRAY, _) => Kind::Other("text"),
            _ => Kind::Plain,
        }
    }
}

fn read_batch(reader: &mut ColumnReader, kind: Kind, levels: i16) -> ParquetResult<Vec<Cell>> {
    let bytes = |bytes: &[u8]| match kind {
        Kind::Half => {
            let bytes = bytes.first_chunk::<2>().copied().unwrap_or_default();
            Cell::Number(f16::from_le_bytes(bytes).to_f64())
        }
        Kind::Decimal(scale) => Cell::Number(scaled(big_integer(bytes), scale)),
        _ => Cell::Text(String::from_utf8_lossy(bytes).into_owned()),
    };
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            batch(reader, levels, |&value| Cell::Integer(value.into()))
        }
        ColumnReader::Int32ColumnReader(reader) => batch(reader, levels, |&value| match kind {
            Kind::Unsigned => Cell::Integer((value as u32).into()),
            Kind::Decimal(scale) => Cell::Number(scaled(value.into(), scale)),
            _ => Cell::Integer(value.into()),
        }),
        ColumnReader::Int64ColumnReader(reader) => batch(reader, levels, |&value| match kind {
            Kind::Unsigned => Cell::Unsigned(value.cast_unsigned()),
            Kind::Decimal(0) => Cell::Integer(value),
            Kind::Decimal(scale) => Cell::Number(scaled(value as f64, scale)),
            _ => Cell::Integer(value),
        }),
        ColumnReader::FloatColumnReader(reader) => {
            batch(reader, levels, |&value| Cell::Number(value.into()))
        }
        ColumnReader::DoubleColumnReader(reader) => {
            batch(reader, levels, |&value| Cell::Number(value))
        }
        ColumnReader::Int96ColumnReader(reader) => {
            batch(reader, levels, |value| Cell::Integer(value.to_millis()))
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            batch(reader, levels, |value| bytes(value.data()))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            batch(reader, levels, |value| bytes(value.data()))
        }
    }
}

fn batch<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    levels: i16,
    cell: impl Fn(&T::T) -> Cell,
) -> ParquetResult<Vec<Cell>> {
    let (mut values, mut definitions) = (Vec::new(), Vec::new());
    let mut records = 0;
    while records < BATCH {
        let room = BATCH - records;
        let (read, _, _) = reader.read_records(room, Some(&mut definitions), None, &mut values)?;
        if read == 0 {
            break;
        }
        records += read;
    }
    if levels == 0 {
        return Ok(values.iter().map(cell).collect());
    }
    let mut values = values.iter();
    let present = |&level: &i16| match level == levels {
        true => values.next().map_or(Cell::Null, &cell),
        false => Cell::Null,
    };
    Ok(definitions.iter().map(present).collect())
}

fn scaled(value: f64, scale: i32) -> f64 {
    // dividing by an exact power of ten rounds once
    value / 10f64.powi(scale)
}

/// A two's complement integer, most significant byte first.
fn big_integer(bytes: &[u8]) -> f64 {
    let negative = bytes.first().is_some_and(|&byte| byte >= 128);
    let digit = |byte: u8| f64::from(if negative { !byte } else { byte });
    let magnitude = bytes.iter().fold(0.0, |value, &byte| value * 256.0 + digit(byte));
    if negative { -(magnitude + 1.0) } else { magnitude }
}
