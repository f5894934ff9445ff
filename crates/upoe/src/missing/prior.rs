//! How far correlations are shrunk where cells are missing.
//!
//! With few rows and missing cells the most probable covariance is far from the true one, because some pairs of
//! columns are there together in few rows. A prior of r rows of uncorrelated columns per row divides all
//! correlations by 1 + r; rows that are held out say which r is best.

use super::em::{ROUGH, gaussian};
use super::patterns::patterns;
use crate::error::Result;
use crate::rows::{Rows, view};
use faer::Mat;

/// What is tried, until held-out rows become less probable.
const TRIED: [f64; 11] = [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0];
/// Parts that are held out in turn.
const FOLDS: usize = 4;
/// With more rows per column than this, shrinking makes no difference.
const ENOUGH: usize = 50;
/// With more columns than this, trying takes too long.
const WIDE: usize = 100;

/// Whether rows are few for their columns, so that what they say little about makes a difference, and columns few
/// enough to try.
pub(crate) fn few_rows(rows: &Rows) -> bool {
    let (n, columns) = (rows.len(), rows.columns());
    n <= ENOUGH * columns && n >= 2 * FOLDS && columns <= WIDE
}

/// The prior under which the values of held-out rows are most probable; 0 for many rows or columns, where columns
/// determine each other, and where no prior is better than none by more than its standard error.
pub(crate) fn prior(rows: &Rows) -> Result<f64> {
    if !few_rows(rows) {
        return Ok(0.0);
    }
    let (mut best, mut found): (Option<Vec<f64>>, f64) = (None, 0.0);
    // Each fold's EM goes on from its last Gaussian, which was shrunk more.
    let mut starts: [Option<(Vec<f64>, Mat<f64>)>; FOLDS] = Default::default();
    for prior in TRIED {
        let Some(ln_p) = held_out(rows, prior, &mut starts)? else { return Ok(0.0) };
        if best.as_ref().is_some_and(|best| rise(best, &ln_p, rows).0 <= 0.0) {
            break;
        }
        (best, found) = (Some(ln_p), prior);
    }
    let (Some(best), true) = (best, found > 0.0) else { return Ok(0.0) };
    // Where a row has no density without a prior, the prior stays.
    let Some(none) = held_out(rows, 0.0, &mut starts)? else { return Ok(found) };
    let (more, error) = rise(&none, &best, rows);
    Ok(if more > error { found } else { 0.0 })
}

/// By how much more probable rows are than before, in total, and the standard error of that.
fn rise(before: &[f64], after: &[f64], rows: &Rows) -> (f64, f64) {
    let changes = before.iter().zip(after).enumerate();
    let changes: Vec<f64> = changes.map(|(i, (a, b))| rows.weight(i) * (b - a)).collect();
    let (n, sum) = (changes.len() as f64, changes.iter().sum::<f64>());
    let squares: f64 = changes.iter().map(|c| (c - sum / n).powi(2)).sum();
    (sum, (squares * n / (n - 1.0)).sqrt())
}

/// ln p of the values of each row under the Gaussian of the others; `None` where one has no density.
fn held_out(
    rows: &Rows,
    prior: f64,
    starts: &mut [Option<(Vec<f64>, Mat<f64>)>; FOLDS],
) -> Result<Option<Vec<f64>>> {
    let columns = rows.columns();
    let mut found = vec![0.0; rows.len()];
    for (fold, start) in starts.iter_mut().enumerate() {
        let (held, others): (Vec<usize>, Vec<usize>) =
            (0..rows.len()).partition(|i| i % FOLDS == fold);
        let (values, weights) = rows.pick(&others);
        if (0..columns).any(|c| values.iter().skip(c).step_by(columns).all(|x| x.is_nan())) {
            return Ok(None);
        }
        let others = view(&values, columns, weights.as_deref())?;
        let gaussian = gaussian(&others, &patterns(&others), prior, ROUGH, start)?;
        for i in held {
            match gaussian.ln_p(&rows.row(i)) {
                Some(ln_p) => found[i] = ln_p,
                None => return Ok(None),
            }
        }
    }
    Ok(Some(found))
}
