//! `upoe compare`: what changed between two tables.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use upoe::Rows;
use upoe::compare::{Change, Comparison, Reference, Settings, compare_with};
use upoe_file::ModelFile;
use upoe_report::comparison_html;
use upoe_table::{MissingCells, Table};

use crate::args::{Common, TableArgs};
use crate::describe::probability;
use crate::failure::{Failure, file_row, from_core};
use crate::interrupt;
use crate::output::{print, print_json};
use crate::overwriting::refuse_overwriting;
use crate::progress::{Progress, counted};
use crate::table::bold;
use crate::visible;
use crate::work::Pace;

/// What changed between two tables: is B drawn from the distribution of A, and if not, what moved?
#[derive(Args)]
#[command(after_help = "Examples:
  upoe compare last.csv this.csv                       what changed, in words
  upoe compare last.csv this.csv -o changes.html       with a page that shows it
  upoe compare data.upoe new.csv                       a model instead of the rows it was learned from
  upoe compare last.csv this.csv --fail-on 0.01 -q     in a pipeline: status 3 when something changed

Rows are exchanged between the tables to see how much they differ by chance, so the p-value
holds whatever the distribution of rows. It counts rows as independent. Changes are listed up to
a p-value of 0.05, the most surprising first; each is taken out of B before the next is looked
for. With a model as A, rows are drawn from it: what the model misses counts as a change too.")]
pub struct Compare {
    /// A: the table to compare with, or a model file
    pub a: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// Write a page that shows the changes
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// End with status 3 when something changed, at this level (at least 0.0001)
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub fail_on: Option<f64>,
    /// Seed of the exchanges
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub seed: u64,
    #[command(flatten)]
    pub common: Common,
}

/// What B is compared with.
enum First {
    Model(Box<ModelFile>),
    Table(Box<Table>),
}

impl First {
    fn names(&self) -> &[String] {
        match self {
            First::Model(file) => &file.names,
            First::Table(table) => &table.names,
        }
    }
}

/// Why there is no answer.
enum Ended {
    Asked(Failure),
    Failed(upoe::Error),
}

impl From<upoe::Error> for Ended {
    fn from(error: upoe::Error) -> Self {
        Ended::Failed(error)
    }
}

