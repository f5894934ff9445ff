//! Observed against expected: each value of a row beside what the others make of it.

use crate::density::{Density, Guess};
use crate::error::{Error, Result, thousands};
use crate::importance::Draws;
use crate::line::Line;
use crate::rows::Rows;

/// The share of the interval in which a value is expected.
pub const INTERVAL: f64 = 0.9;

/// A value of a row and its conditional density, given the other values of the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The value; NaN where the cell is missing.
    pub observed: f64,
    /// The median of the conditional.
    pub expected: f64,
    /// Where the interval of [`INTERVAL`] begins, with as much of the rest below as above.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// ln of the two-sided tail probability of the value: twice the smaller tail; 0 for a missing cell.
    pub ln_tail: f64,
    /// How much more probable the row would be with the likeliest value here, in nats; 0 for a missing
    /// cell. The column to blame for an odd row is the one where this is largest.
    pub blame: f64,
}

impl Expected {
    /// The two-sided tail probability: how surprising the value is.
    pub fn surprise(&self) -> f64 {
        self.ln_tail.exp()
    }

    /// In words: "CW 47.1, expected 45.3 (44.9 to 45.8)".
    pub fn words(&self, name: &str) -> String {
        // The interval is at least five times as wide as the last digit's step.
        let decimals = (5.0 / (self.high - self.low)).log10().ceil();
        let number = |x: f64| match decimals {
            d if d.is_finite() && d < 9.0 && x.abs() < 1e7 => {
                thousands(&format!("{x:.*}", d.max(0.0) as usize), 5)
            }
            _ => format!("{x:.4e}"),
        };
        let [expected, low, high] = [self.expected, self.low, self.high].map(number);
        match self.observed.is_nan() {
            true => format!("{name} missing, expected {expected} ({low} to {high})"),
            false => {
                format!("{name} {}, expected {expected} ({low} to {high})", number(self.observed))
            }
        }
    }

    fn of_line(line: &Line, observed: f64) -> Self {
        let (low, high) = line.interval(INTERVAL);
        let expected = line.median();
        if observed.is_nan() {
            return Expected { observed, expected, low, high, ln_tail: 0.0, blame: 0.0 };
        }
        let blame = (line.peak().1 - line.ln_density(observed)).max(0.0);
        Expected { observed, expected, low, high, ln_tail: line.ln_surprise(observed), blame }
    }

    /// From weighted draws of the value, and ln of its density there.
    fn of_draws(mut draws: Vec<(f64, f64)>, observed: f64, ln_density: f64) -> Self {
        draws.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let quantile = |p: f64| {
            let mut left = p;
            let at = draws.iter().find(|(_, weight)| {
                left -= weight;
                left <= 0.0
            });
            at.or(draws.last()).map_or(f64::NAN, |(x, _)| *x)
        };
        let out = 0.5 * (1.0 - INTERVAL);
        let (low, expected, high) = (quantile(out), quantile(0.5), quantile(1.0 - out));
        if observed.is_nan() {
            return Expected { observed, expected, low, high, ln_tail: 0.0, blame: 0.0 };
        }
        // A tail that no draw reaches is as small as what is drawn can tell.
        let worth = 1.0 / draws.iter().map(|(_, w)| w * w).sum::<f64>();
        let below: f64 = draws.iter().filter(|(x, _)| *x <= observed).map(|(_, w)| w).sum();
        let tail = 2.0 * below.min(1.0 - below).max(0.5 / worth);
        // The peak of a kernel estimate.
        let width = (quantile(0.75) - quantile(0.25)).max(1e-12 * expected.abs());
        let width = 0.6 * width * worth.powf(-0.2);
        let at = |x: f64| {
            let kernel = |(d, w): &(f64, f64)| w * (-0.5 * ((d - x) / width).powi(2)).exp();
            draws.iter().map(kernel).sum::<f64>() / (width * std::f64::consts::TAU.sqrt())
        };
        let steps = (1..40).map(|k| quantile(f64::from(k) / 40.0));
        let blame = (steps.map(at).fold(0.0, f64::max).ln() - ln_density).max(0.0);
        Expected { observed, expected, low, high, ln_tail: tail.min(1.0).ln(), blame }
    }
}

/// What each value of a row is beside what the others make of it, one entry per column; `None` for a
/// column that the others determine, because the training rows span fewer dimensions than columns, and where
/// the density is 0 or too rough to be integrated.
///
/// Cells may be missing (NaN): values are then given those that are there.
///
/// ```
/// use upoe::{Rows, Settings, expected, fit};
/// let values: Vec<f64> = (0..300).flat_map(|i| {
///     let (a, b) = (f64::from(i * i % 101), f64::from(i * i * i % 89));
///     [a, a + 0.1 * b]
/// }).collect();
/// let model = fit(&Rows::new(&values, 2)?, &Settings::default())?.model;
/// let odd = expected::of(&model, &[20.0, 70.0])?;
/// let second = odd[1].ok_or("it has a density")?;
/// assert!(second.observed > second.high && second.surprise() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of(density: &dyn Density, row: &[f64]) -> Result<Vec<Option<Expected>>> {
    let columns = density.columns();
    let rows = Rows::new(row, columns)?;
    if row.len() != columns {
        return Err(Error::Shape { what: "values of a row", expected: columns, got: row.len() });
    }
    rows.check_present()?;
    let missing: Vec<usize> = (0..columns).filter(|&i| row[i].is_nan()).collect();
    let of_column = |i: usize| match density.conditional(row, i) {
        Ok(line) => Ok(Some(Expected::of_line(&line, row[i]))),
        Err(Error::NoLine { .. } | Error::NoConvergence { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    match missing[..] {
        [] => (0..columns).map(of_column).collect(),
        [one] if columns == 1 => Ok(vec![of_column(one)?]),
        _ => given_some(density, row, &missing),
    }
}

/// The same for a row with holes: draws of the missing cells together with each column.
fn given_some(
    density: &dyn Density,
    row: &[f64],
    missing: &[usize],
) -> Result<Vec<Option<Expected>>> {
    let guess = Guess::new(density);
    let ln_p = density.score_present(&Rows::new(row, row.len())?)?[0].value;
    let of_column = |i: usize| {
        let mut open = missing.to_vec();
        if !row[i].is_nan() {
            open.push(i);
        }
        let place = open.iter().position(|k| *k == i).unwrap_or_default();
        let Draws { points, weights, ln_integral } =
            guess.draws(density, row, &open, f64::NEG_INFINITY);
        if ln_integral.value == f64::NEG_INFINITY {
            return None;
        }
        let values = points.iter().skip(place).step_by(open.len()).copied();
        let ln_density = ln_p - ln_integral.value;
        Some(Expected::of_draws(values.zip(weights).collect(), row[i], ln_density))
    };
    Ok((0..row.len()).map(of_column).collect())
}

/// The column to blame for an odd row: the one where the likeliest value would add most.
pub fn blamed(expected: &[Option<Expected>]) -> Option<usize> {
    let blames = expected.iter().enumerate().filter_map(|(i, e)| e.map(|e| (i, e.blame)));
    blames.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
}
