//! `upoe transform`: the projections of every row.

use std::path::PathBuf;

use clap::Args;
use upoe::Rows;

use crate::args::{Common, TableArgs};
use crate::data::parse_size;
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::large::{Input, Written};
use crate::output::{self, Output};
use crate::progress::Progress;

/// The projections z of every row onto the learned directions
#[derive(Args)]
#[command(after_help = "Examples:
  upoe transform data.upoe data.csv -o z.csv               columns z1, z2, …
  upoe transform data.upoe data.csv --keep species -o z.parquet
  upoe transform data.upoe holes.csv --missing model       expected z where cells are missing")]
pub struct Transform {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// The table to write: CSV, or by its extension .tsv, .parquet or .npy [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Memory that the table may take, such as 4G: a larger one is read in blocks [default: half of
    /// what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Running")]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

impl Transform {
    /// Reads, projects, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        let file = self.table.model(&self.model, self.output.as_deref())?;
        output::check(self.output.as_deref(), self.common.json)?;
        let experts = file.model.experts().len();
        if experts == 0 {
            return Err(Failure::Message(format!(
                "{}: the model has no experts (it is Gaussian), so there are no projections",
                self.model.display()
            )));
        }
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let names: Vec<String> = (1..=experts).map(|j| format!("z{j}")).collect();
        let options = self.table.options_for(&file.names)?;
        let table = match Input::open(&self.table.data, options, self.memory, &progress)? {
            Input::Whole(table) => table,
            Input::Large(data, options) => {
                let (output, json) = (self.output.as_ref(), self.common.json);
                let written = Written { names, output, json, what: "projecting" };
                let work = |rows: &Rows| file.fitted().transform(rows);
                return written.stream(&file, (&data, &options), &progress, work);
            }
        };
        let failed = |error| from_core(error, &table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        progress.warn_outside(&file, &rows).map_err(failed)?;
        let (path, json) = (self.output.as_deref(), self.common.json);
        let mut out = Output::create(path, json, &table.kept, &names, &progress)?;
        let blocks = (1024, table.names.len());
        progress.in_blocks("projecting", table.rows, blocks, |part| {
            let z = file.fitted().transform_present(&rows.slice(part.clone())).map_err(failed)?;
            out.write(&table.kept, part, &z)
        })?;
        progress.clear();
        out.finish()
    }
}
