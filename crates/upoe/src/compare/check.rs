//! What two tables must have in common.

use super::scores::{quantile, sorted};
use crate::error::{Error, Result};
use crate::rows::Rows;

/// Units are judged on about so many rows, and on no fewer than these.
const MEASURED: usize = 10_000;
const FEWEST: usize = 5;
/// The distance of the quartiles of a normal distribution, in deviations.
const QUARTILES: f64 = 1.349;

/// Refuses tables of other columns, of one row, with cells that are not numbers, and with a column that is constant in one
/// of them only.
pub(super) fn check(a: &Rows, b: &Rows) -> Result<()> {
    if a.columns() != b.columns() {
        let (expected, got) = (a.columns(), b.columns());
        return Err(Error::Shape { what: "columns of the second table", expected, got });
    }
    for rows in [a, b] {
        rows.check()?;
        if rows.len() < 2 {
            return Err(Error::TooFewRows { rows: rows.len(), needed: 2 });
        }
    }
    for column in 0..a.columns() {
        let (in_a, in_b) = (constant(a, column), constant(b, column));
        let at_fault = match (in_a, in_b) {
            (Some(value), Some(other)) if value == other => None,
            (Some(value), _) => Some(("first", value)),
            (None, Some(value)) => Some(("second", value)),
            (None, None) => None,
        };
        if let Some((table, value)) = at_fault {
            return Err(Error::ConstantInOne { column, table, value });
        }
    }
    Ok(())
}

/// The value of a column that has only one.
fn constant(rows: &Rows, column: usize) -> Option<f64> {
    let first = rows.row(0)[column];
    (1..rows.len()).all(|i| rows.row(i)[column] == first).then_some(first)
}

/// Where the values of a column lie, and how far they spread: the median and the distance of the quartiles.
type Measure = (f64, f64);

fn measure(rows: &Rows, column: usize) -> Measure {
    let every = rows.len().div_ceil(MEASURED);
    let values = (0..rows.len()).step_by(every.max(1)).map(|i| rows.row(i)[column]);
    let values: Vec<f64> = values.filter(|x| x.is_finite()).collect();
    if values.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let values = sorted(&values);
    let spread = quantile(&values, 0.75) - quantile(&values, 0.25);
    (quantile(&values, 0.5), spread)
}

/// How many times as large the values of a column are in B, where both where they lie and how far they spread say that
/// the units differ.
pub(super) fn other_units(a: &Rows, b: &Rows, column: usize) -> Option<f64> {
    times_as_large(measure(a, column), measure(b, column))
}

fn times_as_large(a: Measure, b: Measure) -> Option<f64> {
    let ((middle_a, spread_a), (middle_b, spread_b)) = (a, b);
    let (by_middle, factor) = (middle_b / middle_a, spread_b / spread_a);
    // Values around 0 do not say; then the spread must have changed by a power of ten.
    let around_zero = middle_a.abs() < spread_a && middle_b.abs() < spread_b;
    let agree = match around_zero {
        true => (factor.log10() - factor.log10().round()).abs() < 0.15,
        false => (by_middle / factor).ln().abs() < 3f64.ln(),
    };
    (agree && factor.is_finite() && factor.ln().abs() > 30f64.ln()).then_some(factor)
}

/// What a user should know of a table beside what a density or a detector was learned from: columns that seem to be in
/// other units, and columns that have one value only. `places` are the middle and the scale of each column there.
pub fn unlike(places: &[(f64, f64)], rows: &Rows, names: &[String]) -> Vec<String> {
    if rows.len() < FEWEST {
        return Vec::new();
    }
    let note = |((c, name), (middle, scale)): ((usize, &String), &(f64, f64))| {
        if !(*scale > 0.0) {
            return None;
        }
        match constant(rows, c) {
            Some(value) => Some(super::words::constant(name, value)),
            None => times_as_large((*middle, QUARTILES * scale), measure(rows, c))
                .map(|factor| super::words::other_units(name, factor)),
        }
    };
    names.iter().enumerate().zip(places).filter_map(note).collect()
}
