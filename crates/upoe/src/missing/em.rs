//! Mean and covariance of rows with missing cells, by EM: the missing cells' conditional means and
//! covariances stand in for them, and mean and covariance are computed anew, until neither changes.

use super::gaussian::Gaussian;
use super::patterns::Pattern;
use crate::error::{Error, Result};
use crate::rows::Rows;
use faer::Mat;
use rayon::prelude::*;

/// Where steps end.
#[derive(Clone, Copy)]
pub(crate) struct End {
    /// No mean changes by more than this many deviations, and no covariance by more than this share of variances.
    tolerance: f64,
    /// Steps at most.
    most: usize,
}

/// Where the result counts.
pub(crate) const EXACT: End = End { tolerance: 1e-5, most: 300 };
/// Enough to compare.
pub(crate) const ROUGH: End = End { tolerance: 1e-3, most: 50 };
/// Patterns are summed in this many parts, so that sums do not depend on the number of threads.
const PARTS: usize = 64;

/// Σ w, Σ w y and Σ w yyᵀ of completed rows.
struct Sums {
    first: Vec<f64>,
    second: Mat<f64>,
}

/// The Gaussian under which the values that are there are most probable, given `prior` rows of uncorrelated
/// columns per row. Steps begin at a mean and a covariance of the columns in deviations, where they are given, and leave
/// there what they found.
pub fn gaussian(
    rows: &Rows,
    patterns: &[Pattern],
    prior: f64,
    end: End,
    found: &mut Option<(Vec<f64>, Mat<f64>)>,
) -> Result<Gaussian> {
    let n = rows.columns();
    let (centres, scales) = standard(rows);
    if let Some(column) = scales.iter().position(|s| !s.is_finite()) {
        return Err(Error::Spread { column, variance: f64::INFINITY });
    }
    let weight: f64 = patterns.iter().flat_map(|p| &p.rows).map(|&i| rows.weight(i)).sum();
    let (mut mean, mut covariance) = found.take().unwrap_or_else(|| {
        let one = |i: usize, j: usize| f64::from(u8::from(i == j && scales[i] > 0.0));
        (vec![0.0; n], Mat::from_fn(n, n, one))
    });
    let units: Vec<f64> = scales.iter().map(|s| if *s > 0.0 { *s } else { 1.0 }).collect();
    for _ in 0..end.most {
        let now = Gaussian::new(mean.clone(), &covariance)?;
        let sums = completed(rows, patterns, &now, &centres, &units)?;
        let next: Vec<f64> = sums.first.iter().map(|s| s / weight).collect();
        let spread = Mat::from_fn(n, n, |i, j| {
            let shrunk = if i == j { 1.0 } else { 1.0 + prior };
            (sums.second[(i, j)] / weight - next[i] * next[j]) / shrunk
        });
        let moved = mean.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let turned = (0..n * n)
            .map(|k| (covariance[(k / n, k % n)] - spread[(k / n, k % n)]).abs())
            .fold(0.0, f64::max);
        (mean, covariance) = (next, spread);
        if moved.max(turned) < end.tolerance {
            break;
        }
    }
    let own = Mat::from_fn(n, n, |i, j| covariance[(i, j)] * units[i] * units[j]);
    let middle = (0..n).map(|i| centres[i] + units[i] * mean[i]).collect();
    *found = Some((mean, covariance));
    Gaussian::new(middle, &own)
}

/// The mean and deviation of the values in each column.
fn standard(rows: &Rows) -> (Vec<f64>, Vec<f64>) {
    let of_column = |c: usize| {
        let values = || {
            let cells = (0..rows.len()).map(|i| (rows.weight(i), rows.row(i)[c]));
            cells.filter(|(w, x)| *w > 0.0 && !x.is_nan())
        };
        let weight: f64 = values().map(|(w, _)| w).sum();
        let mean = values().map(|(w, x)| w * x).sum::<f64>() / weight;
        let square = values().map(|(w, x)| w * (x - mean).powi(2)).sum::<f64>() / weight;
        // What is rounding of the mean is no spread.
        let spreads = square.sqrt() > 1e-13 * mean.abs();
        (mean, if spreads { square.sqrt() } else { 0.0 })
    };
    (0..rows.columns()).map(of_column).unzip()
}

fn completed(
    rows: &Rows,
    patterns: &[Pattern],
    gaussian: &Gaussian,
    centres: &[f64],
    units: &[f64],
) -> Result<Sums> {
    let n = rows.columns();
    let part = |patterns: &[Pattern]| -> Result<Sums> {
        let mut sums = Sums { first: vec![0.0; n], second: Mat::zeros(n, n) };
        for pattern in patterns {
            let given = gaussian.expected(&pattern.missing)?;
            let mut total = 0.0;
            for &i in &pattern.rows {
                let (w, row) = (rows.weight(i), rows.row(i));
                total += w;
                let mut y: Vec<f64> = (0..n).map(|c| (row[c] - centres[c]) / units[c]).collect();
                given.put(gaussian, &mut y);
                for (b, second) in sums.second.col_iter_mut().enumerate() {
                    let by = w * y[b];
                    second.iter_mut().zip(&y).for_each(|(s, y)| *s += by * y);
                }
                sums.first.iter_mut().zip(&y).for_each(|(s, y)| *s += w * y);
            }
            given.covariances(gaussian, |i, j, c| sums.second[(i, j)] += total * c);
        }
        Ok(sums)
    };
    let size = patterns.len().div_ceil(PARTS).max(1);
    let parts: Result<Vec<Sums>> = patterns.par_chunks(size).map(part).collect();
    let mut parts = parts?.into_iter();
    let mut all = parts.next().unwrap_or(Sums { first: vec![0.0; n], second: Mat::zeros(n, n) });
    for part in parts {
        all.first.iter_mut().zip(&part.first).for_each(|(a, b)| *a += b);
        all.second += &part.second;
    }
    Ok(all)
}
