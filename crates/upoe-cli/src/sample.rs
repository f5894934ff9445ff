//! `upoe sample`: new rows.

use std::path::PathBuf;

use clap::Args;
use upoe::{Condition, Model, within};
use upoe_file::ModelFile;

use crate::args::Common;
use crate::failure::Failure;
use crate::given::Given;
use crate::interrupt;
use crate::output::{self, Output};
use crate::overwriting::refuse_overwriting;
use crate::progress::Progress;
use crate::work::Pace;

/// Draw new rows, in the units of the data
#[derive(Args)]
#[command(after_help = "Examples:
  upoe sample data.upoe -n 1000 > more.csv
  upoe sample data.upoe -n 1000000 --seed 7 -o more.parquet
  upoe sample data.upoe -n 1000 --given 'CW=40,FL=15'      rows that have these values
  upoe sample data.upoe -n 1000 --given 'CW>40,CW<45'      rows in this range

Values are met exactly, by the density of the other columns given them. Ranges are met by
leaving out rows outside them; a note says what share of rows lies inside, and less than 1 in
10,000 is refused.

The same seed gives the same rows: a larger -n begins with the rows of a smaller one.")]
pub struct Sample {
    /// The model file
    pub model: PathBuf,
    /// How many rows to draw
    #[arg(short, long = "rows", value_name = "N", allow_negative_numbers = true)]
    pub n: usize,
    /// Conditions on columns, separated by commas: NAME=VALUE, NAME>VALUE, NAME<VALUE
    #[arg(long, value_name = "A=1,B>2", value_delimiter = ',')]
    pub given: Vec<String>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub seed: u64,
    /// The table to write: CSV, or by its extension .tsv, .parquet or .npy [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

impl Sample {
    /// Draws and writes, a part at a time.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        refuse_overwriting(&[&self.model], self.output.as_deref())?;
        let file = ModelFile::read(&self.model)?;
        output::check(self.output.as_deref(), self.common.json)?;
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let (path, json) = (self.output.as_deref(), self.common.json);
        if !self.given.is_empty() {
            return self.draw_given(&file, &progress);
        }
        let mut out = Output::create(path, json, &[], &file.names, &progress)?;
        let blocks = (Model::SAMPLE_BLOCK, file.names.len());
        progress.in_blocks("drawing rows", self.n, blocks, |rows| {
            let numbers = file.density().sample_range(rows.clone(), self.seed);
            out.write(&[], 0..rows.len(), &numbers)
        })?;
        progress.clear();
        out.finish()
    }

    /// Draws rows that fulfil the conditions.
    fn draw_given(&self, file: &ModelFile, progress: &Progress) -> Result<(), Failure> {
        let given = Given::parse(&self.given, &file.names)?;
        let columns = file.names.len();
        let failed = |error: upoe::Error| Failure::Message(given.refused(&error, &file.names));
        let condition = match given.equal.is_empty() {
            true => None,
            false => {
                let whitening = file.model.whitening();
                let made = Condition::new(file.density(), whitening, &given.equal, self.seed);
                Some(made.map_err(failed)?)
            }
        };
        let (path, json) = (self.output.as_deref(), self.common.json);
        let create = || Output::create(path, json, &[], &file.names, progress);
        let draw = |rows: std::ops::Range<usize>| match &condition {
            Some(condition) => condition.sample_range(rows),
            None => Ok(file.density().sample_range(rows, self.seed)),
        };
        if given.ranges.is_empty() {
            let mut out = create()?;
            // Each row takes a while: a few at a time.
            progress.in_blocks("drawing rows", self.n, (32, columns), |rows| {
                let numbers = draw(rows.clone()).map_err(failed)?;
                out.write(&[], 0..rows.len(), &numbers)
            })?;
            progress.clear();
            return out.finish();
        }
        let what = "drawing rows";
        let mut pace = Pace::new(progress, what);
        let mut going = pace.tell(what, 0, self.n, "rows");
        let watch = &mut |done: usize| {
            going = pace.tell(what, done, self.n, "rows");
            going.is_ok()
        };
        let found = within(&given.ranges, columns, self.n, draw, watch).map_err(failed)?;
        let Some((numbers, share)) = found else { return going };
        progress.note(&format!("{} % of the rows drawn lie in the ranges", percent(share)));
        let mut out = create()?;
        out.write(&[], 0..self.n, &numbers)?;
        out.finish()
    }
}

/// A share in percent, with two digits that count.
fn percent(share: f64) -> String {
    let digits = (1.0 - (100.0 * share).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{:.digits$}", 100.0 * share)
}
