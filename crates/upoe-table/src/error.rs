//! Everything that can go wrong with a table, with the place and the remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::file_error::FileError;
use crate::gzip::TrailingBytes;
use crate::remedy::Remedy;
use crate::select::MAX_COLUMNS;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a table: the data row, counted from 1 without the header, and in text
/// files the line of the file, counted from 1 with everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Data row, from 1; 0 is the header.
    pub row: u64,
    /// Line of a text file, from 1.
    pub line: Option<u64>,
}

impl Place {
    /// A row of a file that has no lines.
    pub(crate) fn row(row: u64) -> Self {
        Place { row, line: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.row, self.line) {
            (0, Some(line)) => write!(f, "header (line {line})"),
            (0, None) => write!(f, "header"),
            (row, Some(line)) => write!(f, "row {row} (line {line})"),
            (row, None) => write!(f, "row {row}"),
        }
    }
}

/// A column that was asked for and is not there, with the nearest name that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedColumn {
    /// The name asked for.
    pub name: String,
    /// The most similar name in the file, if any is similar.
    pub nearest: Option<String>,
}

impl fmt::Display for WantedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)?;
        match &self.nearest {
            Some(nearest) => write!(f, " (did you mean `{nearest}`?)"),
            None => Ok(()),
        }
    }
}

/// What a column is read for: it decides what can be done about a bad cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// To be modelled, and it could be left out.
    Modelled,
    /// A model needs it.
    Needed,
    /// It weighs the rows.
    Weights,
}

impl Role {
    /// The end of a message: how to do without the column.
    fn without(self) -> &'static str {
        match self {
            Role::Modelled => ", or leave the column out",
            Role::Needed => "; the model needs the column",
            Role::Weights => ", or choose another column of weights",
        }
    }

    /// What to do with a column of text.
    fn instead(self) -> &'static str {
        match self {
            Role::Modelled => "and cannot be modelled; leave it out, or carry it along",
            Role::Needed => "where the model needs numbers; correct the table",
            Role::Weights => "and weights are numbers; correct it, or choose another column",
        }
    }
}

fn list<T: fmt::Display>(items: &[T]) -> String {
    let quoted = |item: &T| match item.to_string() {
        text if text.contains(',') && !text.starts_with('`') => format!("\"{text}\""),
        text => text,
    };
    let shown: Vec<String> = items.iter().take(8).map(quoted).collect();
    let more = items.len().saturating_sub(shown.len());
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

/// A number of cells, which are not counted to the end where there are too many.
fn cells(found: usize) -> String {
    match found > MAX_COLUMNS {
        true => format!("more than {MAX_COLUMNS} cells"),
        false => format!("{found} cell{}", if found == 1 { "" } else { "s" }),
    }
}

/// A first row of one cell may be no row at all.
fn title(expected: usize) -> &'static str {
    if expected == 1 { "; if the table begins further down, skip the lines above it" } else { "" }
}

