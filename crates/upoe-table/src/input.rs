//! Opening a file: what format it has, and a reader that counts its bytes.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::file_error::FileError;
use crate::gzip::{self, Gunzip};
use crate::utf16::{ByteOrder, Utf16};

/// Hears how far reading is: bytes done, bytes in all where known, rows so far. Ends the
/// reading with [`Error::Interrupted`] by answering `Break`.
pub type Progress<'a> = &'a mut dyn FnMut(u64, Option<u64>, u64) -> ControlFlow<()>;

/// Calls `progress` and turns its `Break` into an error.
pub(crate) fn report(
    progress: &mut Progress<'_>,
    done: u64,
    total: Option<u64>,
    rows: u64,
) -> Result<()> {
    match progress(done, total, rows) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted),
    }
}

/// The formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Comma- or tab-separated.
    Text {
        /// Surely separated by tabs.
        tabs: bool,
    },
    Npy,
    Parquet,
    Xlsx,
    JsonLines,
    Arrow,
    Mat,
}

/// Where bytes come from.
pub(crate) enum Bytestream {
    File(File),
    Memory(Vec<u8>),
    Pipe(Box<dyn Read>),
}

/// A file about to be read.
pub(crate) struct Input {
    pub file: PathBuf,
    pub format: Format,
    pub stream: Bytestream,
    /// Length in bytes, where known.
    pub length: Option<u64>,
    gzip: bool,
}

/// Deflate cannot make more than this many bytes of one.
pub(crate) const INFLATION: u64 = 1032;

impl Input {
    /// Opens a path; of `path.mat:name` and `path.xlsx:sheet` also gives the name.
    pub fn open(path: &Path) -> Result<(Input, Option<String>)> {
        if path.as_os_str() == "-" {
            let file = Path::new("standard input");
            return Ok((Input::pipe(file, Format::Text { tabs: false }, io::stdin())?, None));
        }
        if let Some((file, part)) = split_part(path) {
            return Ok((Input::open_file(&file)?, Some(part)));
        }
        Ok((Input::open_file(path)?, None))
    }

    fn open_file(path: &Path) -> Result<Input> {
        let mut file = File::open(path).map_err(|error| Error::read(path, error))?;
        let metadata = file.metadata().map_err(|error| Error::read(path, error))?;
        if metadata.is_dir() {
            return Err(FileError::IsDirectory { file: path.to_owned() }.into());
        }
        if !metadata.is_file() {
            let format = format_of(path, &[], false);
            return Input::pipe(path, format, file);
        }
        let start = head(&mut file)
            .and_then(|start| file.rewind().map(|()| start))
            .map_err(|error| Error::read(path, error))?;
        let stream = Bytestream::File(file);
        Input::known(path, &start, stream, metadata.len())
    }

    /// A table in memory.
    pub fn memory(name: &Path, bytes: Vec<u8>) -> Result<Input> {
        let start = bytes[..bytes.len().min(HEAD)].to_vec();
        let length = bytes.len() as u64;
        Input::known(name, &start, Bytestream::Memory(bytes), length)
    }

    fn known(path: &Path, start: &[u8], stream: Bytestream, length: u64) -> Result<Input> {
        let file = path.to_owned();
        if length == 0 {
            return Err(Error::Empty { file });
        }
        if start.get(8..).is_some_and(|text| text.starts_with(b"{\"__metadata__\"")) {
            return Err(Error::NotTable { file });
        }
        let gzip = start.starts_with(&gzip::MAGIC);
        let format = format_of(path, start, gzip);
        let is_archive = start.starts_with(b"PK\x03\x04") || start.starts_with(b"\xd0\xcf\x11\xe0");
        if is_archive && format != Format::Xlsx {
            return Err(Error::Archive { file });
        }
        Ok(Input { file, format, stream, length: Some(length), gzip })
    }

    fn pipe(path: &Path, format: Format, mut reader: impl Read + 'static) -> Result<Input> {
        let start = head(&mut reader).map_err(|error| Error::read(path, error))?;
        let gzip = start.starts_with(&gzip::MAGIC);
        let stream = Bytestream::Pipe(Box::new(Cursor::new(start).chain(reader)));
        Ok(Input { file: path.to_owned(), format, stream, length: None, gzip })
    }

