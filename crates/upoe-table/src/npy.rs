//! Reads NPY, the array format of numpy.
//!
//! Reference: numpy, "NEP 1 — A simple file format for NumPy arrays".

use std::io::Read;
use std::path::Path;

use crate::builder::{Blocks, Builder};
use crate::error::{Error, Result};
use crate::input::{Input, Progress, report};
use crate::matrix::{Layout, read_columns, read_rows};
use crate::number::Number;
use crate::select::{Plan, ReadOptions};
use crate::table::Table;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads a table of one or two dimensions.
pub(crate) fn read(
    input: Input,
    options: &ReadOptions,
    mut progress: Progress<'_>,
    mut blocks: Option<Blocks<'_>>,
) -> Result<Table> {
    let file = input.file.clone();
    let mut source = input.into_reader();
    let (header, header_bytes) = read_header(&mut source, &file)?;
    let layout = header.layout;
    if layout.rows == 0 || layout.columns == 0 {
        return Err(Error::Empty { file });
    }
    let length = source.length;
    let Some(at_most) = source.at_most else {
        return Err(Error::NeedsFile { file, format: "NPY" });
    };
    let claimed = [layout.rows, layout.columns, layout.number.size()]
        .iter()
        .try_fold(1u64, |product, &factor| product.checked_mul(factor as u64))
        .unwrap_or(u64::MAX);
    let available = at_most.saturating_sub(header_bytes);
    if claimed > available {
        let missing =
            format!("its header promises {claimed} bytes of numbers, and there are {available}");
        return Err(Error::Truncated { file, missing });
    }
    let longer = "it holds more bytes than its header says";
    if !source.gzip && claimed < available {
        return Err(Error::BadNpy { file, reason: longer });
    }

    let plan = Plan::unnamed(&file, layout.columns, options)?;
    let mut builder = Builder::new(&file, plan, options);
    let mut done = header_bytes;
    let bytes_a_row = claimed / layout.rows as u64;
    let mut tick = |rows: u64| {
        done = header_bytes + rows * bytes_a_row;
        report(&mut progress, done, length, rows)
    };
    if header.fortran_order {
        read_columns(&mut source, &layout, &mut builder, &mut tick)?;
    } else {
        read_rows(&mut source, &layout, &mut builder, &mut blocks, &mut tick)?;
    }
    // the end of packed bytes is where their checksum is
    if source.gzip && source.read(&mut [0]).map_err(|error| Error::read(&file, error))? > 0 {
        return Err(Error::BadNpy { file, reason: longer });
    }
    builder.finish(layout.rows)
}

struct Header {
    layout: Layout,
    fortran_order: bool,
}

fn read_header(source: &mut impl Read, file: &Path) -> Result<(Header, u64)> {
    let bad = |reason| Error::BadNpy { file: file.to_owned(), reason };
    let io = |error| Error::read(file, error);
    let mut start = [0; 10];
    source.read_exact(&mut start).map_err(io)?;
    if !start.starts_with(MAGIC) {
        return Err(bad("it does not begin with numpy's signature"));
    }
    let mut length = u64::from(u16::from_le_bytes([start[8], start[9]]));
    let mut before = 10;
    match start[6] {
        1 => {}
        2 | 3 => {
            let mut high = [0; 2];
            source.read_exact(&mut high).map_err(io)?;
            length |= u64::from(u16::from_le_bytes(high)) << 16;
            before = 12;
        }
        _ => return Err(bad("its version is unknown")),
    }
    let mut text = Vec::new();
    source.take(length).read_to_end(&mut text).map_err(io)?;
    if (text.len() as u64) < length {
        return Err(Error::Truncated {
            file: file.to_owned(),
            missing: "it ends within its header".into(),
        });
    }
    let text = std::str::from_utf8(&text).map_err(|_| bad("its header is not text"))?;
    Ok((parse_header(text, file)?, before + length))
}

/// Parses `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse_header(text: &str, file: &Path) -> Result<Header> {
    let bad = |reason| Error::BadNpy { file: file.to_owned(), reason };
    let entry = |key: &str| {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        let at = quoted.iter().find_map(|quoted| Some(text.find(quoted)? + quoted.len()))?;
        Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
    };

    let descr = entry("descr").ok_or(bad("its header has no `descr`"))?;
    let unsupported = || {
        let dtype = crate::error::excerpt(descr.split('}').next().unwrap_or(descr));
        Error::UnsupportedDtype { file: file.to_owned(), dtype }
    };
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or_else(unsupported)?;
    let descr_text = descr[1..].split(quote).next().unwrap_or("");
    let (order, kind) = match descr_text.chars().next() {
        Some('<' | '>' | '|' | '=') => descr_text.split_at(1),
        _ => ("=", descr_text),
    };
    let big_endian = order == ">";
    let number = match kind {
        "b1" | "?" => Number::Bool,
        "u1" | "B" => Number::U8,
        "i1" | "b" => Number::I8,
        "u2" => Number::U16,
        "i2" => Number::I16,
        "u4" => Number::U32,
        "i4" => Number::I32,
        "u8" => Number::U64,
        "i8" => Number::I64,
        "f2" => Number::F16,
        "f4" => Number::F32,
        "f8" => Number::F64,
        _ => {
            let dtype = crate::error::excerpt(descr_text);
            return Err(Error::UnsupportedDtype { file: file.to_owned(), dtype });
        }
    };

    let order = entry("fortran_order").ok_or(bad("its header has no `fortran_order`"))?;
    let fortran_order = match () {
        () if order.starts_with("True") => true,
        () if order.starts_with("False") => false,
        () => return Err(bad("its `fortran_order` is neither True nor False")),
    };

    let shape = entry("shape").ok_or(bad("its header has no `shape`"))?;
    let shape = shape
        .strip_prefix('(')
        .and_then(|shape| shape.split_once(')'))
        .ok_or(bad("its `shape` is not a tuple"))?
        .0;
    let mut dimensions = Vec::new();
    for size in shape.split(',').map(str::trim).filter(|size| !size.is_empty()) {
        let size = size.trim_end_matches('L'); // written by Python 2
        dimensions.push(size.parse().map_err(|_| bad("its `shape` is not made of whole numbers"))?);
    }
    let (rows, columns) = match dimensions[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => {
            let dimensions = dimensions.len();
            return Err(Error::NotTwoDimensional { file: file.to_owned(), dimensions });
        }
    };
    Ok(Header { layout: Layout { number, big_endian, rows, columns }, fortran_order })
}
