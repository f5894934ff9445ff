//! `upoe groups`: which groups are there, and to which does each row belong?

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use upoe::Rows;
use upoe::groups::{Agreement, Groups, NO_GROUPS, Told};
use upoe_file::ModelFile;
use upoe_table::Table;

use crate::args::{Common, TableArgs};
use crate::failure::{Failure, from_core};
use crate::interrupt;
use crate::output::{self, Output, print, print_json};
use crate::progress::{Progress, grouped};
use crate::table::TextTable;
use crate::visible;

/// Which groups are there? What is special about each, and the group of every row
#[derive(Args)]
#[command(after_help = "Examples:
  upoe groups data.upoe data.csv                 the groups, and the columns in which they differ
  upoe groups data.upoe new.csv -o labels.csv    columns group and probability for every row
  upoe groups data.upoe data.csv --keep species  and how well they agree with a known column

The groups are found by `upoe fit` and kept in the model file, so the group of a row does not
depend on the other rows of DATA. Each group is compared with all other training rows: its
intervals hold together with a chance of 95 %.")]
pub struct GroupsVerb {
    /// The model file
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
    /// The table of labels to write: CSV, or by its extension .tsv, .parquet or .npy
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// Differences that the table shows of each group.
const SHOWN: usize = 3;

impl GroupsVerb {
    /// Reads, labels, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        let file = self.table.model(&self.model, self.output.as_deref())?;
        let Some(groups) = &file.groups else {
            return Err(Failure::Message(format!(
                "{}: the model file has no groups: its rows did not fit in memory or were in several \
                 places, or version 0.1 wrote it; fit rows that fit in memory with `upoe fit`",
                self.model.display()
            )));
        };
        if let Some(path) = &self.output {
            output::check(Some(path), self.common.json)?;
        }
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let table = progress.read(&self.table.data, &self.table.options_for(&file.names)?)?;
        let failed = |error| from_core(error, &table);
        let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
        progress.warn_outside(&file, &rows).map_err(failed)?;
        progress.warn_unlike(&file.density().places(), &rows, &file.names);
        let names = ["group".to_owned(), "probability".to_owned()];
        let mut out = match &self.output {
            Some(path) => {
                Some(Output::create(Some(path), self.common.json, &table.kept, &names, &progress)?)
            }
            None => None,
        };
        let (count, mut labels) = (groups.count(), Vec::with_capacity(table.rows));
        progress.in_blocks("finding groups", table.rows, (1024, table.names.len()), |part| {
            let shares =
                groups.probabilities(&file.model, &rows.slice(part.clone())).map_err(failed)?;
            let mut numbers = Vec::with_capacity(2 * part.len());
            for label in Groups::most_probable(&shares, count) {
                numbers.extend([(label + 1) as f64, shares[numbers.len() / 2 * count + label]]);
                labels.push(label);
            }
            out.as_mut().map_or(Ok(()), |out| out.write(&table.kept, part, &numbers))
        })?;
        progress.clear();
        if let Some(out) = out {
            out.finish()?;
        }
        if self.common.json {
            return print_json(&format!("{:#}\n", to_json(&file, groups, &table, &labels)));
        }
        if let Some(merged) = groups.merged_words() {
            progress.note(&merged);
        }
        if !self.common.quiet || self.output.is_none() {
            print(&text(&file, groups, &table, &labels))?;
        }
        if let Some(path) = &self.output {
            progress.say(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}

fn agreements<'a>(
    table: &'a Table,
    labels: &'a [usize],
) -> impl Iterator<Item = (&'a str, Agreement)> {
    table.kept.iter().filter_map(move |column| {
        let levels: Vec<&str> = column.iter().collect();
        Some((column.name.as_str(), Agreement::of_labels(labels, &levels)?))
    })
}

fn to_json(file: &ModelFile, groups: &Groups, table: &Table, labels: &[usize]) -> Value {
    let sizes = groups.sizes(labels);
    let group = |(k, described)| {
        let mut value = json!(described);
        value["group"] = json!(k + 1);
        value["rows"] = json!(sizes[k]);
        value
    };
    let described = groups.described(&file.names).into_iter().enumerate().map(group);
    let agreement: Vec<Value> = agreements(table, labels)
        .map(|(name, a)| {
            let Agreement { matches, chance, adjusted_rand } = a;
            json!({
                "column": name, "matches": matches, "chance": chance, "adjusted_rand": adjusted_rand,
            })
        })
        .collect();
    json!({
        "rows": labels.len(),
        "groups": described.collect::<Vec<_>>(),
        "merged": groups.merged(),
        "agreement": agreement,
    })
}

fn text(file: &ModelFile, groups: &Groups, table: &Table, labels: &[usize]) -> String {
    let rows = grouped(labels.len());
    if groups.count() == 1 {
        return format!("{NO_GROUPS} All {rows} rows are in group 1.\n");
    }
    let sizes = groups.sizes(labels);
    let mut lines = vec![format!("{} groups among {rows} rows", groups.count()), String::new()];
    let mut shown =
        TextTable::new(&["group", "rows", "share", "name", "differs from the others by"]);
    for (k, group) in groups.described(&file.names).iter().enumerate() {
        let parts = group.profile.iter().take(SHOWN).map(Told::words);
        let share = 100.0 * sizes[k] as f64 / labels.len().max(1) as f64;
        shown.row(vec![
            (k + 1).to_string(),
            grouped(sizes[k]),
            format!("{:.0} %", share.round()),
            visible::line(&group.name).into(),
            visible::line(&parts.collect::<Vec<_>>().join(", ")).into(),
        ]);
    }
    lines.extend(shown.lines());
    let mut agreements = agreements(table, labels).peekable();
    if agreements.peek().is_some() {
        lines.push(String::new());
    }
    for (name, agreement) in agreements {
        lines.push(agreement.words(&visible::line(name)));
    }
    lines.join("\n") + "\n"
}
