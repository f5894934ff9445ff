//! `upoe sample`: new rows.

use std::path::PathBuf;

use clap::Args;
use upoe::Model;
use upoe_file::ModelFile;

use crate::args::Common;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{self, Output};
use crate::overwriting::refuse_overwriting;
use crate::progress::Progress;

/// Draw new rows, in the units of the data
#[derive(Args)]
#[command(after_help = "Examples:
  upoe sample data.upoe -n 1000 > more.csv
  upoe sample data.upoe -n 1000000 --seed 7 -o more.parquet

The same seed gives the same rows: a larger -n begins with the rows of a smaller one.")]
pub struct Sample {
    /// The model file
    pub model: PathBuf,
    /// How many rows to draw
    #[arg(short, long = "rows", value_name = "N", allow_negative_numbers = true)]
    pub n: usize,
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
        let mut out = Output::create(path, json, &[], &file.names, &progress)?;
        let blocks = (Model::SAMPLE_BLOCK, file.names.len());
        progress.in_blocks("drawing rows", self.n, blocks, |rows| {
            let numbers = file.model.sample_range(rows.clone(), self.seed);
            out.write(&[], 0..rows.len(), &numbers)
        })?;
        progress.clear();
        out.finish()
    }
}
