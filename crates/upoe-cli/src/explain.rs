//! `upoe explain`: each value of a row beside what is expected; or what each expert and each column adds to ln p.

use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use rayon::prelude::*;
use upoe::{Explainer, Explanation, Rows, explain_present};
use upoe_file::ModelFile;

use crate::args::{Common, TableArgs};
use crate::beside;
use crate::data::parse_size;
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::large::{Input, Written};
use crate::output::{self, Output};
use crate::progress::Progress;

/// Why each row is as probable as it is: its values beside what is expected, given the others
#[derive(Args)]
#[command(after_help = "Examples:
  upoe explain data.upoe strange.csv --keep id
      log_density, and for each column NAME its value, NAME:expected, NAME:low and NAME:high (where 90 %
      of such rows lie, given the other columns), NAME:surprise (the probability of a value as far out)
      and NAME:blame (how much more probable the row would be with the likeliest value, in nats)
  upoe explain data.upoe strange.csv --words
      the three columns of each row that are most to blame: CW 47.1, expected 45.3 (44.9 to 45.8)
  upoe explain data.upoe strange.csv --by expert
      log_density = baseline (ln p at the mean of the data) + expert1 + … + rest
  upoe explain data.upoe strange.csv --by column
      splits every part over the columns: expert1:NAME, …, rest:NAME; they add up exactly

Of a stack of layers, the parts are layer1.expert1, layer2.radial, … and the baseline is the
mean ln p of rows drawn from the model; layer2.times_as_far says how many times as far out as
usual the row lies, in every direction. A pool adds one part, pool: what its members know beyond
the stack. --by column then splits ln p as a whole: all:NAME.

Rows with missing cells need --missing model; their values are then judged given those that are
there. --by expert and --by column then give means over draws of the missing cells; what it adds to
ln p that these are not known is in rest, in their columns.")]
pub struct Explain {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// What to show: values beside expected ones, or ln p split by expert, or by expert and column
    #[arg(long, default_value = "expected",
          value_parser = PossibleValuesParser::new(["expected", "expert", "column"]))]
    pub by: String,
    /// Say in words which values are odd, one line per row
    #[arg(long)]
    pub words: bool,
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

impl Explain {
    /// Reads, explains, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        if self.words && (self.by != "expected" || self.output.is_some() || self.common.json) {
            let text = "--words goes to the standard output, without --by, --output and --json";
            return Err(Failure::Usage(text.into()));
        }
        let file = self.table.model(&self.model, self.output.as_deref())?;
        output::check(self.output.as_deref(), self.common.json)?;
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let options = self.table.options_for(&file.names)?;
        if self.words {
            let table = progress.read(&self.table.data, &options)?;
            return beside::say(&file, &table, &progress);
        }
        let unknown = |error: upoe::Error| Failure::Message(error.to_string());
        let explainer = match self.by.as_str() {
            "expected" => None,
            _ => Some(Explainer::new(file.fitted(), file.training.seed).map_err(unknown)?),
        };
        let parts = match (self.by.as_str(), file.fitted().is_one_layer()) {
            ("column", true) => Split::ExpertsByColumn,
            ("column", false) => Split::Columns,
            _ => Split::Parts,
        };
        let names = match &explainer {
            Some(explainer) => names(&file, explainer, parts),
            None => beside::names(&file),
        };
        let explain = |rows: &Rows, part: Range<usize>| -> upoe::Result<Vec<f64>> {
            let Some(explainer) = &explainer else { return beside::numbers(&file, rows, part) };
            let row = |i: usize| numbers(&file, explainer, parts, &rows.row(i), i as u64);
            let all: Vec<Vec<f64>> = part.into_par_iter().map(row).collect::<upoe::Result<_>>()?;
            Ok(all.concat())
        };
        let table = match Input::open(&self.table.data, options, self.memory, &progress)? {
            Input::Whole(table) => table,
            Input::Large(data, options) => {
                let (output, json) = (self.output.as_ref(), self.common.json);
                let written = Written { names, output, json, what: "explaining" };
                let work = |rows: &Rows| explain(rows, 0..rows.len());
                return written.stream(&file, (&data, &options), &progress, work);
            }
        };
        let failed = |error| from_core(error, &table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        progress.warn_outside(&file, &rows).map_err(failed)?;
        let (path, json) = (self.output.as_deref(), self.common.json);
        let mut out = Output::create(path, json, &table.kept, &names, &progress)?;
        progress.in_blocks("explaining", table.rows, (16, names.len()), |part| {
            let numbers = explain(&rows, part.clone()).map_err(failed)?;
            out.write(&table.kept, part, &numbers)
        })?;
        progress.clear();
        out.finish()
    }
}

/// What is split, and over what.
#[derive(Clone, Copy)]
enum Split {
    /// ln p over experts.
    Parts,
    /// Each expert of the one layer over columns.
    ExpertsByColumn,
    /// ln p of a stack or pool over columns.
    Columns,
}

fn names(file: &ModelFile, explainer: &Explainer, split: Split) -> Vec<String> {
    let mut names = vec!["log_density".to_owned(), "baseline".to_owned()];
    let parts = explainer.names().iter();
    let columns = file.names.iter();
    match split {
        Split::Parts => {
            names.extend(parts.cloned());
            let radial = explainer.radial_layers().iter();
            names.extend(radial.map(|layer| format!("layer{layer}.times_as_far")));
        }
        Split::ExpertsByColumn => names.extend(
            parts.flat_map(|part| columns.clone().map(move |name| format!("{part}:{name}"))),
        ),
        Split::Columns => names.extend(columns.map(|name| format!("all:{name}"))),
    }
    names
}

fn numbers(
    file: &ModelFile,
    explainer: &Explainer,
    split: Split,
    row: &[f64],
    number: u64,
) -> upoe::Result<Vec<f64>> {
    if let Split::ExpertsByColumn = split {
        let Explanation { ln_p, baseline, experts_by_column, rest_by_column, .. } =
            explain_present(&file.model, row, number)?;
        let mut numbers = vec![ln_p, baseline];
        numbers.extend(experts_by_column.into_iter().flatten().chain(rest_by_column));
        return Ok(numbers);
    }
    let parts = explainer.explain_present(file.fitted(), row, number)?;
    let mut numbers = vec![parts.ln_p, parts.baseline];
    match split {
        Split::Columns => numbers.extend(explainer.columns_present(file.fitted(), row, number)?),
        _ => numbers.extend(parts.parts.into_iter().chain(parts.times_as_far)),
    }
    Ok(numbers)
}
