//! Writes tables, a chunk of rows at a time.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;

use crate::atomic::AtomicFile;
use crate::error::{Error, Result};
use crate::text::TextColumn;
#[cfg(feature = "parquet")]
use crate::write_parquet::ParquetSink;

/// A table being written: text columns first, then numbers.
///
/// The file's extension gives the format: `.tsv`, `.npy`, `.parquet`, and CSV for `.csv`,
/// `.txt` and none; `.csv.gz` and `.tsv.gz` are compressed. A file appears under its name when
/// [`finish`](Self::finish) succeeds, and not at all otherwise.
pub struct TableWriter {
    file: PathBuf,
    kept: usize,
    columns: usize,
    sink: Sink,
}

enum Sink {
    Text {
        writer: TextWriter,
        separator: u8,
        line: Vec<u8>,
    },
    Npy {
        writer: BufWriter<AtomicFile>,
        rows: u64,
    },
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetSink>),
}

/// The format that a file's extension asks for.
enum Format {
    Text { separator: u8, gzip: bool },
    Npy,
    Parquet,
}

impl Format {
    fn of(path: &Path) -> Result<Format> {
        let extension = |path: &Path| {
            path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
        };
        let gzip = extension(path) == "gz";
        let plain = if gzip { path.with_extension("") } else { path.to_owned() };
        match (extension(&plain).as_str(), gzip) {
            ("" | "csv" | "txt", _) => Ok(Format::Text { separator: b',', gzip }),
            ("tsv" | "tab", _) => Ok(Format::Text { separator: b'\t', gzip }),
            ("npy", false) => Ok(Format::Npy),
            ("parquet" | "pq", false) => Ok(Format::Parquet),
            (other, gzip) => {
                let extension = format!("{other}{}", if gzip { ".gz" } else { "" });
                Err(Error::UnknownFormat { file: path.to_owned(), extension })
            }
        }
    }
}

/// Whether a table can be written there: an extension that is known, a directory that exists.
pub fn check_table(path: impl AsRef<Path>) -> Result<()> {
    Format::of(path.as_ref())?;
    Ok(crate::atomic::check_writable(path)?)
}

enum TextWriter {
    Stream(BufWriter<Box<dyn Write>>),
    File(BufWriter<AtomicFile>),
    Gzip(Box<GzEncoder<BufWriter<AtomicFile>>>),
}

impl Write for TextWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            TextWriter::Stream(writer) => writer.write(bytes),
            TextWriter::File(writer) => writer.write(bytes),
            TextWriter::Gzip(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            TextWriter::Stream(writer) => writer.flush(),
            TextWriter::File(writer) => writer.flush(),
            TextWriter::Gzip(writer) => writer.flush(),
        }
    }
}

