//! `upoe expect`: a column, given the others.

use std::path::PathBuf;

use clap::Args;
use upoe::{Filler, Rows};
use upoe_table::MissingCells;

use crate::args::{Common, TableArgs};
use crate::failure::{Failure, from_core};
use crate::given::column;
use crate::impute::share;
use crate::interrupt;
use crate::output::{self, Output};
use crate::progress::Progress;

/// What a column should be, given the other columns of each row
#[derive(Args)]
#[command(after_help = "Examples:
  upoe expect data.upoe new.csv --target BD                  columns BD, BD_mean, BD_median, BD_lo, BD_hi
  upoe expect data.upoe new.csv --target BD --interval 0.5 --keep id

BD is what the table has, NaN where it has nothing; it is not used. Other cells may be missing.")]
pub struct Expect {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// The column to say something about
    #[arg(long, value_name = "COLUMN")]
    pub target: String,
    /// How much of the probability lies between BD_lo and BD_hi
    #[arg(long, value_name = "SHARE", default_value = "0.9", value_parser = share)]
    pub interval: f64,
    /// Seed of the draws, where several cells of a row are missing
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub seed: u64,
    /// The table to write: CSV, or by its extension .tsv, .parquet or .npy [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

impl Expect {
    /// Reads, expects, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        let file = self.table.model(&self.model, self.output.as_deref())?;
        output::check(self.output.as_deref(), self.common.json)?;
        let target = column("--target", &self.target, &file.names)?;
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let options = self.table.options_for(&file.names)?;
        let options = match self.table.missing {
            None => options.with(|o| o.missing = MissingCells::Keep),
            Some(_) => options,
        };
        let mut table = progress.read(&self.table.data, &options)?;
        let columns = table.names.len();
        let mut had = Vec::with_capacity(table.rows);
        for cell in table.data.iter_mut().skip(target).step_by(columns) {
            had.push(std::mem::replace(cell, f64::NAN));
        }
        let failed = |error| from_core(error, &table);
        let rows = Rows::new(&table.data, columns).map_err(failed)?;
        let whitening = file.model.whitening();
        let filler = Filler::new(file.density(), whitening, self.seed).map_err(failed)?;
        let name = &file.names[target];
        let made = ["mean", "median", "lo", "hi"].map(|what| format!("{name}_{what}"));
        let names: Vec<String> = std::iter::once(name.clone()).chain(made).collect();
        let (path, json) = (self.output.as_deref(), self.common.json);
        let mut out = Output::create(path, json, &table.kept, &names, &progress)?;
        progress.in_blocks("expecting", table.rows, (16, columns), |part| {
            let found = filler.cells(&rows.slice(part.clone()), part.start, |_, c, cell| {
                let (low, high) =
                    if c == target { cell.interval(self.interval) } else { (0.0, 0.0) };
                (c == target).then(|| [cell.mean(), cell.median(), low, high])
            });
            let found = found.map_err(failed)?;
            let numbers: Vec<f64> = part
                .clone()
                .zip(found)
                .flat_map(|(i, cells)| {
                    let of_target = cells.into_iter().flatten().next();
                    std::iter::once(had[i]).chain(of_target.unwrap_or([f64::NAN; 4]))
                })
                .collect();
            out.write(&table.kept, part, &numbers)
        })?;
        progress.clear();
        out.finish()
    }
}
