//! Flags that several verbs share.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use upoe::Choice;
use upoe_file::ModelFile;
use upoe_table::{Header, MissingCells, ReadOptions};

use crate::failure::Failure;
use crate::overwriting::refuse_overwriting;

/// The table to read, and what its columns are for.
#[derive(Args)]
pub struct TableArgs {
    /// The table: CSV or TSV (also .gz), Excel (FILE.xlsx or FILE.xlsx:SHEET), JSON lines (.jsonl, .ndjson),
    /// Parquet, Arrow (.arrow, .feather), NPY, MATLAB v5 (FILE.mat or FILE.mat:NAME);
    /// `-` reads CSV from the standard input. A folder, or a pattern in quotes ('data/*.parquet'), is
    /// one table in several files with the same columns
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Columns to use, by name or by position from 1 [default: all numeric columns, or those of
    /// the model]; put a name that has a comma in quotes: '"a, b",c';
    /// or give a range: x1-x20
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Columns")]
    pub columns: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Columns")]
    pub exclude: Vec<String>,
    /// Columns to copy to the output without modelling them
    #[arg(long, value_name = "ID,LABEL", value_delimiter = ',', help_heading = "Columns")]
    pub keep: Vec<String>,
    /// What to do with empty cells, NA, N/A, null and nan: error refuses them, drop leaves out
    /// their rows, model takes them as unknown and uses what is there [default: error, or model
    /// where missing cells are what it is about]
    #[arg(long, value_name = "error|drop|model", help_heading = "Columns",
          hide_possible_values = true,
          value_parser = PossibleValuesParser::new(["error", "drop", "model"]))]
    pub missing: Option<String>,
    /// Whether the first row of a text file or a sheet holds the names of the columns; auto: it does when
    /// none of its cells is a number
    #[arg(long, default_value = "auto", value_name = "auto|yes|no", help_heading = "Columns",
          hide_possible_values = true,
          value_parser = PossibleValuesParser::new(["auto", "yes", "no"]))]
    pub header: String,
    /// What separates the cells of a text file: a character, tab, or space for any run of blanks
    /// [default: found out]
    #[arg(long, value_name = "CHAR", help_heading = "Text files", value_parser = separator)]
    pub sep: Option<u8>,
    /// What numbers in a text file have before their fraction, a point or a comma [default: found
    /// out where commas do not separate cells]
    #[arg(long, value_name = ".|,", help_heading = "Text files", value_parser = decimal)]
    pub decimal: Option<u8>,
    /// Lines to pass over at the start of a text file or a sheet
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Text files")]
    pub skip: usize,
    /// Lines of a text file that start with this character are comments
    #[arg(long, value_name = "CHAR", help_heading = "Text files", value_parser = ascii)]
    pub comment: Option<u8>,
    /// More words or numbers that stand for a missing cell, in any format
    #[arg(
        long,
        value_name = "-999,?",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Columns"
    )]
    pub na_values: Vec<String>,
}

/// One ASCII character.
fn ascii(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !byte.is_ascii_control() && *byte != b'"' => Ok(*byte),
        _ => Err("give one character, not a quotation mark".into()),
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\t" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => ascii(text).map_err(|_| "give one character, tab or space".into()),
    }
}

fn decimal(text: &str) -> Result<u8, String> {
    match text {
        "." | "," => Ok(text.as_bytes()[0]),
        _ => Err("give a point or a comma".into()),
    }
}

impl TableArgs {
    /// How to read the table for a new model.
    pub fn options(&self) -> ReadOptions {
        ReadOptions::default().with(|o| {
            o.columns = names(&self.columns);
            o.exclude = names(&self.exclude);
            o.keep = names(&self.keep);
            o.missing = match self.missing.as_deref() {
                Some("drop") => MissingCells::Drop,
                Some("model") => MissingCells::Keep,
                _ => MissingCells::Error,
            };
            o.header = match self.header.as_str() {
                "yes" => Header::Yes,
                "no" => Header::No,
                _ => Header::Auto,
            };
            o.dialect.separator = self.sep;
            o.dialect.decimal = self.decimal;
            o.dialect.skip = self.skip;
            o.dialect.comment = self.comment;
            o.missing_words = self.na_values.clone();
        })
    }