impl Compare {
    /// Reads, compares, prints.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        if let Some(level) = self.fail_on.filter(|level| !(1e-4..1.0).contains(level)) {
            let text = format!("--fail-on {level}: give a level from 0.0001 to 1, such as 0.01");
            return Err(Failure::Usage(text));
        }
        if self.table.options().missing == MissingCells::Keep {
            let text = "--missing model: rows with missing cells cannot be compared; leave them out (`--missing drop`)";
            return Err(Failure::Usage(text.into()));
        }
        refuse_overwriting(&[&self.a, &self.table.data], self.output.as_deref())?;
        if let Some(page) = &self.output {
            upoe_table::check_writable(page)?;
        }
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let (first, table) = self.read(&progress)?;
        let compared = self.compared(&first, &table, &progress)?;
        progress.clear();
        for note in &compared.notes {
            progress.warn(note);
        }
        let row = |i: usize| file_row(i, &table.dropped);
        if let Some(page) = &self.output {
            let title = format!("{} → {}", self.a.display(), self.table.data.display());
            let html = comparison_html(&title, &compared, &row);
            upoe_table::write_file(page, html.as_bytes())?;
            progress.say(&format!("wrote {}", page.display()));
        }
        match self.common.json {
            true => print_json(&format!("{:#}\n", self.json(&compared, &row)))?,
            false => print(&text(&compared, &row))?,
        }
        let significant = self.fail_on.and_then(|level| compared.changed(level));
        if significant == Some(true) { Err(Failure::Changed) } else { Ok(()) }
    }

    fn read(&self, progress: &Progress) -> Result<(First, Table), Failure> {
        let (a, b) = (&self.a, &self.table.data);
        let standard_input = |path: &PathBuf| path.as_os_str() == "-";
        if standard_input(a) && standard_input(b) {
            return Err(Failure::Usage("only one of the tables can be the standard input".into()));
        }
        // What comes through a pipe can be read only once.
        let model = a.is_file().then(|| ModelFile::read(a));
        let first = match model {
            Some(Ok(file)) => First::Model(Box::new(file)),
            None | Some(Err(upoe_file::Error::NotModel { .. })) => {
                let table = progress.read(a, &self.table.options());
                First::Table(Box::new(table.map_err(|failure| self.worded(failure))?))
            }
            Some(Err(error)) => return Err(error.into()),
        };
        // The columns of A decide, by name.
        let options = match &first {
            First::Model(file) => self.table.options_for(&file.names)?,
            First::Table(table) => self.table.options().with(|o| {
                (o.columns, o.exclude) = (Vec::new(), Vec::new());
                o.model_columns = Some(table.names.clone());
            }),
        };
        let table = progress.read(b, &options);
        let table = table.map_err(|failure| match &first {
            First::Table(_) => self.worded(failure),
            First::Model(_) => without_model(failure),
        })?;
        Ok((first, table))
    }

    /// A failure to read a table, in the words of two tables.
    fn worded(&self, failure: Failure) -> Failure {
        match without_model(failure) {
            Failure::Message(text) => {
                let needs = format!("columns that {} has", self.a.display());
                let text = text.replace("columns the model needs", &needs);
                Failure::Message(text.replace("; the model needs the column", ""))
            }
            other => other,
        }
    }

    fn compared(
        &self,
        first: &First,
        b: &Table,
        progress: &Progress,
    ) -> Result<Comparison, Failure> {
        let names = first.names();
        let rows = Rows::new(&b.data, names.len()).map_err(|e| from_core(e, b))?;
        rows.check().map_err(|e| from_core(e, b))?;
        self.refuse_few(b)?;
        let reference = match first {
            First::Model(file) => Reference::fitted(file.fitted()).map_err(|e| from_core(e, b))?,
            First::Table(a) => {
                let rows = Rows::new(&a.data, names.len()).map_err(|e| from_core(e, a))?;
                rows.check().map_err(|e| from_core(e, a))?;
                self.refuse_few(a)?;
                Reference::Rows(rows)
            }
        };
        // The smallest p-value must be well below the level.
        let least = self.fail_on.map_or(0.0, |level| (10.0 / level).ceil() - 1.0) as usize;
        let settings = Settings::default().with(|s| {
            s.exchanges = s.exchanges.max(least);
            s.seed = self.seed;
        });
        let mut pace = Pace::new(progress, "fitting");
        let result = compare_with(&reference, &rows, names, &settings, &mut |step| {
            pace.tell(step.what, step.done, step.total, step.unit).map_err(Ended::Asked)
        });
        result.map_err(|ended| match ended {
            Ended::Asked(failure) => failure,
            Ended::Failed(upoe::Error::ConstantInOne { column, table, value }) => {
                let name = &names[column];
                let (this, other) = match table {
                    "first" => (&self.a, &self.table.data),
                    _ => (&self.table.data, &self.a),
                };
                Failure::Message(format!(
                    "{}: column `{name}` is {value} in every row, and not in {}: that is a change by itself; \
                     leave the column out to compare the others (`--exclude {name}`)",
                    this.display(),
                    other.display()
                ))
            }
            Ended::Failed(error) => from_core(error, b),
        })
    }

    fn refuse_few(&self, table: &Table) -> Result<(), Failure> {
        if table.rows >= 2 {
            return Ok(());
        }
        let (file, rows) = (table.source.display(), table.rows);
        let text =
            format!("{file}: {} cannot be compared; at least 2 are needed", counted(rows, "row"));
        Err(Failure::Message(text))
    }

    fn json(&self, compared: &Comparison, row: &dyn Fn(usize) -> u64) -> Value {
        let mut value = json!(compared);
        value["a"] = json!(self.a.display().to_string());
        value["b"] = json!(self.table.data.display().to_string());
        value["answer"] = json!(compared.answer());
        value["changed"] = json!(compared.changed(self.fail_on.unwrap_or(compared.level)));
        if let Some(changes) = value["changes"].as_array_mut() {
            for (change, of) in changes.iter_mut().zip(&compared.changes) {
                change["rows"] = of.rows.iter().map(|i| row(*i)).collect();
            }
        }
        value
    }
}

/// A failure to read a table, without the remedy that does not help here.
fn without_model(failure: Failure) -> Failure {
    match failure {
        Failure::Message(text) => Failure::Message(text.replace(", `--missing model`", "")),
        other => other,
    }
}

/// The answer as text.
fn text(compared: &Comparison, row: &dyn Fn(usize) -> u64) -> String {
    let mut lines = vec![bold(&visible::line(&compared.answer()))];
    if let Some(drop) = compared.drop {
        let (size, error) = (drop.nats.abs(), drop.standard_error);
        let lower = if drop.nats >= 0.0 { "lower" } else { "higher" };
        let p = probability(drop.p_value);
        lines.push(format!(
            "the mean ln p of B is {size:.3} ± {error:.3} nats per row {lower} than that of A, under a model of A (p {p})"
        ));
        if drop.impossible > 0 {
            let rows = drop.impossible;
            lines.push(format!(
                "{} of B {} impossible under that model and {} not count in it",
                counted(rows, "row"),
                if rows == 1 { "is" } else { "are" },
                if rows == 1 { "does" } else { "do" },
            ));
        }
    }
    for (i, change) in compared.changes.iter().enumerate() {
        lines.push(format!("{:>3}. {}", i + 1, described(change, row)));
    }
    lines.join("\n") + "\n"
}

fn described(change: &Change, row: &dyn Fn(usize) -> u64) -> String {
    let rows: Vec<String> = change.rows.iter().map(|i| row(*i).to_string()).collect();
    let sentence = visible::line(&change.sentence).into_owned();
    format!("{sentence}\n     p {}; most in rows {}", probability(change.p_value), rows.join(", "))
}
