//! `upoe outliers`: the odd rows, and why they are.

mod judge;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};
use upoe::evaluate::false_discovery;
use upoe_table::{Table, TextColumn};

use crate::args::{Common, TableArgs};
use crate::failure::{Failure, file_row};
use crate::interrupt;
use crate::output::{self, Output, number, print_json};
use crate::overwriting::refuse_overwriting;
use crate::progress::{Progress, grouped};
use judge::{Judge, Judged};

/// The odd rows of a table, the oddest first, and why they are odd
#[derive(Args)]
#[command(allow_missing_positional = true)]
#[command(after_help = "Examples:
  upoe outliers data.csv                                 odd rows of a table, with reasons
  upoe outliers data.csv --fdr 0.1 --keep id             at most 10 % of those listed by chance
  upoe outliers data.csv --save data.detector            keep the detector for new rows
  upoe outliers data.detector new.csv --alpha 0.001      apply it
  upoe outliers data.upoe new.csv                        by ln p under a model of `upoe fit`

oddness measures how far a row lies from the robust core of the training rows, along heavy
directions above all, and how rare its values are in their columns. p_value is the probability
that an ordinary row is at least so odd: for the rows of a table that is judged by itself from a
tail fitted to its bulk, for new rows by comparison with the training rows, each judged without
it. A share alpha of clean new rows is listed by chance. Outliers among the training rows make
p-values of new rows larger: fewer rows are listed, not more. q_value is the share of false
alarms among the rows listed down to this one. With a model, oddness is -ln p and p_value its
tail probability.")]
pub struct Outliers {
    /// A detector (from --save) or a model (from `upoe fit`) [default: a detector is fitted to the
    /// table itself]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub table: TableArgs,
    /// List rows whose p-value is at most this [default: 0.01, or the detector's own]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub alpha: Option<f64>,
    /// List rows so that this share of them is expected to be false alarms (Benjamini and Hochberg)
    #[arg(long, value_name = "Q", conflicts_with = "alpha", allow_negative_numbers = true)]
    pub fdr: Option<f64>,
    /// List this share of the rows, whatever they are
    #[arg(long, value_name = "C", conflicts_with_all = ["alpha", "fdr"], allow_negative_numbers = true)]
    pub contamination: Option<f64>,
    /// Write the fitted detector to this file
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub save: Option<PathBuf>,
    /// The table to write: CSV, or by its extension .tsv, .parquet or .npy [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Seed of the folds, or of the rows drawn from a model
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub seed: u64,
    #[command(flatten)]
    pub common: Common,
}

