//! Reasons in words: the columns to blame, observed against expected.

use super::{Conditional, Oddity};
use crate::density::Density;
use crate::error::{Error, Result, thousands};
use serde::Serialize;

/// At most so many columns are named, each with at least this share of what makes the row odd.
const MOST: usize = 3;
const LEAST_SHARE: f64 = 0.15;

/// A column that makes a row odd.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// The column, from 0.
    pub column: usize,
    /// Its value in the row.
    pub observed: f64,
    /// What the other columns predict.
    pub expected: Conditional,
    /// Its share of all that makes the row odd.
    pub share: f64,
}

impl Oddity {
    /// The columns to blame for the oddness of a row, the most to blame first.
    pub fn reasons(&self, row: &[f64]) -> Vec<Reason> {
        let total: f64 = self.columns.iter().map(|part| part.max(0.0)).sum();
        let reason = |c: usize| {
            let share = if total > 0.0 { self.columns[c].max(0.0) / total } else { 0.0 };
            self.expected[c].map(|expected| Reason { column: c, observed: row[c], expected, share })
        };
        let there = (0..row.len()).filter(|&c| !row[c].is_nan());
        foremost(there.filter_map(reason).collect())
    }
}

/// The columns that a density finds most surprising in a row, given the others. The share of a column
/// is that of its −ln tail probability. Where a row lies so far out that nothing can be expected of a column, the
/// column is left out.
pub fn surprises(density: &dyn Density, row: &[f64]) -> Result<Vec<Reason>> {
    let mut reasons = Vec::with_capacity(row.len());
    for (column, &observed) in row.iter().enumerate() {
        let line = match density.conditional(row, column) {
            Err(Error::NoConvergence { .. }) => continue,
            line => line?,
        };
        let (low, high) = line.interval(0.9);
        let expected = Conditional { value: line.median(), low, high };
        reasons.push(Reason { column, observed, expected, share: -line.ln_surprise(observed) });
    }
    let total: f64 = reasons.iter().map(|reason| reason.share).sum();
    if total > 0.0 && total.is_finite() {
        reasons.iter_mut().for_each(|reason| reason.share /= total);
    }
    Ok(foremost(reasons))
}

/// The reasons worth naming, the most important first.
fn foremost(mut reasons: Vec<Reason>) -> Vec<Reason> {
    reasons.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.column.cmp(&b.column)));
    let named = reasons.iter().take(MOST).filter(|r| r.share >= LEAST_SHARE).count();
    reasons.truncate(named.max(1));
    reasons
}

impl Reason {
    /// The reason in words, with the column's name: "FL 23.1, expected 15.2 (14.1 to 16.3) given
    /// the others".
    pub fn text(&self, name: &str) -> String {
        let Conditional { value, low, high } = self.expected;
        let digits = Digits::of(high - low, &[self.observed, value, low, high]);
        let [observed, value, low, high] =
            [self.observed, value, low, high].map(|x| digits.show(x));
        if self.expected.excludes(self.observed) {
            format!("{name} {observed}, expected {value} ({low} to {high}) given the others")
        } else {
            format!("{name} {observed}, rare, though the others predict {value} ({low} to {high})")
        }
    }
}

/// How many digits values need next to an interval of some width.
enum Digits {
    Decimals(usize),
    Scientific,
}

impl Digits {
    fn of(width: f64, values: &[f64]) -> Self {
        let largest = values.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let width = if width > 0.0 { width } else { largest };
        let decimals = 1.0 - width.log10().floor();
        if largest >= 1e9 || !(decimals <= 9.0) {
            return Digits::Scientific;
        }
        Digits::Decimals(decimals.max(0.0) as usize)
    }

    fn show(&self, x: f64) -> String {
        match self {
            Digits::Decimals(decimals) => thousands(&format!("{x:.decimals$}"), 5),
            Digits::Scientific => format!("{x:.3e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(observed: f64, value: f64, low: f64, high: f64) -> String {
        let expected = Conditional { value, low, high };
        Reason { column: 0, observed, expected, share: 1.0 }.text("FL")
    }

    #[test]
    fn values_have_the_digits_that_their_interval_needs() {
        let said = text(23.1, 15.1999, 14.1, 16.3);
        assert_eq!(said, "FL 23.1, expected 15.2 (14.1 to 16.3) given the others");
        let said = text(2310.0, 1519.99, 1410.0, 1630.0);
        assert_eq!(said, "FL 2310, expected 1520 (1410 to 1630) given the others");
        let said = text(23100.0, 15199.9, 14100.0, 16300.0);
        assert_eq!(said, "FL 23,100, expected 15,200 (14,100 to 16,300) given the others");
        let said = text(1e15, 3.0, 1.0, 5.0);
        assert_eq!(said, "FL 1.000e15, expected 3.000e0 (1.000e0 to 5.000e0) given the others");
        assert!(text(15.0, 15.2, 14.1, 16.3).starts_with("FL 15.0, rare"));
    }
}
