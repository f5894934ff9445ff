//! `upoe score`: ln p of every row.

use std::path::PathBuf;

use clap::Args;
use upoe::evaluate::Tail;
use upoe::{Density, Model, Rows};
use upoe_cuda::{Device, DeviceChoice};
use upoe_file::ModelFile;
use upoe_table::{ReadOptions, Table};

use crate::args::{Common, TableArgs};
use crate::data::{Data, parse_size};
use crate::device;
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::large::{Input, Written};
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

Columns are matched by name, in any order; columns that the model does not have are ignored.
With --missing model a row with missing cells has ln p of those that are there, integrated over
the others; standard_error is that of the integral, 0 where it is exact.")]
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
    /// Where the work is done: cpu, cuda (an NVIDIA GPU; cuda:1 is the second one), or auto, which takes
    /// a GPU for large tables where there is one
    #[arg(long, default_value = "cpu", value_name = "DEVICE", help_heading = "Running")]
    pub device: DeviceChoice,
    /// Seed of the samples for --tail
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub seed: u64,
    /// Memory that the table may take, such as 4G: a larger one is read in blocks [default: half of
    /// what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Running")]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

/// Who scores rows.
struct Scorer<'a> {
    density: &'a dyn Density,
    /// A GPU and the model that it scores by.
    device: Option<(Device, &'a Model)>,
}

impl Scorer<'_> {
    /// Rows that are worth the way to the device, or to a thread.
    fn unit(&self) -> usize {
        if self.device.is_some() { 1 << 15 } else { 1024 }
    }

    fn score(&self, rows: &Rows) -> upoe::Result<Vec<f64>> {
        match &self.device {
            Some((device, model)) => device.score(model, rows),
            None => self.density.score(rows),
        }
    }
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
        let options = self.table.options_for(&file.names)?;
        let table = match Input::open(&self.table.data, options, self.memory, &progress)? {
            Input::Whole(table) => table,
            Input::Large(data, options) => {
                return self.stream(&file, (&data, &options), &progress);
            }
        };
        let rows = Rows::new(&table.data, table.names.len());
        let warned = rows.and_then(|rows| progress.warn_outside(&file, &rows));
        warned.map_err(|error| from_core(error, &table))?;
        let scorer = self.scorer(&file, table.rows, &progress)?;
        let holes = table.data.iter().any(|x| x.is_nan());
        match self.tail {
            None if holes => self.with_holes(&scorer, &table, &progress),
            None => self.plain(&scorer, &table, &progress),
            Some(_) if holes => Err(Failure::Message(
                "--tail compares rows with complete ones, and cells are missing here; leave out \
                 their rows (`--missing drop`), or leave out `--tail`"
                    .into(),
            )),
            Some(samples) => self.with_tail(&scorer, &table, samples, &progress),
        }?;
        if let Some((device, _)) = &scorer.device {
            device::note_help(device, &progress);
        }
        Ok(())
    }

    /// Who scores about so many rows.
    fn scorer<'a>(
        &self,
        file: &'a ModelFile,
        rows: usize,
        progress: &Progress,
    ) -> Result<Scorer<'a>, Failure> {
        let device = if file.fitted().is_one_layer() {
            device::open(self.device, rows, file.names.len(), progress)?
        } else {
            if self.device != DeviceChoice::Cpu {
                let kind = if file.pool.is_some() { "pools" } else { "stacks of layers" };
                progress.note(&format!(
                    "the CPU does the work: a GPU scores models of one layer, not {kind}"
                ));
            }
            None
        };
        let device = device.map(|device| (device, &file.model));
        Ok(Scorer { density: file.density(), device })
    }

    /// Reads, scores and writes, block by block.
    fn stream(
        &self,
        file: &ModelFile,
        (data, options): (&Data, &ReadOptions),
        progress: &Progress,
    ) -> Result<(), Failure> {
        let rows = data.larger_than(0).map_or(0, |size| size.rows as usize);
        let scorer = self.scorer(file, rows, progress)?;
        let draw = |samples| Tail::draw(scorer.density, samples, self.seed, &mut |_| true);
        let tail = self.tail.map(draw).transpose().map_err(|e| Failure::Message(e.to_string()))?;
        let tail = tail.flatten();
        let names = ["log_density", "tail"].iter().take(1 + usize::from(tail.is_some()));
        let written = Written {
            names: names.map(|name| (*name).to_owned()).collect(),
            output: self.output.as_ref(),
            json: self.common.json,
            what: "scoring",
        };
        written.stream(file, (data, options), progress, |rows| {
            let scores = scorer.score(rows)?;
            Ok(match &tail {
                Some(tail) => scores.iter().flat_map(|s| [*s, tail.at(*s)]).collect(),
                None => scores,
            })
        })
    }

    /// Scores and writes, a part at a time.
    fn plain(&self, scorer: &Scorer, table: &Table, progress: &Progress) -> Result<(), Failure> {
        let failed = |error| from_core(error, table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let mut out = self.create(table, &["log_density"], progress)?;
        progress.in_blocks("scoring", table.rows, (scorer.unit(), rows.columns()), |part| {
            let scores = scorer.score(&rows.slice(part.clone())).map_err(failed)?;
            out.write(&table.kept, part, &scores)
        })?;
        progress.clear();
        out.finish()
    }

    /// ln p of the cells that are there, with the standard errors of its estimates.
    fn with_holes(
        &self,
        scorer: &Scorer,
        table: &Table,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let failed = |error| from_core(error, table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let mut out = self.create(table, &["log_density", "standard_error"], progress)?;
        progress.in_blocks("scoring", table.rows, (64, rows.columns()), |part| {
            let some = rows.slice(part.clone());
            let scores = scorer.density.score_present(&some).map_err(failed)?;
            let pairs: Vec<f64> = scores.iter().flat_map(|s| [s.value, s.standard_error]).collect();
            out.write(&table.kept, part, &pairs)
        })?;
        progress.clear();
        out.finish()
    }

    /// Scores all rows, then drawn ones, and compares them.
    fn with_tail(
        &self,
        scorer: &Scorer,
        table: &Table,
        samples: usize,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let failed = |error| from_core(error, table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        let (columns, mut scores) = (rows.columns(), Vec::with_capacity(table.rows));
        progress.in_blocks("scoring", table.rows, (scorer.unit(), columns), |part| {
            scores.extend(scorer.score(&rows.slice(part)).map_err(failed)?);
            Ok(())
        })?;
        let what = "drawing samples";
        let mut pace = Pace::new(progress, what);
        let mut going = pace.tell(what, 0, samples, "rows");
        let tail = Tail::draw(scorer.density, samples, self.seed, &mut |done| {
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
