//! `upoe explain`: what each expert and each column adds to a row's ln p.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use rayon::prelude::*;
use upoe::{Explanation, Rows};
use upoe_file::ModelFile;

use crate::args::{Common, TableArgs};
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::output::{self, Output};
use crate::progress::Progress;

/// What each expert and each column adds to the ln p of each row
#[derive(Args)]
#[command(after_help = "Examples:
  upoe explain data.upoe strange.csv --keep id
      log_density = baseline (ln p at the mean of the data) + expert1 + … + rest
  upoe explain data.upoe strange.csv --by column
      splits every part over the columns: expert1:NAME, …, rest:NAME; they add up exactly")]
pub struct Explain {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// Split by expert, or by expert and column
    #[arg(long, default_value = "expert",
          value_parser = PossibleValuesParser::new(["expert", "column"]))]
    pub by: String,
    /// The table to write: CSV, or by its extension .tsv, .parquet or .npy [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

impl Explain {
    /// Reads, explains, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        let file = self.table.model(&self.model, self.output.as_deref())?;
        output::check(self.output.as_deref(), self.common.json)?;
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let table = progress.read(&self.table.data, &self.table.options_for(&file.names)?)?;
        let failed = |error| from_core(error, &table);
        let by_column = self.by == "column";
        let names = names(&file, by_column);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        progress.warn_outside(&file, &rows).map_err(failed)?;
        let (path, json) = (self.output.as_deref(), self.common.json);
        let mut out = Output::create(path, json, &table.kept, &names, &progress)?;
        progress.in_blocks("explaining", table.rows, (16, names.len()), |part| {
            let numbers: Vec<Vec<f64>> = part
                .clone()
                .into_par_iter()
                .map(|i| file.model.explain(&rows.row(i)).map(|parts| numbers(&parts, by_column)))
                .collect::<upoe::Result<_>>()
                .map_err(failed)?;
            out.write(&table.kept, part, &numbers.concat())
        })?;
        progress.clear();
        out.finish()
    }
}

fn names(file: &ModelFile, by_column: bool) -> Vec<String> {
    let parts = (1..=file.model.experts().len()).map(|j| format!("expert{j}"));
    let parts = parts.chain(["rest".to_owned()]);
    let mut names = vec!["log_density".to_owned(), "baseline".to_owned()];
    if by_column {
        let each = |part: String| file.names.iter().map(move |name| format!("{part}:{name}"));
        names.extend(parts.flat_map(each));
    } else {
        names.extend(parts);
    }
    names
}

fn numbers(parts: &Explanation, by_column: bool) -> Vec<f64> {
    let mut numbers = vec![parts.ln_p, parts.baseline];
    if by_column {
        numbers.extend(parts.experts_by_column.iter().flatten());
        numbers.extend(&parts.rest_by_column);
    } else {
        numbers.extend(&parts.experts);
        numbers.push(parts.rest);
    }
    numbers
}
