//! Which cells of which rows are missing.

use crate::error::{Error, Result};
use crate::rows::Rows;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows in which the same cells are missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The columns that are missing, in rising order.
    pub missing: Vec<usize>,
    /// The rows, in rising order.
    pub rows: Vec<usize>,
}

/// The patterns of the rows that have weight and a value, in a fixed order.
pub fn patterns(rows: &Rows) -> Vec<Pattern> {
    let mut known: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for i in (0..rows.len()).filter(|&i| rows.weight(i) > 0.0) {
        let missing = holes(&rows.row(i));
        if missing.len() < rows.columns() {
            known.entry(missing).or_default().push(i);
        }
    }
    known.into_iter().map(|(missing, rows)| Pattern { missing, rows }).collect()
}

/// The columns in which a row has no value.
pub fn holes(row: &[f64]) -> Vec<usize> {
    (0..row.len()).filter(|&c| row[c].is_nan()).collect()
}

/// What is missing in a table, and where.
///
/// ```
/// use upoe::{Missing, Rows};
/// let missing = Missing::of(&Rows::new(&[1.0, f64::NAN, 2.0, 3.0], 2)?)?;
/// assert_eq!((missing.cells, missing.rows, missing.of), (1, 1, 2));
/// assert_eq!(missing.shares, [0.0, 0.5]);
/// # Ok::<(), upoe::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Missing {
    /// How many cells are missing.
    pub cells: usize,
    /// How many rows miss a cell.
    pub rows: usize,
    /// How many of them have no value at all.
    pub empty: usize,
    /// How many rows there are.
    pub of: usize,
    /// The share of cells that is missing, by column.
    pub shares: Vec<f64>,
}

impl Missing {
    /// Counts what is missing: NaN. Infinite cells, bad weights and columns without any value are refused.
    pub fn of(rows: &Rows) -> Result<Self> {
        rows.check_present()?;
        let mut counts = vec![0_usize; rows.columns()];
        let (mut affected, mut empty) = (0, 0);
        for i in 0..rows.len() {
            let missing = holes(&rows.row(i));
            affected += usize::from(!missing.is_empty());
            empty += usize::from(missing.len() == rows.columns());
            missing.iter().for_each(|&c| counts[c] += 1);
        }
        if let Some(column) = counts.iter().position(|count| *count == rows.len()) {
            return Err(Error::EmptyColumn { column });
        }
        let share = |count: &usize| *count as f64 / rows.len() as f64;
        let cells = counts.iter().sum();
        let shares = counts.iter().map(share).collect();
        Ok(Missing { cells, rows: affected, empty, of: rows.len(), shares })
    }

    /// What is missing where, in a sentence.
    pub fn message(&self, name: impl Fn(usize) -> String) -> String {
        const NAMED: usize = 5;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let mut worst: Vec<usize> =
            (0..self.shares.len()).filter(|&c| self.shares[c] > 0.0).collect();
        worst.sort_by(|&a, &b| self.shares[b].total_cmp(&self.shares[a]).then(a.cmp(&b)));
        let named: Vec<String> = worst
            .iter()
            .take(NAMED)
            .map(|&c| format!("`{}` {}", name(c), percent(self.shares[c])))
            .collect();
        let more = if worst.len() > NAMED { ", …" } else { "" };
        let all = (self.of * self.shares.len()) as f64;
        let empty = match self.empty {
            0 => String::new(),
            1 => "; 1 row has no value and is left out".to_owned(),
            n => format!("; {n} rows have no value and are left out"),
        };
        format!(
            "{} of all cells are missing, in {} of {} rows ({}{more}){empty}",
            percent(self.cells as f64 / all),
            self.rows,
            self.of,
            named.join(", ")
        )
    }
}
