//! Rows with mean 0 and unit covariance, as they are or with less weight for far rows.

use crate::error::Result;
use crate::linalg::{dot, eigen};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Degrees of freedom of the Student-t that gives far rows less weight.
const DEGREES: f64 = 10.0;
/// Steps that find those weights.
const STEPS: usize = 12;
/// A dimension with a smaller share of the largest variance has none.
const FLAT: f64 = 1e-9;

pub struct Sphered {
    /// N × dims.
    pub y: Vec<f64>,
    pub dims: usize,
    /// How much each row counts.
    pub weights: Vec<f64>,
    /// dims × D: y = map (x − mean).
    pub map: Vec<Vec<f64>>,
    /// ln of the product of the variances along the dimensions.
    pub ln_det: f64,
}

impl Sphered {
    /// `None` where no dimension has variance.
    pub fn of(x: &[f64], d: usize, robust: bool) -> Result<Option<Self>> {
        let n = x.len() / d;
        let mut weights = vec![1.0; n];
        let mut sphered = Self::weighted(x, d, weights.clone())?;
        for _ in 0..if robust { STEPS } else { 0 } {
            let Some(last) = &sphered else { break };
            let dims = last.dims as f64;
            for (u, y) in weights.iter_mut().zip(last.y.chunks_exact(last.dims)) {
                *u = (DEGREES + dims) / (DEGREES + dot(y, y));
            }
            sphered = Self::weighted(x, d, weights.clone())?;
        }
        Ok(sphered)
    }

    fn weighted(x: &[f64], d: usize, weights: Vec<f64>) -> Result<Option<Self>> {
        let total: f64 = weights.iter().sum();
        let mut mean = vec![0.0; d];
        for (x, u) in x.chunks_exact(d).zip(&weights) {
            mean.iter_mut().zip(x).for_each(|(m, x)| *m += u * x / total);
        }
        let scatter = scatter(x, d, &weights, |_| &mean);
        let (values, vectors) = eigen(&Mat::from_fn(d, d, |i, j| scatter[i * d + j] / total))?;
        let dims = values.iter().filter(|v| **v > FLAT * values[0]).count();
        if !(values[0] > 0.0) || dims == 0 {
            return Ok(None);
        }
        let axis = |k: usize| (0..d).map(|i| vectors[(i, k)] / values[k].sqrt()).collect();
        let map: Vec<Vec<f64>> = (0..dims).map(axis).collect();
        let mut off = x.to_vec();
        off.chunks_exact_mut(d)
            .for_each(|row| row.iter_mut().zip(&mean).for_each(|(x, m)| *x -= m));
        let y = upoe_kernels::project(&off, d, &map.concat());
        let ln_det = values[..dims].iter().map(|v| v.ln()).sum();
        Ok(Some(Sphered { y, dims, weights, map, ln_det }))
    }

    /// How much lighter the tails are than those of normal rows, in all directions together: 0 for
    /// normal rows or heavier tails, 1 for uniform columns, by Mardia's kurtosis. Its standard error
    /// counts as light tails; a valley along one direction of many hardly changes it.
    pub fn lightness(&self) -> f64 {
        let (n, d) = (self.weights.len() as f64, self.dims as f64);
        let fourth = self.y.chunks_exact(self.dims).map(|y| dot(y, y).powi(2)).sum::<f64>() / n;
        let error = (8.0 * d * (d + 2.0) / n).sqrt();
        ((d * (d + 2.0) - fourth + error) / (1.2 * d)).clamp(0.0, 1.0)
    }

    /// The direction in the rows' own space that has the same projections, up to a shift.
    pub fn back(&self, w: &[f64]) -> Vec<f64> {
        let d = self.map[0].len();
        (0..d).map(|i| self.map.iter().zip(w).map(|(a, w)| a[i] * w).sum()).collect()
    }
}

/// Σ u (x − c)(x − c)ᵀ with a centre c for each row: D × D.
pub fn scatter<'a>(
    x: &[f64],
    d: usize,
    weights: &[f64],
    centre: impl Fn(usize) -> &'a Vec<f64>,
) -> Vec<f64> {
    let mut off = Vec::with_capacity(x.len());
    for (i, (x, u)) in x.chunks_exact(d).zip(weights).enumerate() {
        let root = u.sqrt();
        off.extend(x.iter().zip(centre(i)).map(|(x, c)| root * (x - c)));
    }
    let off = MatRef::from_column_major_slice(&off, d, weights.len());
    let mut sums = vec![0.0; d * d];
    let into = MatMut::from_column_major_slice_mut(&mut sums, d, d);
    matmul(into, Accum::Replace, off, off.transpose(), 1.0, Par::Seq);
    sums
}
