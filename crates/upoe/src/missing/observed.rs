//! ln p of the values that rows have, over all values that their missing cells may have.

use super::gaussian::Gaussian;
use super::patterns::holes;
use crate::density::Density;
use crate::error::Result;
use crate::linalg::dot;
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

/// ln p of each row's values: exact where no cell or one is missing, and otherwise by importance sampling from a
/// Student-t around the Gaussian. The same seed gives the same draws, so that models can be compared.
pub(crate) fn observed(
    density: &dyn Density,
    whitening: &Whitening,
    rows: &Rows,
    draws: usize,
    seed: u64,
) -> Result<Vec<f64>> {
    let gaussian = Gaussian::of(whitening)?;
    (0..rows.len())
        .into_par_iter()
        .map(|i| {
            let row = rows.row(i);
            let missing = holes(&row);
            if missing.is_empty() {
                return Ok(density.score(&Rows::new(&row, row.len())?)?[0]);
            }
            if let [column] = missing[..]
                && let Ok(line) = density.conditional(&row, column)
            {
                return Ok(line.ln_total());
            }
            let given = gaussian.given(&missing)?;
            let (mean, k) = (given.mean(&row), given.moves.len() as f64);
            let mut rng = random::stream(seed, Use::Missing, (1 << 40) + i as u64);
            let ln_gamma = |x: f64| special::Gamma::ln_gamma(x).0;
            let constant = ln_gamma(0.5 * (DEGREES + k))
                - ln_gamma(0.5 * DEGREES)
                - 0.5 * k * (DEGREES * std::f64::consts::PI).ln()
                - given.ln_volume;
            let (mut drawn, mut ln_q) = (Vec::with_capacity(draws * row.len()), Vec::new());
            for _ in 0..draws {
                // Four degrees of freedom: the sum of two exponentials, twice.
                let half = -(1.0 - rng.random_range(0.0..1.0_f64)).ln()
                    - (1.0 - rng.random_range(0.0..1.0_f64)).ln();
                let scale = (0.5 * DEGREES / half).sqrt();
                let by: Vec<f64> = given
                    .moves
                    .iter()
                    .map(|_| scale * rng.sample::<f64, _>(StandardNormal))
                    .collect();
                let mut values = mean.clone();
                for (by, change) in by.iter().zip(&given.moves) {
                    values.iter_mut().zip(change).for_each(|(v, c)| *v += by * c);
                }
                let mut full = row.to_vec();
                given.put(&mut full, &values);
                drawn.extend(full);
                let square = dot(&by, &by);
                ln_q.push(constant - 0.5 * (DEGREES + k) * (square / DEGREES).ln_1p());
            }
            let scores = density.score(&Rows::new(&drawn, row.len())?)?;
            let ratios: Vec<f64> = scores.iter().zip(&ln_q).map(|(p, q)| p - q).collect();
            let top = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = ratios.iter().map(|r| (r - top).exp()).sum();
            Ok(if top.is_finite() { top + (sum / draws as f64).ln() } else { f64::NEG_INFINITY })
        })
        .collect()
}
