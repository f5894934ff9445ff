//! Columns in robust units: each centred and divided by a spread that a few far values cannot change.

use crate::error::{Error, Result};
use crate::rows::{Rows, Values};
use rayon::prelude::*;

/// Values beyond this many spreads are taken for this many.
const REACH: f64 = 100.0;

/// The spread of a column is that of its values pulled in to these shares at both ends. A column
/// that is constant between them takes the next one, and at last all its values.
const PULLED_IN: [f64; 3] = [0.05, 0.005, 0.0];

/// Where each column lies and how far it spreads. Columns that are constant are not looked at.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    /// How many columns a row has.
    pub columns: usize,
    /// The columns that vary, in rising order: d of them.
    pub used: Vec<usize>,
    pub location: Vec<f64>,
    pub spread: Vec<f64>,
}

impl Frame {
    /// From rows and their weights; NaN is a missing cell.
    pub fn of(rows: &Rows, weights: &[f64]) -> Result<Self> {
        let columns = rows.columns();
        let places: Vec<Option<(f64, f64)>> = (0..columns)
            .into_par_iter()
            .map(|c| {
                let values: Vec<f64> = match rows.values() {
                    Values::Double(x) => x.iter().skip(c).step_by(columns).copied().collect(),
                    Values::Single(x) => {
                        x.iter().skip(c).step_by(columns).map(|x| f64::from(*x)).collect()
                    }
                };
                if !values.iter().any(|x| x.is_nan()) {
                    return Ok(place(&values, weights));
                }
                let there = values.iter().zip(weights).filter(|(x, _)| !x.is_nan());
                let (values, weights): (Vec<f64>, Vec<f64>) = there.unzip();
                if values.is_empty() {
                    return Err(Error::EmptyColumn { column: c });
                }
                Ok(place(&values, &weights))
            })
            .collect::<Result<_>>()?;
        let used: Vec<usize> = (0..columns).filter(|&c| places[c].is_some()).collect();
        if used.is_empty() {
            return Err(Error::NoVariance { columns });
        }
        let (location, spread) = places.into_iter().flatten().unzip();
        Ok(Frame { columns, used, location, spread })
    }

    /// How many columns are looked at.
    pub fn dims(&self) -> usize {
        self.used.len()
    }

    /// Rows in these units: n × d.
    pub fn apply(&self, rows: &Rows) -> Vec<f64> {
        let d = self.dims();
        let mut z = vec![0.0; rows.len() * d];
        z.par_chunks_mut(d * 256).enumerate().for_each(|(block, z)| {
            for (i, z) in z.chunks_exact_mut(d).enumerate() {
                let row = rows.row(block * 256 + i);
                for (k, z) in z.iter_mut().enumerate() {
                    *z = self.unit(k, row[self.used[k]]);
                }
            }
        });
        z
    }

    /// A value of the k-th used column in these units.
    pub fn unit(&self, k: usize, value: f64) -> f64 {
        // Halves, so that the difference of two far values does not overflow.
        let half = (0.5 * value - 0.5 * self.location[k]) / self.spread[k];
        (2.0 * half).clamp(-REACH, REACH)
    }

    /// A number in these units as a value of the k-th used column.
    pub fn value(&self, k: usize, unit: f64) -> f64 {
        self.location[k] + self.spread[k] * unit
    }
}

/// The location and spread of a column; `None` where it is constant.
fn place(values: &[f64], weights: &[f64]) -> Option<(f64, f64)> {
    if values.iter().all(|x| *x == values[0]) {
        return None;
    }
    let mut sorted = Sorted::new(values, weights);
    for share in PULLED_IN {
        let (low, high) = (sorted.quantile(share), sorted.quantile(1.0 - share));
        // In units of the largest, so that squares do not overflow.
        let unit = low.abs().max(high.abs());
        let weighted = values.iter().zip(weights).map(|(x, w)| (x.clamp(low, high) / unit, w));
        let (mut mean, mut square, mut total) = (0.0, 0.0, 0.0);
        for (x, w) in weighted.filter(|(_, w)| **w > 0.0) {
            total += w;
            let step = x - mean;
            mean += step * w / total;
            square += w * step * (x - mean);
        }
        let spread = (square / total).sqrt();
        if spread > 1e-12 {
            return Some((mean * unit, spread * unit));
        }
    }
    None
}

/// Quantiles of weighted values.
enum Sorted<'a> {
    /// All weights are 1: the values, partly sorted.
    Alike(Vec<f64>),
    /// Positions in rising order of their value.
    Weighted { values: &'a [f64], weights: &'a [f64], order: Vec<usize>, total: f64 },
}

impl<'a> Sorted<'a> {
    fn new(values: &'a [f64], weights: &'a [f64]) -> Self {
        if weights.iter().all(|w| *w == 1.0) {
            return Sorted::Alike(values.to_vec());
        }
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
        Sorted::Weighted { values, weights, order, total: weights.iter().sum() }
    }

    /// The least value with at least this share of the weight at or below it.
    fn quantile(&mut self, share: f64) -> f64 {
        match self {
            Sorted::Alike(values) => {
                let rank = (share * values.len() as f64).ceil() as usize;
                let at = rank.clamp(1, values.len()) - 1;
                *values.select_nth_unstable_by(at, f64::total_cmp).1
            }
            Sorted::Weighted { values, weights, order, total } => {
                let mut below = 0.0;
                let reached = order.iter().find(|&&i| {
                    below += weights[i];
                    below >= share * *total && weights[i] > 0.0
                });
                let last = order.iter().rev().find(|&&i| weights[i] > 0.0);
                reached.or(last).map_or(0.0, |&i| values[i])
            }
        }
    }
}

/// The least value with at least this share of the weight at or below it.
pub(super) fn quantile(values: &[f64], weights: &[f64], share: f64) -> f64 {
    Sorted::new(values, weights).quantile(share)
}