impl TableWriter {
    /// Starts a table with these columns in a file, or as CSV on the standard output.
    pub fn create(path: Option<&Path>, kept: &[String], names: &[String]) -> Result<Self> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            return TableWriter::csv(Box::new(io::stdout()), "standard output", kept, names);
        };
        let (file, columns) = (path.to_owned(), names.len());
        let failed = |error| Error::write(path, error);
        let sink = match Format::of(path)? {
            Format::Npy => {
                if !kept.is_empty() {
                    return Err(Error::TextInNpy { file, kept: kept.to_vec() });
                }
                let mut writer = BufWriter::with_capacity(1 << 16, AtomicFile::create(path)?);
                writer.write_all(&npy_header(0, columns)).map_err(failed)?;
                Sink::Npy { writer, rows: 0 }
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(Error::Unsupported { file, format: "Parquet" }),
            #[cfg(feature = "parquet")]
            Format::Parquet => Sink::Parquet(Box::new(ParquetSink::create(path, kept, names)?)),
            Format::Text { separator, gzip } => {
                let writer = BufWriter::with_capacity(1 << 16, AtomicFile::create(path)?);
                let mut writer = match gzip {
                    true => TextWriter::Gzip(Box::new(GzEncoder::new(writer, Default::default()))),
                    false => TextWriter::File(writer),
                };
                header(&mut writer, separator, kept, names).map_err(failed)?;
                Sink::Text { writer, separator, line: Vec::new() }
            }
        };
        Ok(TableWriter { file, kept: kept.len(), columns, sink })
    }

    /// Starts a CSV table on any writer, which messages call `name`.
    pub fn csv(
        writer: Box<dyn Write>,
        name: &str,
        kept: &[String],
        names: &[String],
    ) -> Result<Self> {
        let file = PathBuf::from(name);
        let mut writer = TextWriter::Stream(BufWriter::with_capacity(1 << 16, writer));
        header(&mut writer, b',', kept, names).map_err(|error| Error::write(&file, error))?;
        let sink = Sink::Text { writer, separator: b',', line: Vec::new() };
        Ok(TableWriter { file, kept: kept.len(), columns: names.len(), sink })
    }

    /// Writes the `rows` of the text columns, with their numbers row by row.
    pub fn write_rows(
        &mut self,
        kept: &[TextColumn],
        rows: Range<usize>,
        numbers: &[f64],
    ) -> Result<()> {
        if kept.len() != self.kept || kept.iter().any(|column| column.len() < rows.end) {
            return Err(Error::RowShape { what: "text columns differ from those announced" });
        }
        if rows.len().checked_mul(self.columns) != Some(numbers.len()) {
            return Err(Error::RowShape { what: "numbers are not rows × columns" });
        }
        let file = &self.file;
        let failed = |error| Error::write(file, error);
        match &mut self.sink {
            Sink::Text { writer, separator, line } => {
                for (offset, row) in rows.enumerate() {
                    line.clear();
                    for column in kept {
                        text_cell(line, *separator, column.get(row).unwrap_or(""));
                        line.push(*separator);
                    }
                    for &number in &numbers[offset * self.columns..][..self.columns] {
                        number_cell(line, number);
                        line.push(*separator);
                    }
                    line.pop();
                    line.push(b'\n');
                    writer.write_all(line).map_err(failed)?;
                }
                Ok(())
            }
            Sink::Npy { writer, rows: written } => {
                for number in numbers {
                    writer.write_all(&number.to_le_bytes()).map_err(failed)?;
                }
                *written += rows.len() as u64;
                Ok(())
            }
            #[cfg(feature = "parquet")]
            Sink::Parquet(sink) => sink.write_rows(file, kept, rows, numbers),
        }
    }

    /// Writes what is left and puts the file under its name.
    pub fn finish(self) -> Result<()> {
        let file = &self.file;
        let failed = |error: io::Error| Error::write(file, error);
        let unbuffer = |writer: BufWriter<AtomicFile>| {
            writer.into_inner().map_err(|error| failed(error.into_error()))
        };
        match self.sink {
            Sink::Text { writer: TextWriter::Stream(mut writer), .. } => {
                writer.flush().map_err(failed)
            }
            Sink::Text { writer: TextWriter::File(writer), .. } => Ok(unbuffer(writer)?.commit()?),
            Sink::Text { writer: TextWriter::Gzip(writer), .. } => {
                Ok(unbuffer(writer.finish().map_err(failed)?)?.commit()?)
            }
            Sink::Npy { mut writer, rows } => {
                writer.seek(SeekFrom::Start(0)).map_err(failed)?;
                writer.write_all(&npy_header(rows, self.columns)).map_err(failed)?;
                Ok(unbuffer(writer)?.commit()?)
            }
            #[cfg(feature = "parquet")]
            Sink::Parquet(sink) => sink.finish(file),
        }
    }
}

fn header(
    writer: &mut impl Write,
    separator: u8,
    kept: &[String],
    names: &[String],
) -> io::Result<()> {
    let mut line = Vec::new();
    for name in kept.iter().chain(names) {
        text_cell(&mut line, separator, name);
        line.push(separator);
    }
    line.pop();
    line.push(b'\n');
    writer.write_all(&line)
}

/// Quotes a cell where reading it back needs quotes.
fn text_cell(line: &mut Vec<u8>, separator: u8, cell: &str) {
    let special = |byte: u8| byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
    if !cell.bytes().any(special) {
        line.extend_from_slice(cell.as_bytes());
        return;
    }
    line.push(b'"');
    line.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
    line.push(b'"');
}

/// The shortest digits that read back to the same bits.
fn number_cell(line: &mut Vec<u8>, number: f64) {
    if number.is_finite() {
        line.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
    } else if number.is_nan() {
        line.extend_from_slice(b"NaN");
    } else {
        line.extend_from_slice(if number > 0.0 { b"inf" } else { b"-inf" });
    }
}

/// A header of 128 bytes, whatever the number of rows, so that it can be written again.
fn npy_header(rows: u64, columns: usize) -> [u8; 128] {
    let mut header = [b' '; 128];
    header[..10].copy_from_slice(b"\x93NUMPY\x01\x00\x76\x00");
    let dictionary =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    header[10..10 + dictionary.len()].copy_from_slice(dictionary.as_bytes());
    header[127] = b'\n';
    header
}