/// What went wrong with a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields say what they are: file, place, column, text
pub enum Error {
    #[error(transparent)]
    File(#[from] FileError),

    // Reading
    #[error("{}: cut short: {missing}; copy or download the file again", file.display())]
    Truncated { file: PathBuf, missing: String },
    #[error("{}: its compressed data is damaged ({reason}); copy or download the file again", file.display())]
    Damaged { file: PathBuf, reason: String },
    #[error("{}: other bytes follow the end of its gzip data; unpack it and check the table, or copy or download the file again", file.display())]
    TrailingBytes { file: PathBuf },
    #[error("{}: changed while it was read ({read} of {length} bytes came); read it again when nothing writes to it", file.display())]
    Shrank { file: PathBuf, read: u64, length: u64 },
    #[error("interrupted")]
    Interrupted,

    // The table as a whole
    #[error("{}: is a model or checkpoint of upoe, not a table; name the data here", file.display())]
    NotTable { file: PathBuf },
    #[error("{}: is an archive or a workbook (ZIP, NPZ, or Excel under another ending than .xlsx); save the table in it as CSV, Parquet or .xlsx", file.display())]
    Archive { file: PathBuf },
    #[error("{}: is empty; expected a table of numbers", file.display())]
    Empty { file: PathBuf },
    #[error("{}: has a header but no rows", file.display())]
    HeaderOnly { file: PathBuf },
    #[error("{}: every row has a missing cell, so none is left; fill some in, or fit without the columns that are mostly empty", file.display())]
    AllRowsDropped { file: PathBuf },
    #[error("{}: no column holds numbers (columns: {}); if the cells are separated by something other than commas, semicolons or tabs, say by what", file.display(), list(columns))]
    NoNumericColumns { file: PathBuf, columns: Vec<String> },
    #[error("{}: a row has more than {MAX_COLUMNS} cells, the most that a table can have; check the separator and the line ends, or exchange rows and columns", file.display())]
    TooManyColumns { file: PathBuf },
    #[error("{}: {place} has {} where the first row has {expected}; add or remove cells there, or quote cells that contain the separator{}", file.display(), cells(*found), title(*expected))]
    Ragged { file: PathBuf, place: Place, found: usize, expected: usize },
    #[error("{}: {place} opens a quote (\") that is never closed; close it, or double quotes within a cell", file.display())]
    UnclosedQuote { file: PathBuf, place: Place },

    // One cell or column
    #[error("{}: {place}, column `{column}`: `{text}` is not a number, though other cells of the column are; correct it or, if it is missing, write NA{}", file.display(), role.without())]
    MixedColumn { file: PathBuf, place: Place, column: String, text: String, role: Role },
    #[error("{}: the first line has text (`{text}`) where the rows below it have numbers (column {column}); if it holds the names of the columns, say so; otherwise correct it", file.display())]
    MixedHeader { file: PathBuf, column: usize, text: String },
    #[error("{}: {place}, column `{column}`: `{text}` looks like a number with a comma; if it is a decimal comma, say so; write nothing between thousands{}", file.display(), role.without())]
    DecimalComma { file: PathBuf, place: Place, column: String, text: String, role: Role },
    #[error("{}: column `{column}` is text ({place}: `{text}`) {}", file.display(), role.instead())]
    TextColumn { file: PathBuf, column: String, place: Place, text: String, role: Role },
    #[error("{}: column `{column}` has no values; fill it in{}", file.display(), role.without())]
    EmptyColumn { file: PathBuf, column: String, role: Role },
    #[error("{}: {place}, column `{column}` is missing; fill it in or leave out such rows{}", file.display(), role.without())]
    MissingCell { file: PathBuf, place: Place, column: String, role: Role },
    #[error("{}: {place}, column `{column}`: `{text}` is not a finite number; correct it, or write NA if it is missing", file.display())]
    NonFinite { file: PathBuf, place: Place, column: String, text: String },
    #[error("{}: {place}, column `{column}`: a weight must not be negative, and `{weight}` is", file.display())]
    NegativeWeight { file: PathBuf, place: Place, column: String, weight: f64 },
    #[error("{}: {place}, column {column} is not UTF-8; convert the file (`iconv -f latin1 -t utf-8`), or leave the column out", file.display())]
    NotUtf8 { file: PathBuf, place: Place, column: usize },

    // Choosing columns
    #[error("{}: no column {column}; the columns are {}{}", file.display(), list(columns), if *named { "" } else { "; the file is read as one without a header: if its first line holds the names, say so" })]
    UnknownColumn { file: PathBuf, column: WantedColumn, columns: Vec<String>, named: bool },
    #[error("{}: column `{column}` is chosen to be modelled and to be {}; name it once", file.display(), match other { Remedy::LeaveOut { .. } => "left out", Remedy::ChooseWeights => "the weights of rows", _ => "carried along" })]
    TwoRoles { file: PathBuf, column: String, other: Remedy },
    #[error("{}: every column is excluded or has another role; nothing is left to model", file.display())]
    NothingSelected { file: PathBuf },
    #[error("{}: lacks columns the model needs: {}", file.display(), list(missing))]
    MissingColumns { file: PathBuf, missing: Vec<WantedColumn> },
    #[error("{}: has {found} columns without names where the model needs {expected}; select them in the model's order", file.display())]
    ColumnCount { file: PathBuf, found: usize, expected: usize },

    // Formats
    #[error("{}: not a NPY file as numpy writes it: {reason}; save it again with `numpy.save`", file.display())]
    BadNpy { file: PathBuf, reason: &'static str },
    #[error("{}: holds elements of type `{dtype}`; convert them with `.astype(float)`", file.display())]
    UnsupportedDtype { file: PathBuf, dtype: String },
    #[error("{}: holds an array of {dimensions} dimensions; reshape it to rows and columns", file.display())]
    NotTwoDimensional { file: PathBuf, dimensions: usize },
    #[error("{}: not a whole Parquet file: {reason}; write it again", file.display())]
    BadParquet { file: PathBuf, reason: String },
    #[error("{}: not an Excel workbook (.xlsx) that can be read: {reason}; save it again, or save the sheet as CSV", file.display())]
    BadXlsx { file: PathBuf, reason: String },
    #[error("{}: the workbook has no sheet {}; the sheets are: {}", file.display(), wanted.as_ref().map_or("with numbers".to_owned(), |w| format!("called {w}")), if names.is_empty() { "none".into() } else { list(names) })]
    NoSheet { file: PathBuf, wanted: Option<WantedColumn>, names: Vec<String> },
    #[error("{}: cell {cell} of the sheet `{sheet}` is outside the table, whose columns are those of its first row; give the column a name, clear the cell, or skip rows above the table", file.display())]
    OutsideTable { file: PathBuf, sheet: String, cell: String },
    #[error("{}: {place} is not a JSON object: {reason}; every line must be one, such as {{\"x\": 1.5, \"y\": 2}}", file.display())]
    BadJson { file: PathBuf, place: Place, reason: String },
    #[error("{}: not an Arrow file (Feather version 2) or stream: {reason}; write it again", file.display())]
    BadArrow { file: PathBuf, reason: String },
    #[error("{}: nearly all cells of its {columns} columns are empty; leave out columns that are, or check that rows and columns are what they should be", file.display())]
    MostlyEmpty { file: PathBuf, columns: usize },
    #[error("{}: {format} files are not supported by this program; save the table as CSV or NPY", file.display())]
    Unsupported { file: PathBuf, format: &'static str },
    #[error("{}: {format} cannot be read from a pipe or compressed; give the plain file", file.display())]
    NeedsFile { file: PathBuf, format: &'static str },
    #[error("{}: not a MATLAB v5 file: {reason}; save it with `save -v7`", file.display())]
    BadMat { file: PathBuf, reason: &'static str },
    #[error("{}: not an 8-bit grey TIFF file ({reason}); save it as one", file.display())]
    BadTiff { file: PathBuf, reason: String },
    #[error("{}: holds several matrices ({}); choose one, as in `{}:{}`", file.display(), list(names), file.display(), names.first().map_or("name", String::as_str))]
    SeveralMatrices { file: PathBuf, names: Vec<String> },
    #[error("{}: holds no real, full, numeric matrix{}; the variables are: {}", file.display(), wanted.as_ref().map(|w| format!(" called {w}")).unwrap_or_default(), if names.is_empty() { "none".into() } else { list(names) })]
    NoMatrix { file: PathBuf, wanted: Option<WantedColumn>, names: Vec<String> },

    // Writing
    #[error("{}: NPY holds numbers only, so the columns to keep ({}) cannot go there; write CSV or Parquet", file.display(), list(kept))]
    TextInNpy { file: PathBuf, kept: Vec<String> },
    #[error("{}: tables are not written as `.{extension}`; take .csv, .tsv, .txt (also .csv.gz), .parquet or .npy", file.display())]
    UnknownFormat { file: PathBuf, extension: String },
    #[error("rows to write do not fit the columns: {what}")]
    RowShape { what: &'static str },
}

impl Error {
    /// The error of opening or reading `file`.
    pub(crate) fn read(file: &Path, source: io::Error) -> Self {
        match source.kind() {
            _ if source.get_ref().is_some_and(|inner| inner.is::<TrailingBytes>()) => {
                Error::TrailingBytes { file: file.to_owned() }
            }
            io::ErrorKind::UnexpectedEof => Error::Truncated {
                file: file.to_owned(),
                missing: "it ends in the middle of its data".into(),
            },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                Error::Damaged { file: file.to_owned(), reason: source.to_string() }
            }
            _ => FileError::read(file, source).into(),
        }
    }

    /// The error of writing `file`.
    pub(crate) fn write(file: &Path, source: io::Error) -> Self {
        FileError::write(file, source).into()
    }
}

/// The start of a cell's text, short enough for a message.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(40).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown.escape_debug().to_string()
}

#[cfg(test)]
mod tests;