    /// Reads the model this table is for; says so when the two were swapped.
    pub fn model(&self, path: &Path, output: Option<&Path>) -> Result<ModelFile, Failure> {
        refuse_overwriting(&[&self.data, path], output)?;
        let read = ModelFile::read(path);
        if matches!(read, Err(upoe_file::Error::NotModel { .. }))
            && ModelFile::read(&self.data).is_ok()
        {
            return Err(Failure::Message(format!(
                "{}: not a upoe model, but {} is: name the model first, then the data",
                path.display(),
                self.data.display()
            )));
        }
        Ok(read?)
    }

    /// How to read the table for a model with these columns. They were chosen at the fit: a
    /// choice that leaves one of them out is refused rather than ignored.
    pub fn options_for(&self, model: &[String]) -> Result<ReadOptions, Failure> {
        let options = self.options();
        if let Some(needed) = model.iter().find(|name| options.exclude.contains(name)) {
            return Err(Failure::Message(format!(
                "--exclude {needed}: the model needs column `{needed}`; fit a model without it, \
                 or leave out rows with `--missing drop`"
            )));
        }
        // Positions choose columns of a file without names.
        let named = options.columns.iter().any(|column| model.contains(column));
        if let Some(needed) = model.iter().find(|name| !options.columns.contains(name))
            && named
        {
            return Err(Failure::Message(format!(
                "--columns leaves out column `{needed}`, which the model needs; the model's \
                 columns are found by name without it"
            )));
        }
        Ok(options.with(|o| o.model_columns = Some(model.to_vec())))
    }
}

/// The names in a list that was split at commas: those in quotes are put together again.
fn names(pieces: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut open = false;
    for piece in pieces {
        match names.last_mut() {
            Some(name) if open => *name += &format!(",{piece}"),
            _ => names.push(piece.clone()),
        }
        open = match open {
            true => !piece.ends_with('"'),
            false => piece.starts_with('"') && (piece.len() == 1 || !piece.ends_with('"')),
        };
    }
    let bare = |name: String| match name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
        Some(bare) => bare.to_owned(),
        None => name,
    };
    names.into_iter().map(bare).collect()
}

/// What every verb understands.
#[derive(Args)]
pub struct Common {
    /// Number of threads [default: all cores]; results do not depend on it
    #[arg(long, value_name = "N", help_heading = "Running")]
    pub threads: Option<usize>,
    /// Print errors only: no progress, no notices
    #[arg(long, short, help_heading = "Running")]
    pub quiet: bool,
    /// Print the result as JSON; tables become one object per line. A number that is not finite
    /// is the text "-inf", "inf" or "NaN"
    #[arg(long, help_heading = "Running")]
    pub json: bool,
}

impl Common {
    /// Starts the threads asked for.
    pub fn start(&self) -> Result<(), Failure> {
        let Some(threads) = self.threads else { return Ok(()) };
        if !(1..=1024).contains(&threads) {
            return Err(Failure::Usage(format!(
                "--threads {threads}: give a number from 1 to 1024"
            )));
        }
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(|_| {
            Failure::Message(format!(
                "--threads {threads}: the system cannot start that many threads"
            ))
        })
    }
}

/// A value, or `auto`.
#[derive(Clone, Copy, Debug)]
pub struct Auto<T>(pub Option<T>);

/// One of the names of a choice.
pub fn one_of<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::ALL.iter().map(|choice| choice.name()))
        .try_map(|name| named(&name).ok_or("not a choice"))
}

/// `auto`, or one of the names of a choice.
pub fn auto_or<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = Auto<T>> {
    let names = std::iter::once("auto").chain(T::ALL.iter().map(|choice| choice.name()));
    PossibleValuesParser::new(names).map(|name| Auto(named(&name)))
}

fn named<T: Choice>(name: &str) -> Option<T> {
    T::ALL.iter().copied().find(|choice| choice.name() == name)
}
