//! Heavy directions: those along which all rows spread more than the core. Distance along them
//! counts for more.

use crate::error::Result;
use crate::linalg::{dot, eigen};
use faer::MatRef;

/// Rows farther than this many times the mean squared distance count as if they were so far.
const MOST: f64 = 16.0;

/// Directions in the core's sphered space, and what a squared unit counts along each and along all
/// others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heavy {
    /// Orthonormal: J × d.
    pub directions: Vec<Vec<f64>>,
    /// ln(1 + v), where v is the variance of all rows in units of the core's.
    pub factors: Vec<f64>,
    /// The same for the other directions together.
    pub rest: f64,
}

impl Heavy {
    /// The `count` directions of largest variance of the sphered rows, in closed form.
    pub fn of(u: &[f64], square: &[f64], weights: &[f64], d: usize, count: usize) -> Result<Self> {
        let pulled_in = |(s, w): (&f64, &f64)| w * (MOST * d as f64 / s.max(1e-9)).min(1.0);
        let counts: Vec<f64> = square.iter().zip(weights).map(pulled_in).collect();
        let total: f64 = weights.iter().sum();
        let (_, _, second) = upoe_kernels::scatter(u, d, Some(&counts), &vec![0.0; d]);
        let spread = MatRef::from_row_major_slice(&second, d, d).to_owned();
        let (values, vectors) = eigen(&spread)?;
        let count = count.min(d);
        let variance = |value: f64| value.max(0.0) / total;
        let trace: f64 = (0..d).map(|i| second[i * d + i]).sum();
        let others = trace - values[..count].iter().sum::<f64>();
        let direction = |k: usize| {
            let w: Vec<f64> = (0..d).map(|i| vectors[(i, k)]).collect();
            let largest =
                w.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
            w.into_iter().map(|x| x * largest.signum()).collect()
        };
        Ok(Heavy {
            directions: (0..count).map(direction).collect(),
            factors: values[..count].iter().map(|v| variance(*v).ln_1p()).collect(),
            rest: variance(others / (d - count).max(1) as f64).ln_1p(),
        })
    }

    /// What each direction, and the others together, add to a sphered row's weighted squared distance.
    pub fn parts(&self, u: &[f64]) -> (Vec<f64>, f64) {
        let along: Vec<f64> = self.directions.iter().map(|w| dot(w, u)).map(|z| z * z).collect();
        let rest = (dot(u, u) - along.iter().sum::<f64>()).max(0.0);
        let parts = along.iter().zip(&self.factors).map(|(z, factor)| factor * z).collect();
        (parts, self.rest * rest)
    }

    /// The weighted squared distance.
    pub fn distance(&self, u: &[f64]) -> f64 {
        let (mut distance, mut rest) = (0.0, dot(u, u));
        for (w, factor) in self.directions.iter().zip(&self.factors) {
            let along = dot(w, u).powi(2);
            distance += factor * along;
            rest -= along;
        }
        distance + self.rest * rest.max(0.0)
    }

    /// Half the slope of the weighted squared distance in u.
    pub fn half_slope(&self, u: &[f64]) -> Vec<f64> {
        let mut slope: Vec<f64> = u.iter().map(|u| self.rest * u).collect();
        for (w, factor) in self.directions.iter().zip(&self.factors) {
            let extra = (factor - self.rest) * dot(w, u);
            slope.iter_mut().zip(w).for_each(|(s, w)| *s += extra * w);
        }
        slope
    }
}
