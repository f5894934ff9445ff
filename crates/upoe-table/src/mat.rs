//! Reads matrices from MATLAB v5 files (`save -v6` and `-v7`).
//!
//! Reference: MathWorks, "MAT-File Format", level 5. A file is a header of 128 bytes and
//! a sequence of elements, each a variable, plain or deflated.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::find::wanted;
use crate::input::{Bytestream, INFLATION, Input, Progress, report};
use crate::matrix::{Layout, read_columns};
use crate::number::Number;
use crate::select::{Plan, ReadOptions};
use crate::table::Table;

const HEADER: u64 = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// A variable of the file.
struct Variable {
    name: String,
    /// Rows and columns, of a real, full, numeric matrix.
    shape: Option<(usize, usize)>,
    at: u64,
}

/// Reads the only matrix of a file, or the one called `variable`.
pub(crate) fn read(
    input: Input,
    variable: Option<&str>,
    options: &ReadOptions,
    mut progress: Progress<'_>,
) -> Result<Table> {
    let file = input.file.clone();
    let (Some(length), true) = (input.length, input.is_random_access()) else {
        return Err(Error::NeedsFile { file, format: "MAT" });
    };
    let stream: Box<dyn ReadSeek> = match input.stream {
        Bytestream::File(file) => Box::new(BufReader::with_capacity(1 << 16, file)),
        Bytestream::Memory(bytes) => Box::new(Cursor::new(bytes)),
        Bytestream::Pipe(_) => return Err(Error::NeedsFile { file, format: "MAT" }),
    };
    let mut mat = Mat { stream, file: &file, length, big_endian: false };
    mat.read_header()?;
    let variables = mat.variables()?;
    let chosen = choose(&file, &variables, variable)?;
    let (rows, columns) = chosen.shape.unwrap_or_default();

    mat.seek(chosen.at)?;
    let (mut body, at_most) = mat.body()?;
    body.matrix_head()?;
    let (kind, size) = body.tag()?;
    let number = number_of(kind).ok_or(body.bad("its numbers have an unknown type"))?;
    let claimed = [rows, columns, number.size()]
        .iter()
        .try_fold(1u64, |product, &factor| product.checked_mul(factor as u64))
        .filter(|&claimed| claimed == u64::from(size) && claimed <= at_most)
        .ok_or(body.bad("the size of a matrix contradicts its dimensions"))?;

    let plan = Plan::unnamed(&file, columns, options)?;
    let mut builder = Builder::new(&file, plan, options);
    let layout = Layout { number, big_endian: body.big_endian, rows, columns };
    let start = chosen.at;
    let mut tick = |done: u64| {
        let bytes = start + (claimed as f64 * done as f64 / rows as f64) as u64;
        report(&mut progress, bytes.min(length), Some(length), done)
    };
    read_columns(&mut body, &layout, &mut builder, &mut tick)?;
    builder.finish(rows)
}

fn choose<'v>(
    file: &Path,
    variables: &'v [Variable],
    variable: Option<&str>,
) -> Result<&'v Variable> {
    let file = file.to_owned();
    let matrices: Vec<&Variable> = variables.iter().filter(|v| v.shape.is_some()).collect();
    let names = |variables: &[&Variable]| variables.iter().map(|v| v.name.clone()).collect();
    let all: Vec<&Variable> = variables.iter().collect();
    match variable {
        Some(name) => matrices.into_iter().find(|v| v.name == name).ok_or_else(|| {
            let names: Vec<String> = names(&all);
            Error::NoMatrix { file, wanted: Some(wanted(name, &names)), names }
        }),
        None => match matrices[..] {
            [only] => Ok(only),
            [] => Err(Error::NoMatrix { file, wanted: None, names: names(&all) }),
            _ => Err(Error::SeveralMatrices { file, names: names(&matrices) }),
        },
    }
}

fn number_of(kind: u32) -> Option<Number> {
    Some(match kind {
        1 => Number::I8,
        2 => Number::U8,
        3 => Number::I16,
        4 => Number::U16,
        5 => Number::I32,
        6 => Number::U32,
        7 => Number::F32,
        9 => Number::F64,
        12 => Number::I64,
        13 => Number::U64,
        _ => return None,
    })
}

struct Mat<'a> {
    stream: Box<dyn ReadSeek>,
    file: &'a Path,
    length: u64,
    big_endian: bool,
}