    /// Whether the bytes can be read in any order.
    #[cfg(any(feature = "mat", feature = "parquet", feature = "xlsx"))]
    pub fn is_random_access(&self) -> bool {
        !self.gzip && !matches!(self.stream, Bytestream::Pipe(_))
    }

    /// A reader of the uncompressed bytes from the start.
    pub fn into_reader(self) -> Source {
        let done = Rc::new(Cell::new(0));
        let stream: Box<dyn Read> = match self.stream {
            Bytestream::File(file) => Box::new(file),
            Bytestream::Memory(bytes) => Box::new(Cursor::new(bytes)),
            Bytestream::Pipe(reader) => reader,
        };
        let counted = Counted { stream, done: Rc::clone(&done) };
        let reader: Box<dyn Read> = if self.gzip {
            Box::new(Gunzip::new(io::BufReader::with_capacity(1 << 16, counted)))
        } else {
            Box::new(counted)
        };
        let inflation = if self.gzip { INFLATION } else { 1 };
        let at_most = self.length.map(|length| length.saturating_mul(inflation));
        Source { reader, done, length: self.length, at_most, gzip: self.gzip }
    }
}

/// The uncompressed bytes of an input, in order.
pub(crate) struct Source {
    reader: Box<dyn Read>,
    done: Rc<Cell<u64>>,
    /// Length of the file, where known.
    pub length: Option<u64>,
    /// No more uncompressed bytes than this can come, where known.
    pub at_most: Option<u64>,
    pub gzip: bool,
}

impl Source {
    /// The same as UTF-8, where it is UTF-16.
    pub fn into_utf8(mut self) -> io::Result<Source> {
        let start = head(&mut self.reader)?;
        let order = ByteOrder::of(&start);
        let whole = Cursor::new(start).chain(self.reader);
        self.reader = match order {
            Some(order) => Box::new(Utf16::new(whole, order)),
            None => Box::new(whole),
        };
        Ok(self)
    }

    /// Bytes of the file read so far.
    pub fn done(&self) -> u64 {
        self.done.get()
    }

    /// At the end: an error if the file lost bytes since it was opened.
    pub fn check_end(&self, file: &Path) -> Result<()> {
        match self.length {
            Some(length) if !self.gzip && self.done() < length => {
                Err(Error::Shrank { file: file.to_owned(), read: self.done(), length })
            }
            _ => Ok(()),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

struct Counted {
    stream: Box<dyn Read>,
    done: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.done.set(self.done.get() + count as u64);
        Ok(count)
    }
}

const HEAD: usize = 32;

fn head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(HEAD);
    reader.take(HEAD as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// A known extension decides; the first bytes do for others.
fn format_of(path: &Path, start: &[u8], gzip: bool) -> Format {
    let stem = if gzip { path.with_extension("") } else { path.to_owned() };
    let gz_named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let named = if gzip && gz_named { &stem } else { path };
    let extension = named.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "csv" => Format::Text { tabs: false },
        "tsv" | "tab" => Format::Text { tabs: true },
        "npy" => Format::Npy,
        "parquet" | "pq" => Format::Parquet,
        "xlsx" | "xlsm" => Format::Xlsx,
        "jsonl" | "ndjson" | "json" => Format::JsonLines,
        "arrow" | "arrows" | "feather" | "ipc" => Format::Arrow,
        "mat" => Format::Mat,
        _ if start.starts_with(b"\x93NUMPY") => Format::Npy,
        _ if start.starts_with(b"PAR1") => Format::Parquet,
        _ if start.starts_with(b"MATLAB 5.0 MAT-file") => Format::Mat,
        _ if start.starts_with(b"ARROW1") => Format::Arrow,
        _ if start.starts_with(b"{\"") => Format::JsonLines,
        _ => Format::Text { tabs: false },
    }
}

/// Splits `path.mat:name` and `path.xlsx:sheet`, unless a file has that very name.
fn split_part(path: &Path) -> Option<(PathBuf, String)> {
    let (file, part) = path.to_str()?.rsplit_once(':')?;
    let extension = Path::new(file).extension()?.to_str()?.to_ascii_lowercase();
    let has_parts = matches!(extension.as_str(), "mat" | "xlsx" | "xlsm");
    (has_parts && !path.exists()).then(|| (PathBuf::from(file), part.to_owned()))
}
