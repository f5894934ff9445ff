//! Values beside what is expected, given the row's other values: as a table, and in words.

use std::ops::Range;

use rayon::prelude::*;
use upoe::expected::{self, Expected};
use upoe::{Estimate, Rows};
use upoe_file::ModelFile;
use upoe_table::Table;

use crate::failure::{Failure, from_core};
use crate::output::print;
use crate::progress::Progress;
use crate::visible;

/// How many columns a sentence names.
const NAMED: usize = 3;

/// The names of the table's columns.
pub fn names(file: &ModelFile) -> Vec<String> {
    let kinds = ["", ":expected", ":low", ":high", ":surprise", ":blame"];
    let each = |name: &String| kinds.map(|kind| format!("{name}{kind}"));
    ["log_density".to_owned()].into_iter().chain(file.names.iter().flat_map(each)).collect()
}

/// The table's numbers for some of the rows, row after row.
pub fn numbers(file: &ModelFile, rows: &Rows, part: Range<usize>) -> upoe::Result<Vec<f64>> {
    let scores = file.density().score_present(&rows.slice(part.clone()))?;
    let of_column = |(found, x): (Option<Expected>, &f64)| match found {
        Some(e) => [e.observed, e.expected, e.low, e.high, e.surprise(), e.blame],
        // The other columns determine it.
        None => [*x, f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN],
    };
    let of_row = |(i, score): (usize, Estimate)| -> upoe::Result<Vec<f64>> {
        let row = rows.row(i);
        let found = expected::of(file.density(), &row)?;
        let cells = found.into_iter().zip(row.iter()).flat_map(of_column);
        Ok([score.value].into_iter().chain(cells).collect())
    };
    let all: upoe::Result<Vec<Vec<f64>>> = part.into_par_iter().zip(scores).map(of_row).collect();
    Ok(all?.concat())
}

/// Prints a line per row, with the columns most to blame first.
pub fn say(file: &ModelFile, table: &Table, progress: &Progress) -> Result<(), Failure> {
    let failed = |error| from_core(error, table);
    let rows = Rows::new(&table.data, table.names.len()).map_err(failed)?;
    progress.warn_outside(file, &rows).map_err(failed)?;
    let of_row = |i: usize| {
        let kept: Vec<&str> = table.kept.iter().filter_map(|column| column.get(i)).collect();
        let row = if kept.is_empty() { format!("row {}", i + 1) } else { kept.join(", ") };
        let said = sentence(&expected::of(file.density(), &rows.row(i))?, &file.names);
        Ok(format!("{}\n", visible::line(&format!("{row}: {said}"))))
    };
    progress.in_blocks("explaining", table.rows, (16, table.names.len()), |part| {
        let lines: upoe::Result<Vec<String>> = part.into_par_iter().map(of_row).collect();
        let lines = lines.map_err(failed)?;
        progress.clear();
        print(&lines.concat())
    })
}

/// The values most to blame, in words.
fn sentence(found: &[Option<Expected>], names: &[String]) -> String {
    let mut order: Vec<(&String, &Expected)> =
        names.iter().zip(found).filter_map(|(name, e)| e.as_ref().map(|e| (name, e))).collect();
    order.sort_by(|a, b| b.1.blame.total_cmp(&a.1.blame));
    let words = order.iter().take(NAMED).map(|(name, found)| found.words(name));
    words.collect::<Vec<String>>().join("; ")
}
