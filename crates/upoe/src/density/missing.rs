//! Rows of which some cells are missing, under any density, from its ln p alone.

use super::{Density, scan};
use crate::error::{Error, Result};
use crate::importance::{Draws, Estimate, draws};
use crate::line::COARSE;
use crate::random::{Use, number_of, stream};
use crate::rows::Rows;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rayon::prelude::*;

/// How many rows are drawn to learn what columns say about each other.
const DRAWN: usize = 2048;

/// ln p of the cells that are there: one missing cell by the line, more by importance sampling.
pub(crate) fn score<D: Density + ?Sized>(density: &D, rows: &Rows) -> Result<Vec<Estimate>> {
    score_beside(density, rows, &[])
}

/// The same for a part of a sum whose other parts are known for each row, as ln and over this part's share: it need only
/// be as exact as the sum must be. Without them the part is all.
pub(crate) fn score_beside<D: Density + ?Sized>(
    density: &D,
    rows: &Rows,
    ln_others: &[f64],
) -> Result<Vec<Estimate>> {
    let columns = density.columns();
    if rows.columns() != columns {
        let got = rows.columns();
        return Err(Error::Shape { what: "columns of a row", expected: columns, got });
    }
    rows.check_present()?;
    let holes: Vec<usize> =
        (0..rows.len()).map(|i| rows.row(i).iter().filter(|x| x.is_nan()).count()).collect();
    let complete: Vec<usize> = (0..rows.len()).filter(|&i| holes[i] == 0).collect();
    let scores = density.score(&Rows::new(&rows.pick(&complete).0, columns)?)?;
    let mut found = vec![Estimate::exact(0.0); rows.len()];
    complete.iter().zip(scores).for_each(|(&i, score)| found[i] = Estimate::exact(score));
    let several = holes.iter().any(|holes| (2..columns).contains(holes));
    let guess = several.then(|| Guess::new(density));
    let of_row = |i: usize| -> Result<Estimate> {
        let row = rows.row(i);
        match (holes[i], &guess) {
            (1, _) => {
                let column = row.iter().position(|x| x.is_nan()).unwrap_or_default();
                match scan::conditional(density, &row, column, COARSE) {
                    Ok(line) => Ok(Estimate::exact(line.ln_total())),
                    Err(Error::NoLine { .. }) => Ok(Estimate::exact(f64::NEG_INFINITY)),
                    Err(e) => Err(e),
                }
            }
            (_, Some(guess)) => {
                let missing: Vec<usize> = (0..columns).filter(|&k| row[k].is_nan()).collect();
                let ln_others = ln_others.get(i).copied().unwrap_or(f64::NEG_INFINITY);
                Ok(guess.draws(density, &row, &missing, ln_others).ln_integral)
            }
            _ => Ok(Estimate::exact(0.0)),
        }
    };
    let open: Vec<usize> = (0..rows.len()).filter(|&i| (1..columns).contains(&holes[i])).collect();
    let answers = open.par_iter().map(|&i| of_row(i)).collect::<Result<Vec<_>>>()?;
    open.iter().zip(answers).for_each(|(&i, answer)| found[i] = answer);
    Ok(found)
}

/// Some numbers of each row, `width` of them: their means over the missing cells where there are any.
pub(crate) fn averaged(
    density: &dyn Density,
    rows: &Rows,
    width: usize,
    of: impl Fn(&Rows) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    rows.check_present()?;
    if !(0..rows.len()).any(|i| rows.has_holes(i)) {
        return of(rows);
    }
    let (columns, guess) = (density.columns(), Guess::new(density));
    let mut found = Vec::with_capacity(rows.len() * width);
    for i in 0..rows.len() {
        let row = rows.row(i);
        let missing: Vec<usize> = (0..columns).filter(|&k| row[k].is_nan()).collect();
        let (filled, weights) = if missing.is_empty() {
            (row.to_vec(), vec![1.0])
        } else if missing.len() == columns {
            (density.sample(DRAWN, 0), vec![1.0 / DRAWN as f64; DRAWN])
        } else {
            let Draws { points, weights, .. } =
                guess.draws(density, &row, &missing, f64::NEG_INFINITY);
            let fill = |cells: &[f64]| {
                let mut row = row.to_vec();
                missing.iter().zip(cells).for_each(|(&k, x)| row[k] = *x);
                row
            };
            (points.chunks_exact(missing.len()).flat_map(fill).collect(), weights)
        };
        let numbers = of(&Rows::new(&filled, columns)?)?;
        let mean = |k: usize| -> f64 {
            numbers.iter().skip(k).step_by(width).zip(&weights).map(|(x, w)| x * w).sum()
        };
        found.extend((0..width).map(mean));
    }
    Ok(found)
}

