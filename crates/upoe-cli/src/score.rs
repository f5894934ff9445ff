//! `upoe score`: ln p of every row.

use std::path::PathBuf;

use clap::Args;
use upoe::Rows;
use upoe::evaluate::Tail;

use crate::args::{Common, TableArgs};
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::output::{self, Output};
use crate::progress::Progress;

/// ln p of every row, in nats
#[derive(Args)]
#[command(after_help = "Examples:
  upoe score data.upoe data.csv                            a column log_density
  upoe score data.upoe new.csv --keep id -o scores.csv     with the id of each row
  upoe score data.upoe new.csv --tail 10000                and how unusual each row is:
      tail is the probability, under the model, of a row less probable than this one
  upoe score data.upoe new.csv --keep id | sort -t, -k2 -g | head    the ten strangest rows

Columns are matched by name, in any order; more columns than the model's are ignored.")]
pub struct Score {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// The table to write: CSV, or .tsv, .parquet, .npy by the extension [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Add the probability of a less probable row, from this many samples
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
        let progress = Progress::new(self.common.quiet);
        let table = progress.read(&self.table.data, &self.table.options_for(&file.names)?)?;
        progress.stage("scoring");
        let failed = |error| from_core(error, &table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let scores = file.model.score(&rows).map_err(failed)?;
        if scores.contains(&f64::NEG_INFINITY) {
            progress.warn_outside(&file, &rows).map_err(failed)?;
        }
        let (names, numbers) = match self.tail {
            None => (vec!["log_density".to_owned()], scores),
            Some(samples) => {
                progress.stage(&format!("drawing {samples} samples"));
                let tail =
                    Tail::draw(&file.model, samples, self.seed, &mut |_| !interrupt::asked());
                let Some(tail) = tail.map_err(failed)? else {
                    return Err(Failure::Interrupted(None));
                };
                let both = |score: f64| [score, tail.at(score)];
                let numbers = scores.into_iter().flat_map(both).collect();
                (vec!["log_density".to_owned(), "tail".to_owned()], numbers)
            }
        };
        progress.clear();
        let mut out =
            Output::create(self.output.as_deref(), self.common.json, &table.kept, &names)?;
        out.write(&table.kept, 0..table.rows, &numbers)?;
        out.finish()
    }
}