impl Outliers {
    /// Reads, judges, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        self.check()?;
        let judge = self.model.as_deref().map(|path| Judge::read(path, &self.table)).transpose()?;
        interrupt::listen();
        let progress = Progress::new(self.common.quiet);
        let options = match &judge {
            Some(judge) => self.table.options_for(judge.names())?,
            None => self.table.options(),
        };
        let table = progress.read(&self.table.data, &options)?;
        let judge = match judge {
            Some(judge) => judge,
            None => Judge::fit(&table, self.seed, &progress)?,
        };
        let judged = judge.all(&table, self.seed, &progress)?;
        let alpha = self.alpha.or(judge.alpha()).unwrap_or(0.01);
        if let Some(path) = &self.save {
            judge.save(path, alpha)?;
        }
        let q_values = false_discovery(&judged.p_values);
        let odd = self.odd(&judged, &q_values, alpha);
        self.say(&judge, &judged, &odd, alpha, &progress);
        let listed = Listed { table: &table, judge: &judge, judged: &judged, q_values, odd };
        match self.common.json {
            true => self.write_json(&listed, alpha, &progress),
            false => self.write(&listed, &progress),
        }
    }

    fn check(&self) -> Result<(), Failure> {
        let within = |flag: &str, value: Option<f64>, most: f64| match value {
            Some(v) if !(v > 0.0 && v <= most) || v == 1.0 => {
                Err(Failure::Usage(format!("--{flag} {v}: give a number between 0 and {most}")))
            }
            _ => Ok(()),
        };
        within("alpha", self.alpha, 1.0)?;
        within("fdr", self.fdr, 1.0)?;
        within("contamination", self.contamination, 0.5)?;
        let inputs: Vec<&Path> =
            self.model.iter().chain([&self.table.data]).map(PathBuf::as_path).collect();
        refuse_overwriting(&inputs, self.output.as_deref())?;
        if let Some(save) = &self.save {
            refuse_overwriting(&inputs, Some(save))?;
            upoe_table::check_writable(save)?;
        }
        output::check(self.output.as_deref(), self.common.json)
    }

    /// The rows to list, the oddest first.
    fn odd(&self, judged: &Judged, q_values: &[f64], alpha: f64) -> Vec<usize> {
        let all = judged.oddness.len();
        let threshold = self.contamination.map(|c| upoe::exceeded_by(&judged.oddness, |_| 1.0, c));
        let listed = |i: &usize| match (threshold, self.fdr) {
            (Some(threshold), _) => judged.oddness[*i] > threshold,
            (None, Some(q)) => q_values[*i] <= q,
            (None, None) => judged.p_values[*i] <= alpha,
        };
        let mut odd: Vec<usize> = (0..all).filter(listed).collect();
        odd.sort_by(|a, b| judged.oddness[*b].total_cmp(&judged.oddness[*a]).then(a.cmp(b)));
        odd
    }

    /// How many rows are listed, and how many chance alone would give.
    fn say(&self, judge: &Judge, judged: &Judged, odd: &[usize], alpha: f64, progress: &Progress) {
        let all = judged.oddness.len();
        let counted = format!("{} of {} rows", grouped(odd.len()), grouped(all));
        let are = if odd.len() == 1 { "is" } else { "are" };
        let chance = match (self.contamination, self.fdr) {
            (Some(c), _) => format!("{are} the oddest {} %", 100.0 * c),
            (None, Some(q)) => {
                format!(
                    "{are} odd; about {:.1} of them by chance (--fdr {q})",
                    q * odd.len() as f64
                )
            }
            (None, None) => {
                let chance = alpha * all as f64;
                let number = match chance {
                    few if few < 9.95 => format!("{few:.1}"),
                    many => grouped(many.round() as usize),
                };
                format!("{are} odd at alpha {alpha}; chance alone would give about {number}")
            }
        };
        progress.say(&format!("{counted} {chance}"));
        let smallest = judge.smallest();
        let reached = self.fdr.map_or(alpha, |q| q / all.max(1) as f64);
        if self.contamination.is_none() && smallest > reached {
            progress.warn(&format!(
                "with so few training rows no p-value is below {smallest:.1e}, so rows may be missed; \
                 raise {} or fit the detector to more rows",
                if self.fdr.is_some() { "--fdr" } else { "--alpha" }
            ));
        }
    }

    fn write(&self, listed: &Listed, progress: &Progress) -> Result<(), Failure> {
        let Listed { table, judged, q_values, odd, .. } = listed;
        let mut kept = vec![TextColumn::new("row")];
        kept.extend(table.kept.iter().map(|column| TextColumn::new(column.name.clone())));
        let mut reasons = TextColumn::new("reason");
        for &i in odd {
            kept[0].push(&file_row(i, &table.dropped).to_string());
            for (to, from) in kept[1..].iter_mut().zip(&table.kept) {
                to.push(from.get(i).unwrap_or(""));
            }
            reasons.push(&listed.reasons(i)?.join("; "));
        }
        kept.push(reasons);
        if let Some(twice) = table.kept.iter().find(|c| ["row", "reason"].contains(&&*c.name)) {
            return Err(Failure::Message(format!(
                "--keep {}: the result has a column of that name; rename the one in the table",
                twice.name
            )));
        }
        let names = ["oddness", "p_value", "q_value"].map(str::to_owned);
        let mut out = Output::create(self.output.as_deref(), false, &kept, &names, progress)?;
        let numbers: Vec<f64> = odd
            .iter()
            .flat_map(|&i| [judged.oddness[i], judged.p_values[i], q_values[i]])
            .collect();
        out.write(&kept, 0..odd.len(), &numbers)?;
        progress.clear();
        out.finish()
    }

    fn write_json(&self, listed: &Listed, alpha: f64, progress: &Progress) -> Result<(), Failure> {
        let Listed { table, judge, judged, q_values, odd } = listed;
        let row = |&i: &usize| -> Result<Value, Failure> {
            let mut object = Map::new();
            object.insert("row".into(), file_row(i, &table.dropped).into());
            for column in &table.kept {
                object.insert(column.name.clone(), column.get(i).unwrap_or("").into());
            }
            object.insert("oddness".into(), number(judged.oddness[i]));
            object.insert("p_value".into(), number(judged.p_values[i]));
            object.insert("q_value".into(), number(q_values[i]));
            object.insert("reason".into(), listed.reasons(i)?.join("; ").into());
            object.insert("columns".into(), judge.parts(table, i)?);
            Ok(Value::Object(object))
        };
        let outliers: Vec<Value> = odd.iter().map(row).collect::<Result<_, _>>()?;
        let all = judged.oddness.len();
        let plain = self.contamination.is_none() && self.fdr.is_none();
        let by_chance = match self.fdr {
            Some(q) => Some(q * odd.len() as f64),
            None => plain.then_some(alpha * all as f64),
        };
        let object = json!({
            "rows": all,
            "alpha": plain.then_some(alpha),
            "fdr": self.fdr,
            "contamination": self.contamination,
            "odd": odd.len(),
            "by_chance": by_chance,
            "outliers": outliers,
        });
        progress.clear();
        let text = format!("{object:#}\n");
        match self.output.as_deref().filter(|path| path.as_os_str() != "-") {
            Some(path) => Ok(upoe_table::write_file(path, text.as_bytes())?),
            None => print_json(&text),
        }
    }
}

/// The rows to list and what is known of them.
struct Listed<'a> {
    table: &'a Table,
    judge: &'a Judge,
    judged: &'a Judged,
    q_values: Vec<f64>,
    odd: Vec<usize>,
}

impl Listed<'_> {
    fn reasons(&self, row: usize) -> Result<Vec<String>, Failure> {
        self.judge.reasons(self.table, row)
    }
}
