//! ln p of the values that rows have, over all values that their missing cells may have.

use super::gaussian::{Gaussian, Given};
use super::patterns::holes;
use crate::density::Density;
use crate::error::Result;
use crate::expert::Marginal;
use crate::linalg::{LN_TAU, dot, ln_sum};
use crate::model::Model;
use crate::random::{self, Use};
use crate::rows::Rows;
use crate::whitening::Whitening;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// Draws per row that are enough to compare models over many rows.
pub(crate) const FEW: usize = 256;
/// Degrees of freedom of the draws: heavier tails than those of experts that matter.
const DEGREES: f64 = 4.0;

/// ln p of each row's values: exact where no cell or one is missing, and otherwise by importance sampling, with half of
/// the draws from the Gaussian and half from a Student-t around it. The same seed gives the same draws, so that models can be compared.
pub(crate) fn observed(
    density: &dyn Density,
    whitening: &Whitening,
    rows: &Rows,
    draws: usize,
    seed: u64,
) -> Result<Vec<f64>> {
    let gaussian = Gaussian::of(whitening)?;
    let one = |i| of_row(density, &gaussian, &rows.row(i), draws, (seed, i));
    (0..rows.len()).into_par_iter().map(one).collect()
}

/// The same of one row, with its number.
pub(super) fn of_row(
    density: &dyn Density,
    gaussian: &Gaussian,
    row: &[f64],
    draws: usize,
    (seed, i): (u64, usize),
) -> Result<f64> {
    let missing = holes(row);
    if missing.is_empty() {
        return Ok(density.score(&Rows::new(row, row.len())?)?[0]);
    }
    let members = density.members();
    if !members.is_empty() {
        let part = |(share, member): (f64, &dyn Density)| -> Result<f64> {
            Ok(share.ln() + of_row(member, gaussian, row, draws, (seed, i))?)
        };
        let parts = members.into_iter().map(part).collect::<Result<Vec<f64>>>()?;
        return Ok(ln_sum(parts.into_iter()));
    }
    if let Some(given) = density.given(row)? {
        return Ok(given.ln_p);
    }
    if let [column] = missing[..]
        && let Ok(line) = density.conditional(row, column)
    {
        return Ok(line.ln_total());
    }
    let (drawn, ln_q) = proposals(&gaussian.given(&missing)?, row, draws, (seed, i));
    let scores = density.score(&Rows::new(&drawn, row.len())?)?;
    let ratios: Vec<f64> = scores.iter().zip(&ln_q).map(|(p, q)| p - q).collect();
    Ok(ln_mean(&ratios))
}

/// What each expert of a model adds to the mean ln p of the values that rows have, when it joins those before it.
/// The directions are orthonormal.
pub(crate) fn gains(model: &Model, rows: &Rows, draws: usize, seed: u64) -> Result<Vec<f64>> {
    let whitening = model.whitening();
    let (gaussian, flat) =
        (Gaussian::of(whitening)?, Model::new(whitening.clone(), vec![], vec![])?);
    let experts = model.experts();
    let of_row = |i: usize| -> Result<Vec<f64>> {
        let row = rows.row(i);
        let missing = holes(&row);
        let (drawn, ln_q) = match missing.is_empty() {
            true => (row.to_vec(), vec![0.0]),
            false => proposals(&gaussian.given(&missing)?, &row, draws, (seed, i)),
        };
        let drawn = Rows::new(&drawn, row.len())?;
        let mut ratios = flat.score(&drawn)?;
        ratios.iter_mut().zip(&ln_q).for_each(|(p, q)| *p -= q);
        let z = model.transform(&drawn)?;
        let mut before = ln_mean(&ratios);
        let mut gains = Vec::with_capacity(experts.len());
        for (j, expert) in experts.iter().enumerate() {
            let of_expert = z.iter().skip(j).step_by(experts.len());
            for (ratio, z) in ratios.iter_mut().zip(of_expert) {
                *ratio += expert.ln_density(*z) + 0.5 * (z * z + LN_TAU);
            }
            let after = ln_mean(&ratios);
            gains.push(if (after - before).is_finite() { after - before } else { 0.0 });
            before = after;
        }
        Ok(gains)
    };
    let all: Result<Vec<Vec<f64>>> = (0..rows.len()).into_par_iter().map(of_row).collect();
    let (mut sums, mut weight) = (vec![0.0; experts.len()], 0.0);
    for (i, gains) in all?.iter().enumerate() {
        weight += rows.weight(i);
        sums.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += rows.weight(i) * gain);
    }
    Ok(sums.into_iter().map(|sum| sum / weight).collect())
}

/// Rows whose missing cells are drawn, half of them from the Gaussian and half from a Student-t around it, and ln of
/// the density of each.
fn proposals(
    given: &Given,
    row: &[f64],
    draws: usize,
    (seed, i): (u64, usize),
) -> (Vec<f64>, Vec<f64>) {
    let (mean, k) = (given.mean(row), given.moves.len() as f64);
    let mut rng = random::stream(seed, Use::Missing, (1 << 40) + i as u64);
    let ln_gamma = |x: f64| special::Gamma::ln_gamma(x).0;
    let constant = ln_gamma(0.5 * (DEGREES + k))
        - ln_gamma(0.5 * DEGREES)
        - 0.5 * k * (DEGREES * std::f64::consts::PI).ln()
        - given.ln_volume;
    let (mut drawn, mut ln_q) = (Vec::with_capacity(draws * row.len()), Vec::new());
    for draw in 0..draws {
        // Four degrees of freedom: the sum of two exponentials, twice.
        let half = -(1.0 - rng.random_range(0.0..1.0_f64)).ln()
            - (1.0 - rng.random_range(0.0..1.0_f64)).ln();
        let scale = if draw % 2 == 0 { 1.0 } else { (0.5 * DEGREES / half).sqrt() };
        let by: Vec<f64> =
            given.moves.iter().map(|_| scale * rng.sample::<f64, _>(StandardNormal)).collect();
        let mut values = mean.clone();
        for (by, change) in by.iter().zip(&given.moves) {
            values.iter_mut().zip(change).for_each(|(v, c)| *v += by * c);
        }
        let mut full = row.to_vec();
        given.put(&mut full, &values);
        drawn.extend(full);
        let square = dot(&by, &by);
        let wide = constant - 0.5 * (DEGREES + k) * (square / DEGREES).ln_1p();
        let near = -0.5 * (square + k * LN_TAU) - given.ln_volume;
        let (low, high) = (wide.min(near), wide.max(near));
        ln_q.push(high + (0.5 + 0.5 * (low - high).exp()).ln());
    }
    (drawn, ln_q)
}

/// ln of the mean of exponentials.
fn ln_mean(logarithms: &[f64]) -> f64 {
    let top = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logarithms.iter().map(|r| (r - top).exp()).sum();
    if top.is_finite() { top + (sum / logarithms.len() as f64).ln() } else { f64::NEG_INFINITY }
}
