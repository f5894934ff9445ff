//! `upoe impute`: fill in missing cells.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use upoe::{Cell, Filler, Rows};
use upoe_table::{MissingCells, Table, TextColumn};

use crate::args::{Common, TableArgs};
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::output::{self, Output};
use crate::progress::Progress;

/// Fill in missing cells from the model, given the values that each row has
#[derive(Args)]
#[command(after_help = "Examples:
  upoe impute data.upoe new.csv -o filled.csv                 each missing cell by its mean
  upoe impute data.upoe new.csv --interval 0.9 -o filled.csv  and columns NAME_lo, NAME_hi
  upoe impute data.upoe new.csv --draws 5 -o five.csv         five tables, by the column draw

Values that are there are never changed. Where one cell of a row is missing, the result is
exact. Where several are, it is the mean over draws of the others. Draws show what is uncertain:
use them for statistics of the filled table, whose spread means would make too small.")]
pub struct Impute {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// What to fill in: the mean, the median, or a draw from the density of the cell
    #[arg(long, value_name = "mean|median|draw", hide_possible_values = true,
          default_value = "mean", default_value_if("draws", clap::builder::ArgPredicate::IsPresent, "draw"),
          value_parser = PossibleValuesParser::new(["mean", "median", "draw"]))]
    pub method: String,
    /// Fill in every row this many times, with draws; a column `draw` counts them
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub draws: Option<usize>,
    /// Add columns NAME_lo and NAME_hi between which missing cells lie with this probability; of a
    /// value that is there, both are the value
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "draws")]
    pub interval: Option<f64>,
    /// Seed of the draws
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub seed: u64,
    /// The table to write: CSV, or by its extension .tsv, .parquet or .npy [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// A share of probability.
pub fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("give a share between 0 and 1".into()),
    }
}

/// Rows per part: each takes a while.
const UNIT: usize = 16;

impl Impute {
    /// Reads, fills in, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        if let Some(draws) = self.draws.filter(|draws| !(1..=10_000).contains(draws)) {
            return Err(Failure::Usage(format!("--draws {draws}: give a number from 1 to 10000")));
        }
        if self.draws.is_some() && self.method != "draw" {
            let text = format!("--method {}: --draws are of the method draw", self.method);
            return Err(Failure::Usage(text));
        }
        if self.method == "draw" && self.interval.is_some() {
            let text = "--interval: draws have no interval; leave out --method draw";
            return Err(Failure::Usage(text.into()));
        }
        let file = self.table.model(&self.model, self.output.as_deref())?;
        output::check(self.output.as_deref(), self.common.json)?;
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let options = self.table.options_for(&file.names)?;
        let options = match self.table.missing {
            None => options.with(|o| o.missing = MissingCells::Keep),
            Some(_) => options,
        };
        let table = progress.read(&self.table.data, &options)?;
        let failed = |error| from_core(error, &table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let missing: Vec<bool> = (0..table.names.len())
            .map(|c| table.data.iter().skip(c).step_by(table.names.len()).any(|x| x.is_nan()))
            .collect();
        let whitening = file.model.whitening();
        let filler = Filler::new(file.density(), whitening, self.seed).map_err(failed)?;
        let names = self.names(&table, &missing);
        let (path, json) = (self.output.as_deref(), self.common.json);
        let mut out = Output::create(path, json, &table.kept, &names, &progress)?;
        let width = names.len() * self.draws.unwrap_or(1);
        progress.in_blocks("filling in", table.rows, (UNIT, width), |part| {
            let some = rows.slice(part.clone());
            if self.method != "draw" {
                let filled = self.centres(&filler, &some, part.start, &missing).map_err(failed)?;
                return out.write(&table.kept, part, &filled);
            }
            let draws = self.draws.unwrap_or(1);
            let drawn = filler.draw(&some, draws, part.start).map_err(failed)?;
            if self.draws.is_none() {
                return out.write(&table.kept, part, &drawn);
            }
            let kept: Vec<TextColumn> =
                table.kept.iter().map(|c| repeated(c, part.clone(), draws)).collect();
            let numbered: Vec<f64> = drawn
                .chunks_exact(rows.columns())
                .enumerate()
                .flat_map(|(k, row)| {
                    std::iter::once((k % draws + 1) as f64).chain(row.iter().copied())
                })
                .collect();
            out.write(&kept, 0..part.len() * draws, &numbered)
        })?;
        progress.clear();
        out.finish()
    }

    /// The names of the columns that are written.
    fn names(&self, table: &Table, missing: &[bool]) -> Vec<String> {
        let mut names: Vec<String> = self.draws.iter().map(|_| "draw".to_owned()).collect();
        for (name, missing) in table.names.iter().zip(missing) {
            names.push(name.clone());
            if self.interval.is_some() && *missing {
                names.extend([format!("{name}_lo"), format!("{name}_hi")]);
            }
        }
        names
    }

    /// Rows with means or medians, and intervals where they are asked for.
    fn centres(
        &self,
        filler: &Filler,
        rows: &Rows,
        first: usize,
        missing: &[bool],
    ) -> upoe::Result<Vec<f64>> {
        let found = filler.cells(rows, first, |_, column, cell: &Cell| {
            let centre = if self.method == "median" { cell.median() } else { cell.mean() };
            (column, centre, self.interval.map(|share| cell.interval(share)))
        })?;
        let mut out = Vec::new();
        for (i, found) in found.iter().enumerate() {
            for (column, &value) in rows.row(i).iter().enumerate() {
                let cell = found.iter().find(|(c, ..)| *c == column);
                let (centre, interval) = cell.map_or((value, None), |(_, m, b)| (*m, *b));
                out.push(centre);
                if self.interval.is_some() && missing[column] {
                    let (low, high) = interval.unwrap_or((value, value));
                    out.extend([low, high]);
                }
            }
        }
        Ok(out)
    }
}

/// Cells of a column, each several times.
fn repeated(column: &TextColumn, rows: std::ops::Range<usize>, times: usize) -> TextColumn {
    let mut out = TextColumn::new(column.name.clone());
    for row in rows {
        (0..times).for_each(|_| out.push(column.get(row).unwrap_or("")));
    }
    out
}
