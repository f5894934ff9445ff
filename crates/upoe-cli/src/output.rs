//! Where a verb's result goes: a table on the standard output or in a file, or JSON.

use std::io::{BufWriter, Stdout, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use upoe_io::{TableWriter, TextColumn};

use crate::failure::Failure;

/// A table being written.
pub enum Output {
    /// CSV, or what the file's extension says.
    Table(TableWriter),
    /// One JSON object a line.
    Json { names: Vec<String>, to: JsonTarget },
}

/// Where JSON goes.
pub enum JsonTarget {
    Stdout(BufWriter<Stdout>),
    File(PathBuf, Vec<u8>),
}

impl Output {
    /// A table with the kept columns first, in a file or on the standard output.
    pub fn create(
        path: Option<&Path>,
        json: bool,
        kept: &[TextColumn],
        names: &[String],
    ) -> Result<Self, Failure> {
        let kept: Vec<String> = kept.iter().map(|column| column.name.clone()).collect();
        if !json {
            return Ok(Output::Table(TableWriter::create(path, &kept, names)?));
        }
        let to = match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => {
                upoe_io::check_writable(path)?;
                JsonTarget::File(path.to_owned(), Vec::new())
            }
            None => JsonTarget::Stdout(BufWriter::new(std::io::stdout())),
        };
        Ok(Output::Json { names: names.to_vec(), to })
    }

    /// Writes these rows of the kept columns, with their numbers row after row.
    pub fn write(
        &mut self,
        kept: &[TextColumn],
        rows: Range<usize>,
        numbers: &[f64],
    ) -> Result<(), Failure> {
        match self {
            Output::Table(writer) => Ok(writer.write_rows(kept, rows, numbers)?),
            Output::Json { names, to } => {
                for (offset, row) in rows.enumerate() {
                    let mut object = Map::new();
                    for column in kept {
                        object.insert(column.name.clone(), column.get(row).unwrap_or("").into());
                    }
                    let cells = &numbers[offset * names.len()..][..names.len()];
                    for (name, number) in names.iter().zip(cells) {
                        object.insert(name.clone(), Value::from(*number));
                    }
                    let line = format!("{}\n", Value::Object(object));
                    match to {
                        JsonTarget::Stdout(out) => out.write_all(line.as_bytes())?,
                        JsonTarget::File(_, bytes) => bytes.extend_from_slice(line.as_bytes()),
                    }
                }
                Ok(())
            }
        }
    }

    /// Writes what is left and puts a file under its name.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Output::Table(writer) => Ok(writer.finish()?),
            Output::Json { to: JsonTarget::Stdout(mut out), .. } => Ok(out.flush()?),
            Output::Json { to: JsonTarget::File(path, bytes), .. } => {
                Ok(upoe_io::write_file(path, &bytes)?)
            }
        }
    }
}

/// Writes text to the standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