/// A Gaussian that is roughly like a density, from rows drawn from it.
pub(crate) struct Guess {
    mean: Vec<f64>,
    scales: Vec<f64>,
    /// Of the values over their scales, far ones brought in.
    correlations: Mat<f64>,
}

impl Guess {
    pub(crate) fn new<D: Density + ?Sized>(density: &D) -> Self {
        let columns = density.columns();
        let places = density.places();
        let least = |s: f64| if s > 0.0 && s.is_finite() { s } else { 1.0 };
        let scales: Vec<f64> = places.iter().map(|p| least(p.1)).collect();
        let drawn = density.sample(DRAWN, 0);
        let unit: Vec<f64> = drawn
            .iter()
            .enumerate()
            .map(|(k, x)| ((x - places[k % columns].0) / scales[k % columns]).clamp(-4.0, 4.0))
            .collect();
        let mean: Vec<f64> = (0..columns)
            .map(|i| unit.iter().skip(i).step_by(columns).sum::<f64>() / DRAWN as f64)
            .collect();
        let product = |i: usize, j: usize| {
            let rows = unit.chunks_exact(columns);
            rows.map(|r| (r[i] - mean[i]) * (r[j] - mean[j])).sum::<f64>() / DRAWN as f64
        };
        let correlations = Mat::from_fn(columns, columns, |i, j| {
            product(i, j) + f64::from(u8::from(i == j)) * 1e-6
        });
        let mean = (0..columns).map(|i| places[i].0 + scales[i] * mean[i]).collect();
        Guess { mean, scales, correlations }
    }

    /// Weighted draws of a row's missing cells, as n × missing cells in `points`, in the columns' units.
    pub(crate) fn draws<D: Density + ?Sized>(
        &self,
        density: &D,
        row: &[f64],
        missing: &[usize],
        ln_others: f64,
    ) -> Draws {
        let there: Vec<usize> = (0..row.len()).filter(|k| !missing.contains(k)).collect();
        let of = |a: &[usize], b: &[usize]| {
            Mat::from_fn(a.len(), b.len(), |i, j| self.correlations[(a[i], b[j])])
        };
        let unit = Mat::from_fn(there.len(), 1, |k, _| {
            ((row[there[k]] - self.mean[there[k]]) / self.scales[there[k]]).clamp(-6.0, 6.0)
        });
        let (cross, mut shape) = (of(&there, missing), of(missing, missing));
        let mut centre = Mat::<f64>::zeros(missing.len(), 1);
        if let Ok(factor) = of(&there, &there).llt(Side::Lower) {
            centre = cross.transpose() * factor.solve(&unit);
            shape -= cross.transpose() * factor.solve(&cross);
        }
        let r = missing.len();
        let root = match shape.llt(Side::Lower) {
            Ok(root) => root.L().to_owned(),
            Err(_) => Mat::identity(r, r),
        };
        let cell = |u: &[f64], k: usize| {
            let moved: f64 = (0..=k).map(|j| root[(k, j)] * u[j]).sum();
            self.mean[missing[k]] + self.scales[missing[k]] * (centre[(k, 0)] + moved)
        };
        let ln_f = |points: &[f64], heights: &mut [f64]| {
            let mut values = Vec::with_capacity(heights.len() * row.len());
            for u in points.chunks_exact(r) {
                let start = values.len();
                values.extend_from_slice(row);
                missing.iter().enumerate().for_each(|(k, &m)| values[start + m] = cell(u, k));
            }
            match Rows::new(&values, row.len()).and_then(|rows| density.score(&rows)) {
                Ok(scores) => heights.copy_from_slice(&scores),
                Err(_) => heights.fill(f64::NEG_INFINITY),
            }
        };
        let ln_det: f64 = (0..r).map(|k| root[(k, k)].ln() + self.scales[missing[k]].ln()).sum();
        let mut rng = stream(0, Use::Missing, number_of(row));
        let mut found = draws(ln_others - ln_det, r, ln_f, &mut rng);
        found.ln_integral.value += ln_det;
        let cells = found
            .points
            .chunks_exact(r)
            .flat_map(|u| (0..r).map(|k| cell(u, k)).collect::<Vec<_>>());
        found.points = cells.collect();
        found
    }
}
