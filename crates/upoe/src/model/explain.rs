//! Why a row is as probable as it is.

use super::Model;
use crate::error::Result;
use crate::expert::Marginal;
use crate::rows::Rows;
use crate::whitening::Rest;

/// The parts of one row's ln p.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The row's ln p: the baseline and all parts.
    pub ln_p: f64,
    /// ln p at the data's mean.
    pub baseline: f64,
    /// How each expert moves ln p from the baseline.
    pub experts: Vec<f64>,
    /// How the Gaussian rest moves it.
    pub rest: f64,
    /// Each expert's move split over the columns: J × columns.
    pub experts_by_column: Vec<Vec<f64>>,
    /// The rest's move split over the columns.
    pub rest_by_column: Vec<f64>,
}

impl Model {
    /// What each expert and each column adds to a row's ln p, measured from the data's mean:
    /// integrated gradients along the line to the row, in closed form.
    ///
    /// Along that line an expert's term depends on z alone, so column i's share of its change
    /// is wᵢΔᵢ / Σ wΔ with w = Aᵀwⱼ; the rest is quadratic. The parts add up to ln p exactly.
    ///
    /// Where the squares of a far row overflow, a part is −∞ in the columns that are far out and 0
    /// in the others. No part is NaN.
    pub fn explain(&self, row: &[f64]) -> Result<Explanation> {
        self.whitening.check_columns(row.len())?;
        Rows::new(row, row.len())?.check()?;
        let (x, whitening) = (self.whitening.sphere_row(row), &self.whitening);
        let delta: Vec<f64> = row.iter().zip(whitening.mean()).map(|(r, m)| r - m).collect();
        let origin = vec![0.0; x.len()];
        let baseline =
            self.ln_p_sphered(&origin) + whitening.ln_jacobian(whitening.mean(), &origin);
        let z = self.projections(&x);
        let experts_by_column: Vec<Vec<f64>> = (self.filters().iter().zip(&self.experts).zip(&z))
            .map(|((filter, expert), z)| {
                let slope = if z.abs() > 1e-8 {
                    (expert.ln_density(*z) - expert.ln_density(0.0)) / z
                } else {
                    -expert.energy_slope(0.5 * z)
                };
                let parts = filter.iter().zip(&delta).map(|(w, d)| slope * w * d).collect();
                finite_or_far(parts, filter.iter().zip(&delta).map(|(w, d)| w * d))
            })
            .collect();
        // −½ xᵀP⊥x = −½ Σᵢ Δᵢ (Aᵀ P⊥ x)ᵢ, and the same with the noise outside.
        let off = self.complement_of(&x, &z);
        let mut pull: Vec<f64> = (0..delta.len())
            .map(|i| off.iter().enumerate().map(|(k, o)| whitening.matrix()[(k, i)] * o).sum())
            .collect();
        if let Rest::Noise { variance } = whitening.rest() {
            let outside = whitening.residual(row, &x);
            pull.iter_mut().zip(outside).for_each(|(p, r)| *p += r / variance);
        }
        let sizes = |(d, s): (&f64, &f64)| if *s > 0.0 { d / s } else { *d };
        let sizes = delta.iter().zip(whitening.deviations()).map(sizes);
        let mut rest_by_column = finite_or_far(
            pull.iter().zip(&delta).map(|(p, d)| -0.5 * p * d).collect(),
            sizes.clone(),
        );
        // A row off the subspace of a degenerate model: the columns that leave it say so.
        whitening.off(row, &x).for_each(|i| rest_by_column[i] = f64::NEG_INFINITY);
        let ln_p = self.ln_p_sphered(&x) + whitening.ln_jacobian(row, &x);
        // The square of x or of the residual can overflow although no product above does.
        let parts = || experts_by_column.iter().flatten().chain(&rest_by_column);
        if ln_p == f64::NEG_INFINITY && parts().all(|part| part.is_finite()) {
            rest_by_column = far(sizes);
        }
        let experts = experts_by_column.iter().map(|c| c.iter().sum()).collect();
        let rest = rest_by_column.iter().sum();
        Ok(Explanation { ln_p, baseline, experts, rest, experts_by_column, rest_by_column })
    }
}

/// The parts, if all are finite; otherwise [`far`].
fn finite_or_far(parts: Vec<f64>, sizes: impl Iterator<Item = f64>) -> Vec<f64> {
    if parts.iter().all(|part| part.is_finite()) { parts } else { far(sizes) }
}

/// −∞ for the columns of the largest size, and for all whose squares overflow; 0 for the others.
fn far(sizes: impl Iterator<Item = f64>) -> Vec<f64> {
    let sizes: Vec<f64> = sizes.map(|s| if s.is_nan() { 0.0 } else { s.abs() }).collect();
    let least = sizes.iter().copied().fold(0.0, f64::max).min(1e150);
    sizes.iter().map(|s| if *s >= least { f64::NEG_INFINITY } else { 0.0 }).collect()
}
