//! The curvature of joint learning.

use crate::linalg::{orthonormal, product, remove};
use faer::{Mat, MatRef};

/// The Hessian of the likelihood in all directions at once, as if projections were
/// independent. Moving direction i by Σⱼ εᵢⱼ wⱼ + oᵢ, with oᵢ outside all directions, changes
/// the loss to second order by ½ Σ hᵢ(εᵢⱼ² + ‖oᵢ‖²) with hᵢ = ⟨E″⟩, and −½ ln|WWᵀ| by
/// Σ_{i<j} εᵢⱼεⱼᵢ − ½ Σ ‖oᵢ‖². So pairs (εᵢⱼ, εⱼᵢ) have the 2 × 2 blocks that Picard uses for
/// J = D, and outside the directions the curvature is hᵢ − 1.
pub struct JointCurvature {
    /// The unit directions: D × J.
    directions: Mat<f64>,
    /// An orthonormal basis of them, where there are fewer than dimensions.
    span: Option<Vec<Vec<f64>>>,
    /// hᵢ.
    heights: Vec<f64>,
}

impl JointCurvature {
    /// From unit directions and hᵢ.
    pub fn new(directions: &[Vec<f64>], heights: Vec<f64>) -> Self {
        let (d, j) = (directions[0].len(), directions.len());
        let span = (j < d).then(|| orthonormal(directions));
        JointCurvature { directions: Mat::from_fn(d, j, |i, a| directions[a][i]), span, heights }
    }

    /// Applies the inverse to one tangent vector per direction.
    pub fn solve(&self, rows: &[&[f64]]) -> Vec<Vec<f64>> {
        let (d, j) = (self.directions.nrows(), self.directions.ncols());
        let h = &self.heights;
        let flat = rows.concat();
        // by[(a, b)] = rows[a]ᵀ w_b.
        let by = product(
            MatRef::from_column_major_slice(&flat, d, j).transpose(),
            self.directions.as_ref(),
        );
        let step = |b: usize, a: usize| {
            if a == b {
                return 0.0;
            }
            // Shifted, where needed, to a smallest eigenvalue of 0.03: pairs of nearly Gaussian
            // sources have about 0.1.
            let (ha, hb) = (h[a], h[b]);
            let smallest = 0.5 * (ha + hb - ((ha - hb).powi(2) + 4.0).sqrt());
            let shift = (0.03 - smallest).max(0.0);
            let (ha, hb) = (ha + shift, hb + shift);
            (hb * by[(a, b)] - by[(b, a)]) / (ha * hb - 1.0)
        };
        // Along all directions: Σ_b ε_ab w_b.
        let along = product(self.directions.as_ref(), Mat::from_fn(j, j, step).as_ref());
        (0..j)
            .map(|a| {
                let mut out: Vec<f64> = along.col(a).iter().copied().collect();
                if let Some(span) = &self.span {
                    let mut off = rows[a].to_vec();
                    remove(span, &mut off);
                    let outside = (h[a] - 1.0).max(0.1);
                    out.iter_mut().zip(off).for_each(|(out, off)| *out += off / outside);
                }
                out
            })
            .collect()
    }
}
