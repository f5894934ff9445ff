//! The curvature of joint learning.

use crate::linalg::{dot, remove};
use faer::Mat;

/// The Hessian of the likelihood in all directions at once, as if projections were
/// independent. Moving direction i by Σⱼ εᵢⱼ wⱼ + oᵢ, with oᵢ outside all directions, changes
/// the loss to second order by ½ Σ hᵢ(εᵢⱼ² + ‖oᵢ‖²) with hᵢ = ⟨E″⟩, and −½ ln|WWᵀ| by
/// Σ_{i<j} εᵢⱼεⱼᵢ − ½ Σ ‖oᵢ‖². So pairs (εᵢⱼ, εⱼᵢ) have the 2 × 2 blocks that Picard uses for
/// J = D, and outside the directions the curvature is hᵢ − 1.
pub struct JointCurvature {
    /// The unit directions.
    pub directions: Vec<Vec<f64>>,
    /// An orthonormal basis of them.
    pub span: Vec<Vec<f64>>,
    /// hᵢ.
    pub heights: Vec<f64>,
}

impl JointCurvature {
    /// Applies the inverse to one tangent vector per direction.
    pub fn solve(&self, rows: &[&[f64]]) -> Vec<Vec<f64>> {
        let (n, h) = (rows.len(), &self.heights);
        let along = |i: usize, j: usize| dot(rows[i], &self.directions[j]);
        let by = Mat::from_fn(n, n, along);
        let step = |i: usize, j: usize| {
            // Shifted, where needed, to a smallest eigenvalue of 0.03: pairs of nearly Gaussian
            // sources have about 0.1.
            let (a, b) = (h[i], h[j]);
            let smallest = 0.5 * (a + b - ((a - b).powi(2) + 4.0).sqrt());
            let shift = (0.03 - smallest).max(0.0);
            let (a, b) = (a + shift, b + shift);
            (b * by[(i, j)] - by[(j, i)]) / (a * b - 1.0)
        };
        (0..n)
            .map(|i| {
                let mut out = rows[i].to_vec();
                remove(&self.span, &mut out);
                let outside = (h[i] - 1.0).max(0.1);
                out.iter_mut().for_each(|o| *o /= outside);
                for j in (0..n).filter(|&j| j != i) {
                    let e = step(i, j);
                    out.iter_mut().zip(&self.directions[j]).for_each(|(o, w)| *o += e * w);
                }
                out
            })
            .collect()
    }
}
