//! `upoe score`: ln p of every row.

use std::path::PathBuf;

use clap::Args;
use upoe::evaluate::Tail;
use upoe::{Model, Rows};
use upoe_table::Table;

use crate::args::{Common, TableArgs};
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::work::Pace;

/// The log-density ln p of every row, in nats
#[derive(Args)]
#[command(after_help = "Examples:
  upoe score data.upoe data.csv                            a column log_density
  upoe score data.upoe new.csv --keep id -o scores.csv     with the id of each row
  upoe score data.upoe new.csv --tail 10000                how unusual is each row?
      tail is the probability, under the model, of a row no more probable than this one
  upoe score data.upoe new.csv --keep id | sort -t, -k2 -g | head    the least probable rows

Columns are matched by name, in any order; columns that the model does not have are ignored.")]
pub struct Score {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// The table to write: CSV, or by its extension .tsv, .parquet or .npy [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Add the probability of a row no more probable than this one, estimated from this many samples
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tail: Option<usize>,
    /// Seed of the samples for --tail
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub seed: u64,
    #[command(flatten)]
    pub common: Common,
}

impl Score {
    /// Reads, scores, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        const MOST: usize = 100_000_000; // their scores are held in memory
        if let Some(tail) = self.tail.filter(|tail| !(1..=MOST).contains(tail)) {
            let text = format!("--tail {tail}: give a number of samples from 1 to {MOST}");
            return Err(Failure::Usage(text));
        }
        let file = self.table.model(&self.model, self.output.as_deref())?;
        output::check(self.output.as_deref(), self.common.json)?;
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let table = progress.read(&self.table.data, &self.table.options_for(&file.names)?)?;
        let rows = Rows::new(&table.data, table.names.len());
        let warned = rows.and_then(|rows| progress.warn_outside(&file, &rows));
        warned.map_err(|error| from_core(error, &table))?;
        match self.tail {
            None => self.plain(&file.model, &table, &progress),
            Some(samples) => self.with_tail(&file.model, &table, samples, &progress),
        }
    }

    /// Scores and writes, a part at a time.
    fn plain(&self, model: &Model, table: &Table, progress: &Progress) -> Result<(), Failure> {
        let failed = |error| from_core(error, table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let mut out = self.create(table, &["log_density"], progress)?;
        progress.in_blocks("scoring", table.rows, (1024, rows.columns()), |part| {
            let scores = model.score(&rows.slice(part.clone())).map_err(failed)?;
            out.write(&table.kept, part, &scores)
        })?;
        progress.clear();
        out.finish()
    }

    /// Scores all rows, then drawn ones, and compares them.
    fn with_tail(
        &self,
        model: &Model,
        table: &Table,
        samples: usize,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let failed = |error| from_core(error, table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let (columns, mut scores) = (rows.columns(), Vec::with_capacity(table.rows));
        progress.in_blocks("scoring", table.rows, (1024, columns), |part| {
            scores.extend(model.score(&rows.slice(part)).map_err(failed)?);
            Ok(())
        })?;
        let what = "drawing samples";
        let mut pace = Pace::new(progress, what);
        let mut going = pace.tell(what, 0, samples, "rows");
        let tail = Tail::draw(model, samples, self.seed, &mut |done| {
            going = pace.tell(what, done, samples, "rows");
            going.is_ok()
        });
        let Some(tail) = tail.map_err(failed)? else { return going };
        let mut out = self.create(table, &["log_density", "tail"], progress)?;
        progress.in_blocks("writing", table.rows, (1024, 2), |part| {
            let pairs: Vec<f64> =
                part.clone().flat_map(|i| [scores[i], tail.at(scores[i])]).collect();
            out.write(&table.kept, part, &pairs)
        })?;
        progress.clear();
        out.finish()
    }

    fn create(
        &self,
        table: &Table,
        names: &[&str],
        progress: &Progress,
    ) -> Result<Output, Failure> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Output::create(self.output.as_deref(), self.common.json, &table.kept, &names, progress)
    }
}
