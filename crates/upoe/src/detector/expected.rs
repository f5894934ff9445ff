//! What a column's value should be, given the others: the core's Gaussian conditional.

use super::core::{Concentrated, sphering};
use super::frame::quantile;
use crate::error::Result;

/// With fewer central rows than this per column, correlations are shrunk, by this share.
const ROWS_PER_COLUMN: usize = 5;
const SHRINK: f64 = 0.05;
/// Otherwise by this share, so that columns that are sums of others do no harm.
const LEAST_SHRINK: f64 = 1e-6;
/// Intervals are judged on about this many rows.
const JUDGED: usize = 5_000;

/// For each column the residual r = (z − m) less what the others predict, and between which numbers
/// 90 % of the training rows' residuals lie.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expected {
    /// P / diag P, where P is the inverse covariance of the core: d × d, row after row.
    pub residuals: Vec<f64>,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

impl Expected {
    pub fn of(z: &[f64], weights: &[f64], found: &Concentrated) -> Result<Self> {
        let spread = &found.core.spread;
        let d = spread.len();
        let central = found.central.iter().filter(|c| **c).count();
        let shrink = if central >= ROWS_PER_COLUMN * d { LEAST_SHRINK } else { SHRINK };
        let a = sphering(&found.correlations, shrink, spread)?;
        // P = AᵀA, row by row of A.
        let mut residuals = vec![0.0; d * d];
        for row in a.chunks_exact(d) {
            for (i, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                let to = &mut residuals[i * d..][..d];
                to.iter_mut().zip(row).for_each(|(to, y)| *to += x * y);
            }
        }
        for (i, row) in residuals.chunks_exact_mut(d).enumerate() {
            let own = row[i];
            row.iter_mut().for_each(|x| *x /= own);
        }
        let every = weights.len().div_ceil(JUDGED);
        let judged: Vec<f64> = z.chunks_exact(d).step_by(every).flatten().copied().collect();
        let weights: Vec<f64> = weights.iter().step_by(every).copied().collect();
        let filled = found.core.filled(&judged);
        let r = upoe_kernels::affine::<f64, f64>(&filled, d, &found.core.centre, &residuals);
        let ends = |c: usize| {
            let there = |i: &usize| !judged[i * d + c].is_nan();
            let rows = (0..weights.len()).filter(there);
            let (of_column, weights): (Vec<f64>, Vec<f64>) =
                rows.map(|i| (r[i * d + c], weights[i])).unzip();
            if of_column.is_empty() {
                return (0.0, 0.0);
            }
            let end = |share: f64| quantile(&of_column, &weights, share);
            (end(0.05), end(0.95))
        };
        let (low, high) = (0..d).map(ends).unzip();
        Ok(Expected { residuals, low, high })
    }

    /// The expected value of each column of a row given its other columns, in robust units.
    pub fn at(&self, z: &[f64], centre: &[f64]) -> Vec<f64> {
        let off: Vec<f64> = z.iter().zip(centre).map(|(z, m)| z - m).collect();
        let rows = self.residuals.chunks_exact(z.len()).zip(z);
        rows.map(|(row, z)| z - crate::linalg::dot(row, &off)).collect()
    }
}