impl Mat<'_> {
    fn bad(&self, reason: &'static str) -> Error {
        Error::BadMat { file: self.file.to_owned(), reason }
    }

    fn seek(&mut self, at: u64) -> Result<()> {
        self.stream.seek(SeekFrom::Start(at)).map_err(|error| Error::read(self.file, error))?;
        Ok(())
    }

    fn read_header(&mut self) -> Result<()> {
        let mut header = [0; HEADER as usize];
        if self.length < HEADER {
            return Err(self.bad("it is shorter than a header"));
        }
        self.stream.read_exact(&mut header).map_err(|error| Error::read(self.file, error))?;
        if header.starts_with(b"MATLAB 7.3") {
            return Err(self.bad("it is of version 7.3"));
        }
        self.big_endian = match &header[126..] {
            b"IM" => false,
            b"MI" => true,
            _ => return Err(self.bad("it does not begin as one")),
        };
        Ok(())
    }

    /// Lists the variables.
    fn variables(&mut self) -> Result<Vec<Variable>> {
        let mut variables = Vec::new();
        let mut at = HEADER;
        while at < self.length {
            self.seek(at)?;
            let mut tag = [0; 8];
            self.stream.read_exact(&mut tag).map_err(|error| Error::read(self.file, error))?;
            let size = u64::from(self.word(&tag[4..]));
            if at + 8 + size > self.length {
                let missing = "it ends within a variable".into();
                return Err(Error::Truncated { file: self.file.to_owned(), missing });
            }
            if matches!(self.word(&tag), MATRIX | COMPRESSED) {
                self.seek(at)?;
                let (mut body, _) = self.body()?;
                let (name, shape) = body.matrix_head()?;
                variables.push(Variable { name, shape, at });
            }
            at += 8 + size;
        }
        Ok(variables)
    }

    fn word(&self, bytes: &[u8]) -> u32 {
        word(bytes, self.big_endian)
    }

    /// The inside of the matrix that starts here, and how many bytes it can have.
    fn body(&mut self) -> Result<(Body<'_>, u64)> {
        let (file, big_endian) = (self.file, self.big_endian);
        let mut tag = [0; 8];
        self.stream.read_exact(&mut tag).map_err(|error| Error::read(file, error))?;
        let (kind, size) = (self.word(&tag), u64::from(self.word(&tag[4..])));
        let plain = (&mut self.stream).take(size);
        if kind == MATRIX {
            return Ok((Body { reader: Box::new(plain), file, big_endian }, size));
        }
        let reader = Box::new(ZlibDecoder::new(plain));
        let mut body = Body { reader, file, big_endian };
        match body.tag()? {
            (MATRIX, _) => Ok((body, size.saturating_mul(INFLATION))),
            _ => Err(body.bad("a compressed variable holds something else")),
        }
    }
}

fn word(bytes: &[u8], big_endian: bool) -> u32 {
    let bytes = bytes.first_chunk::<4>().copied().unwrap_or_default();
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// The elements inside a matrix.
struct Body<'a> {
    reader: Box<dyn Read + 'a>,
    file: &'a Path,
    big_endian: bool,
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl Body<'_> {
    fn bad(&self, reason: &'static str) -> Error {
        Error::BadMat { file: self.file.to_owned(), reason }
    }

    fn words<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).map_err(|error| Error::read(self.file, error))?;
        Ok(bytes)
    }

    /// The type and size of the element that starts here. A small one has both in its
    /// first word, and its data in the second.
    fn tag(&mut self) -> Result<(u32, u32)> {
        let first = word(&self.words::<4>()?, self.big_endian);
        if first >> 16 != 0 {
            return Ok((first & 0xffff, first >> 16));
        }
        Ok((first, word(&self.words::<4>()?, self.big_endian)))
    }

    /// A whole element of at most 4096 bytes, with the padding after it.
    fn element(&mut self) -> Result<Vec<u8>> {
        let first = word(&self.words::<4>()?, self.big_endian);
        let small = first >> 16 != 0;
        let size = if small { first >> 16 } else { word(&self.words::<4>()?, self.big_endian) };
        if size > if small { 4 } else { 4096 } {
            return Err(self.bad("the head of a variable is too large"));
        }
        let padded = if small { 4 } else { size.next_multiple_of(8) };
        let mut bytes = vec![0; padded as usize];
        self.reader.read_exact(&mut bytes).map_err(|error| Error::read(self.file, error))?;
        bytes.truncate(size as usize);
        Ok(bytes)
    }

    /// Name of a matrix, and its shape if we can model it.
    fn matrix_head(&mut self) -> Result<(String, Option<(usize, usize)>)> {
        const COMPLEX: u32 = 0x800;
        let flags = word(&self.element()?, self.big_endian);
        let class = flags & 0xff;
        if class > 15 {
            return Ok(("(unnamed object)".into(), None)); // laid out in its own way
        }
        let dimensions = self.element()?;
        let name = String::from_utf8_lossy(&self.element()?).into_owned();
        let dimensions: Vec<usize> =
            dimensions.chunks_exact(4).map(|size| word(size, self.big_endian) as usize).collect();
        let numeric = (6..=15).contains(&class) && flags & COMPLEX == 0;
        let shape = match dimensions[..] {
            [rows, columns] if numeric && rows > 0 && columns > 0 => Some((rows, columns)),
            _ => None,
        };
        Ok((name, shape))
    }
}
