//! Where a verb's result goes: a table on the standard output or in a file, or JSON.

use std::io::{BufWriter, IsTerminal, Stdout, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Number, Value};
use upoe_table::{TableWriter, TextColumn, is_missing};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::stdout;
use crate::visible;

/// A table being written.
pub enum Output {
    /// CSV, or what the file's extension says; text as it can be shown where people see it.
    Table { writer: TableWriter, seen: bool },
    /// One JSON object per line.
    Json { names: Vec<String>, kept: Vec<JsonCells>, to: JsonTarget },
}

/// What the cells of a kept column are in JSON.
#[derive(Clone, Copy, PartialEq)]
pub enum JsonCells {
    Numbers,
    Text,
}

impl JsonCells {
    /// Numbers where every cell is one as JSON writes them (007 is not) or is missing.
    fn of(column: &TextColumn) -> JsonCells {
        let fits = |cell: &str| is_missing(cell) || exact(cell).is_some();
        if column.iter().all(fits) { JsonCells::Numbers } else { JsonCells::Text }
    }

    fn value(self, cell: &str) -> Value {
        match self {
            JsonCells::Numbers => exact(cell).map_or(Value::Null, Value::Number),
            JsonCells::Text => cell.into(),
        }
    }
}

/// A number that JSON can hold as it is written, up to zeros at its end.
fn exact(cell: &str) -> Option<Number> {
    let number: Number = serde_json::from_str(cell).ok()?;
    let whole = !cell.contains(['.', 'e', 'E']);
    (!(whole && number.is_f64())).then_some(number)
}

/// A number in JSON, which has no word for those that are not finite: they are the text
/// "-inf", "inf" and "NaN".
pub fn number(x: f64) -> Value {
    if x.is_finite() { x.into() } else { x.to_string().into() }
}

/// Refuses, before any work, a file that the result cannot go to.
pub fn check(path: Option<&Path>, json: bool) -> Result<(), Failure> {
    let Some(path) = path.filter(|path| path.as_os_str() != "-") else { return stdout::check() };
    if !json {
        return Ok(upoe_table::check_table(path)?);
    }
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if !["", "json", "jsonl", "ndjson", "txt"].contains(&extension.as_str()) {
        return Err(Failure::Message(format!(
            "{}: `--json` writes JSON, one object per line; call the file .json or .jsonl, or \
             leave out `--json`",
            path.display()
        )));
    }
    Ok(upoe_table::check_writable(path)?)
}

/// Where JSON goes.
pub enum JsonTarget {
    Stdout { out: BufWriter<Stdout>, seen: bool },
    File(PathBuf, Vec<u8>),
}

impl Output {
    /// A table with the kept columns first, in a file or on the standard output. Rows that appear
    /// in a terminal are progress enough: the changing line goes away.
    pub fn create(
        path: Option<&Path>,
        json: bool,
        kept: &[TextColumn],
        names: &[String],
        progress: &Progress,
    ) -> Result<Self, Failure> {
        if let Some(twice) = kept.iter().find(|column| names.contains(&column.name)) {
            return Err(Failure::Message(format!(
                "--keep {}: the result has a column of that name; rename the one in the table",
                twice.name
            )));
        }
        let path = path.filter(|path| path.as_os_str() != "-");
        let seen = path.is_none() && stdout_is_terminal();
        if seen {
            progress.clear();
        }
        if !json {
            let shown =
                |name: &String| if seen { visible::line(name).into() } else { name.clone() };
            let kept: Vec<String> = kept.iter().map(|column| shown(&column.name)).collect();
            let names: Vec<String> = names.iter().map(shown).collect();
            return Ok(Output::Table { writer: TableWriter::create(path, &kept, &names)?, seen });
        }
        let to = match path {
            Some(path) => JsonTarget::File(path.to_owned(), Vec::new()),
            None => JsonTarget::Stdout { out: BufWriter::new(std::io::stdout()), seen },
        };
        let kept = kept.iter().map(JsonCells::of).collect();
        Ok(Output::Json { names: names.to_vec(), kept, to })
    }

    /// The same with kept columns as text in JSON: those of a table that is read in blocks may hold text
    /// later on.
    pub fn with_text(mut self) -> Self {
        if let Output::Json { kept, .. } = &mut self {
            kept.fill(JsonCells::Text);
        }
        self
    }

    /// Writes these rows of the kept columns, with their numbers row after row.
    pub fn write(
        &mut self,
        kept: &[TextColumn],
        rows: Range<usize>,
        numbers: &[f64],
    ) -> Result<(), Failure> {
        match self {
            Output::Table { writer, seen: false } => Ok(writer.write_rows(kept, rows, numbers)?),
            Output::Table { writer, seen: true } => {
                let kept: Vec<TextColumn> = kept.iter().map(|c| shown(c, rows.clone())).collect();
                Ok(writer.write_rows(&kept, 0..rows.len(), numbers)?)
            }
            Output::Json { names, kept: cells, to } => {
                for (offset, row) in rows.enumerate() {
                    let mut object = Map::new();
                    for (column, cells) in kept.iter().zip(&*cells) {
                        let cell = column.get(row).unwrap_or("");
                        object.insert(column.name.clone(), cells.value(cell));
                    }
                    let row = &numbers[offset * names.len()..][..names.len()];
                    for (name, &x) in names.iter().zip(row) {
                        object.insert(name.clone(), number(x));
                    }
                    let line = format!("{}\n", Value::Object(object));
                    match to {
                        JsonTarget::Stdout { out, seen: false } => {
                            out.write_all(line.as_bytes())?
                        }
                        JsonTarget::Stdout { out, seen: true } => {
                            out.write_all(visible::json(&line).as_bytes())?;
                        }
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
            Output::Table { writer, .. } => Ok(writer.finish()?),
            Output::Json { to: JsonTarget::Stdout { mut out, .. }, .. } => Ok(out.flush()?),
            Output::Json { to: JsonTarget::File(path, bytes), .. } => {
                Ok(upoe_table::write_file(path, &bytes)?)
            }
        }
    }
}

/// Whether people see what goes to the standard output. Only then is text of a file changed.
fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// These rows of a column, as they can be shown.
fn shown(column: &TextColumn, rows: Range<usize>) -> TextColumn {
    let mut shown = TextColumn::new(column.name.clone());
    rows.for_each(|row| shown.push(&visible::line(column.get(row).unwrap_or(""))));
    shown
}

/// Writes JSON to the standard output.
pub fn print_json(text: &str) -> Result<(), Failure> {
    if stdout_is_terminal() { print(&visible::json(text)) } else { print(text) }
}

/// Writes text to the standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    stdout::check()?;
    let mut out = anstream::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Makes a directory for outputs, where there is none.
pub fn make_directory(directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|error| {
        let directory = directory.display();
        Failure::Message(format!("{directory}: the directory cannot be made ({error})"))
    })
}
